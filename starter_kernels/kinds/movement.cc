// The movement kind: strided copies.
//
// Without parameters: out[0] = in[0], both Accesses over one shape (Transpose, Slice, Expand, Tile, DepthToSpace …; the shape
// may have more dimensions than the value). `copies`: a list of such copies between pieces of several operands (Concat, Split, Pad). `gather`: in[1]
// is of an integer type. Elements of any type, moved as bits.

#include "starter_kernels/kinds/movement.h"

#include <algorithm>

#include "graph/graph.h"
#include "starter_kernels/examples/example_graph.h"
#include "starter_kernels/kinds/accesses.h"
#include "starter_kernels/kinds/kernel_kind.h"
#include "starter_kernels/kinds/kernel_kinds.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/param_json.h"
#include "starter_kernels/kinds/problem.h"

namespace amdahl {
namespace {

class Movement final : public KernelKind {
 public:
  std::string_view name() const override { return kind::kMovement; }
  std::string_view summary() const override { return "strided copies: transpose, slice, concat, split, expand, pad, gather"; }
  Traits traits() const override { return {}; }

  Work work(const Problem& problem) const override {
    double bytes = 0;
    for (const Access& a : problem.out) bytes += operand_bytes(a);
    if (MovementParams::of(problem).gather) return {0, 2 * bytes + operand_bytes(problem.in[1])};
    double read = 0;
    for (const Access& a : problem.in) read += operand_bytes(a);
    return {0, bytes + std::min(read, bytes)};
  }

  std::optional<Lowering> lower(const Graph& graph, const Node& node, int threads) const override {
    std::optional<Lowering> lowering = movement_of_node(graph, node);
    if (!lowering) return std::nullopt;
    Problem& problem = lowering->variant.problem;
    problem.kind = name();
    problem.threads = threads;
    return lowering;
  }

  std::vector<Graph> examples() const override { return movement_examples(); }
};

}  // namespace

void to_json(Json& j, const StridedCopy& c) {
  j = Json{{"in", c.in},
           {"out", c.out},
           {"shape", c.shape},
           {"in_strides", c.in_strides},
           {"in_offset", c.in_offset},
           {"out_strides", c.out_strides},
           {"out_offset", c.out_offset}};
}
void from_json(const Json& j, StridedCopy& c) {
  c.in = j.at("in");
  c.out = j.at("out");
  c.shape = j.at("shape").get<Shape>();
  c.in_strides = j.at("in_strides").get<Shape>();
  c.in_offset = j.at("in_offset");
  c.out_strides = j.at("out_strides").get<Shape>();
  c.out_offset = j.at("out_offset");
}

MovementParams MovementParams::of(const Problem& problem) {
  const Json& params = problem.params;
  MovementParams p;
  if (params.contains("copies")) p.copies = params.at("copies").get<std::vector<StridedCopy>>();
  if (params.contains("fill")) p.fill = params.at("fill").get<uint64_t>();
  if (params.contains("gather")) {
    const Json& sizes = params.at("gather");
    p.gather = {sizes.at("outer"), sizes.at("size"), sizes.at("count"), sizes.at("inner")};
  }
  return p;
}

void MovementParams::write(Problem& problem) const {
  Json& params = problem.params;
  put_param(params, "copies", copies.has_value(), copies ? Json(*copies) : Json());
  put_param(params, "fill", fill.has_value(), fill.value_or(0));
  const GatherSizes sizes = gather.value_or(GatherSizes{});
  put_param(params, "gather", gather.has_value(), {{"outer", sizes.outer}, {"size", sizes.size}, {"count", sizes.count}, {"inner", sizes.inner}});
}

std::vector<StridedCopy> copies_of(const Problem& problem) {
  if (const MovementParams params = MovementParams::of(problem); params.copies) return *params.copies;
  const Access &in = problem.in.at(0), &out = problem.out.at(0);
  return {{0, 0, out.shape, in.strides, out.strides, in.offset, out.offset}};
}

const KernelKind* movement_kind() {
  static const Movement kind;
  return &kind;
}

}  // namespace amdahl

// The softmax kind: Softmax and LogSoftmax along one axis.
//
// in[0 … p-1]: the inputs of the prologue (p = 1 without), in[p …]: extra inputs of the epilogue; out[0]; all Accesses over
// out[0].shape. params: "axis"; "log" when the logarithm is wanted; "prologue", "epilogue".

#include <fmt/format.h>

#include "starter_kernels/kinds/embedded_sources.h"
#include "starter_kernels/examples/example_graph.h"
#include "starter_kernels/kinds/kernel_kinds.h"
#include "starter_kernels/kinds/row_space.h"

namespace amdahl {
namespace {

RowSpace space_of(const Problem& problem) {
  std::vector<bool> reduced(problem.out[0].shape.size(), false);
  reduced.at(problem.params.at("axis").get<size_t>()) = true;
  std::vector<Access> operands = problem.in;
  operands.push_back(problem.out[0]);
  return RowSpace(problem.out[0].shape, reduced, operands);
}

class Softmax final : public KernelKind {
 public:
  std::string_view name() const override { return "softmax"; }
  std::string_view summary() const override { return "softmax and log-softmax along one axis"; }

  Work work(const Problem& problem) const override {
    Work w{20.0 * static_cast<double>(numel(problem.out[0].shape)), operand_bytes(problem.out[0])};
    for (const Access& a : problem.in) w.bytes += operand_bytes(a);
    return w;
  }

  SearchSpace space(const Problem& problem, const MachineInfo& machine) const override {
    const RowSpace space = space_of(problem);
    const int64_t chunks = space.columns > 1 ? (space.columns + 63) / 64 : 1;
    const double row = static_cast<double>(space.along) * (space.columns > 1 ? 64 : 1);
    SearchSpace s;
    s.knobs = {rows_knob(problem, space.rows * chunks, row * 1.5), vector_bits_knob(machine)};
    if (space.columns == 1) {
      s.knobs.push_back({"ONLINE", {0, 1}, 0, "1: maximum and sum in one pass over the row"});
      if (space.is_contiguous(problem.in.size()) && size_of(problem.out[0].dtype) <= size_of(row_type(problem)))
        s.knobs.push_back({"STREAM", {0, 1}, 0, "1: the result bypasses the caches"});
    }
    s.refuse = [](const Knobs&) { return std::string(); };
    return s;
  }

  std::string source(const Variant& variant) const override {
    const Problem& problem = variant.problem;
    const RowSpace space = space_of(problem);
    const auto knob = [&](const char* name) { return variant.knobs.count(name) ? variant.knobs.at(name) : 0; };
    const bool columns = space.columns > 1;
    const int64_t chunks = columns ? (space.columns + 63) / 64 : 1;
    const size_t base = prologue_inputs(problem);
    const bool in_place = problem.out[0].dtype == row_type(problem) && space.is_contiguous(problem.in.size()) && !knob("STREAM");
    const bool direct = !problem.params.contains("prologue") && space.is_contiguous(0);
    const int64_t scratch = columns ? space.along * 64 : in_place ? 0 : space.along;
    const std::string choices = fmt::format("typedef {} in_t;\n"
                                            "constexpr bool LOG = {}, ONLINE = {}, IN_PLACE = {}, DIRECT = {};\n"
                                            "constexpr int64_t COLUMN_CHUNKS = {};\n#define STREAM {}\n",
                                            c_type(problem.in[0].dtype), problem.params.value("log", false), knob("ONLINE") != 0, in_place, direct, chunks, knob("STREAM"));
    return join_text({opening_text(variant), space.sizes_text(), choices,
                      tasks_text(problem, variant.knobs, space.rows * chunks, scratch, row_type(problem)),
                      streaming_text(variant.knobs), input_text(problem, space), finish_text(problem, space, base, base),
                      place_text(space, "from", 0), place_text(space, "place", problem.in.size()), std::string(embedded_source("cpu/rows.h")),
                      std::string(embedded_source("cpu/softmax.cpp"))});
  }

  std::optional<Lowering> lower(const Graph& graph, const Node& node, int threads) const override {
    if (!node.domain.empty() || (node.op != "Softmax" && node.op != "LogSoftmax")) return std::nullopt;
    Shape shape = graph.value(node.inputs[0]).shape;
    int64_t axis = node.attr_int("axis", node.version >= 13 ? -1 : 1);
    if (axis < 0) axis += static_cast<int64_t>(shape.size());
    if (node.version < 13) {  // a matrix, flattened at `axis`
      const auto at = shape.begin() + axis;
      shape = {numel(Shape(shape.begin(), at)), numel(Shape(at, shape.end()))};
      axis = 1;
    }
    const Value& x = graph.value(node.inputs[0]);
    Lowering l;
    l.inputs = {node.inputs[0]};
    l.outputs = {node.outputs[0]};
    Problem& p = l.variant.problem;
    p.kind = name();
    p.threads = threads;
    if (shape.empty()) shape = {1}, axis = 0;
    p.in = {Access::dense(x.dtype, shape, x.constant.has_value())};
    p.out = {Access::dense(x.dtype, shape)};
    p.params["axis"] = axis;
    if (node.op == "LogSoftmax") p.params["log"] = true;
    l.variant.knobs = space(p, this_machine()).starters();
    return l;
  }

  std::vector<Graph> examples() const override { return row_examples(name()); }
};

}  // namespace

const KernelKind* softmax_kind() {
  static const Softmax kind;
  return &kind;
}

}  // namespace amdahl

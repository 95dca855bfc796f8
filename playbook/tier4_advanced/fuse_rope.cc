// Rotary positions written as x * cos + concat(-second half, first half) * sin become one pass over x instead of seven.
// Anchored at the step with the Concat.
#include <cstring>

#include "playbook/fusion.h"
#include "playbook/node_pattern.h"
#include "playbook/node_window.h"
#include "playbook/playbook.h"
#include "starter_kernels/kinds/accesses.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/rotary_embedding.h"

namespace amdahl {
namespace {

struct FoundRope {
  std::set<NodeId> core, cuts;  // cuts: the slices, which other steps may have absorbed as well
  ValueId x = kNoValue, cos = kNoValue, sin = kNoValue, out = kNoValue;
};

// The half of x that v is: 0, 1, or -1. Inserts the node that cuts it.
int half_of(const RewriteContext& context, const NodePattern& p, ValueId v, ValueId* x, std::set<NodeId>& cuts) {
  for (const char* op : {"Slice", "Split"}) {
    const NodeId n = p.producer(v, op);
    if (n < 0) continue;
    const auto output = static_cast<size_t>(std::find(p.node(n).outputs.begin(), p.node(n).outputs.end(), v) - p.node(n).outputs.begin());
    const auto view = view_of(context.graph, p.node(n), output);
    const ValueId source = p.node(n).inputs[0];
    const Shape &whole = p.shape(source), &part = p.shape(v);
    if (!view || part.size() != whole.size() || 2 * part.back() != whole.back() || view->strides != row_major_strides(whole)) return -1;
    for (size_t d = 0; d + 1 < whole.size(); ++d)
      if (part[d] != whole[d]) return -1;
    if (view->offset != 0 && view->offset != part.back()) return -1;
    if (*x != kNoValue && *x != source) return -1;
    *x = source;
    cuts.insert(n);
    return view->offset == 0 ? 0 : 1;
  }
  return -1;
}

std::string recognise(const RewriteContext& context, const NodePattern& p, NodeId concat, FoundRope& f) {
  const Node& node = p.node(concat);
  const auto rank = static_cast<int64_t>(p.shape(node.outputs[0]).size());
  const int64_t axis = node.attr_int("axis", 0);
  if (node.inputs.size() != 2 || (axis < 0 ? axis + rank : axis) != rank - 1) return "not a concatenation of two along the last dimension";
  const NodeId negated = p.producer(node.inputs[0], "Neg");
  if (negated < 0) return "the first part is not negated";
  f.core = {concat, negated};
  if (half_of(context, p, p.node(negated).inputs[0], &f.x, f.cuts) != 1 || half_of(context, p, node.inputs[1], &f.x, f.cuts) != 0)
    return "the parts are not the halves of one tensor, exchanged";
  const NodeId by_sin = p.sole_consumer(node.outputs[0], "Mul");
  if (by_sin < 0) return "the exchanged halves are not multiplied";
  f.sin = p.other(by_sin, node.outputs[0]);
  const NodeId sum = p.sole_consumer(p.out(by_sin), "Add");
  if (sum < 0) return "the products are not added";
  const NodeId by_cos = p.producer(p.other(sum, p.out(by_sin)), "Mul");
  if (by_cos < 0 || p.sole_consumer(p.out(by_cos), "Add") != sum) return "the products are not added";
  if (p.node(by_cos).inputs[0] != f.x && p.node(by_cos).inputs[1] != f.x) return "the other product is not of the same tensor";
  f.cos = p.other(by_cos, f.x);
  f.core.insert({by_sin, sum, by_cos});
  f.out = p.out(sum);
  if (p.shape(f.out) != p.shape(f.x)) return "cosines and sines enlarge the tensor";
  if (p.shape(f.x).size() < 2 || p.shape(f.x).size() > 4) return "the tensor has an unusual rank";
  return "";
}

// An access over [batch, heads, positions, width]: missing dimensions in front are 1.
Access four(Access a) {
  while (a.shape.size() < 4) {
    a.shape.insert(a.shape.begin(), 1);
    a.strides.insert(a.strides.begin(), 0);
  }
  return a;
}

// A constant table, as exporters write it, has each angle twice; then one half of it serves both of x.
bool has_equal_halves(const Value& table) {
  if (!table.constant || table.shape.empty() || table.shape.back() % 2 != 0) return false;
  const size_t half = static_cast<size_t>(table.shape.back() / 2) * size_of(table.dtype), bytes = table.constant->bytes();
  const std::byte* const data = table.constant->data();
  for (size_t row = 0; row < bytes; row += 2 * half)
    if (std::memcmp(data + row, data + row + half, half) != 0) return false;
  return true;
}

class FuseRope final : public Rewrite {
 public:
  int tier() const override { return 4; }
  std::string_view name() const override { return "fuse_rope"; }
  std::string_view target() const override { return "pointwise and movement"; }
  std::string_view precondition() const override { return "x * cos + concat(-x2, x1) * sin in primitive operators"; }
  bool structural() const override { return true; }

  std::optional<Match> offer(const RewriteContext& context, int anchor, std::string* refusal) const override {
    const auto refused = [&](std::string reason) {
      if (refusal) *refusal = std::move(reason);
      return std::nullopt;
    };
    const Step& concat_step = context.plan.steps[static_cast<size_t>(anchor)];
    if (concat_step.variant.problem.kind == kind::kRotaryEmbedding) return refused("fused already");
    const NodePattern pattern(context);
    FoundRope found;
    std::string reason = "no Concat here";
    for (NodeId n : concat_step.nodes)
      if (pattern.is(n, "Concat")) {
        found = {};
        reason = recognise(context, pattern, n, found);
        if (reason.empty()) break;
      }
    if (!reason.empty()) return refused(reason);
    const Graph& graph = context.graph;
    const Value& x = graph.value(found.x);
    if (x.dtype == DType::kF64) return refused("float64");
    if (graph.value(found.cos).dtype != graph.value(found.sin).dtype) return refused("cosines and sines differ in type");

    // The tensor is usually a transpose of a projection: it is read where it was before.
    const ReadThrough source =
        furthest_available(context, read_through(context, {context.storage[static_cast<size_t>(found.x)], ""}, dense_access(graph, found.x), false));
    std::set<NodeId> absorbed(source.nodes.begin(), source.nodes.end());
    absorbed.insert(found.cuts.begin(), found.cuts.end());
    Step step;
    std::set<NodeId> nodes = found.core;
    nodes.insert(absorbed.begin(), absorbed.end());
    step.nodes.assign(nodes.begin(), nodes.end());
    step.inputs = {source.from, {context.storage[static_cast<size_t>(found.cos)], ""}, {context.storage[static_cast<size_t>(found.sin)], ""}};
    step.outputs = {{context.storage[static_cast<size_t>(found.out)], ""}};
    Problem& p = step.variant.problem;
    p.kind = kind::kRotaryEmbedding;
    p.threads = context.plan.threads;
    p.in = {four(source.access), four(broadcast_access(graph, found.cos, x.shape)), four(broadcast_access(graph, found.sin, x.shape))};
    p.out = {four(dense_access(graph, found.out))};
    RotaryEmbeddingParams params;
    params.rotated = x.shape.back();
    if (has_equal_halves(graph.value(found.cos)) && has_equal_halves(graph.value(found.sin))) {
      for (size_t table : {1, 2}) p.in[table].shape.back() /= 2;
    } else {
      params.full_cache = true;
    }
    params.write(p);
    repair_knobs(context, step);
    auto match = replace_nodes(context, found.core, absorbed, step, refusal);
    if (match) open_knobs(context, *match, match->replacement.size() - 1, {"ROWS_PER_TASK", "VECTOR_BITS"});
    return match;
  }
};

}  // namespace

const Rewrite* fuse_rope() {
  static const FuseRope rewrite;
  return &rewrite;
}

}  // namespace amdahl

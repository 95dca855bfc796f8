// softmax(scale * Q K' + mask) V written in primitive operators, as exporters do, becomes one attention kernel: the scores
// never leave the core's cache. Anchored at the Softmax. Recognised around it: the scale as Mul or Div by a scalar, before
// or after the product; the mask as Add, or as Where with a constant; transposes, slices and splits of Q, K, V and of the
// result, which become strides; and the guard that turns rows of NaN (nothing visible) to zero.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/printable.h"
#include "playbook/node_window.h"
#include "playbook/playbook.h"
#include "playbook/strided_view.h"
#include "starter_kernels/kinds/attention.h"
#include "starter_kernels/kinds/kind_names.h"

namespace amdahl {
namespace {

// What is added to, or put in place of, hidden scores weighs nothing beside any score a model computes.
constexpr double kHides = -1e30;
// Exporters take the lowest number of the type, which of fp16 is -65504.
bool hides(double value, DType dtype) { return value <= (dtype == DType::kF16 ? -6e4 : kHides); }

// Offset o when exactly the keys t <= s + o are visible to query s. `visible` over [.., S, T], leading dimensions 1.
std::optional<int64_t> causal_offset(const Tensor& mask, const std::vector<bool>& visible, int64_t queries, int64_t keys) {
  const Shape& shape = mask.shape();
  if (shape.size() < 2 || mask.numel() != queries * keys || shape.back() != keys || queries < 2) return std::nullopt;
  int64_t offset = -1;
  while (offset + 1 < keys && visible[static_cast<size_t>(offset + 1)]) ++offset;
  if (offset < 0 || offset >= keys - 1) return std::nullopt;
  for (int64_t s = 0; s < queries; ++s)
    for (int64_t t = 0; t < keys; ++t)
      if (visible[static_cast<size_t>(s * keys + t)] != (t <= s + offset)) return std::nullopt;
  return offset;
}

struct Pattern {
  std::set<NodeId> core;
  double scale = 1;
  NodeId scores = -1, product = -1;  // the two MatMul nodes
  ValueId mask = kNoValue;           // added, or selecting when `masked_value` is set
  bool mask_selects = false;
  double masked_value = 0;
  bool causal = false;
  bool hidden_added = false;  // the causal mask is added: `masked_value`
  int64_t offset = 0;
  bool zero_hidden_rows = false;
  ValueId output = kNoValue;
};

// The operands of both products and the result, as [B, H, rows, columns]. Keys lie as the softmax's rows read them: [B, H, T, D].
struct Heads {
  Access queries, keys, values, result;
};

class AttentionMatcher {
 public:
  AttentionMatcher(const RewriteContext& context, std::string* refusal) : c_(context), g_(context.graph), refusal_(refusal) {}

  std::optional<Match> match(NodeId softmax);

 private:
  bool refuse(std::string reason) {
    if (refusal_) *refusal_ = std::move(reason);
    return false;
  }
  const Node* producer(ValueId v, NodeId* id) const {
    *id = v == kNoValue ? -1 : c_.uses.producer[static_cast<size_t>(v)];
    return *id < 0 ? nullptr : &g_.node(*id);
  }
  bool single_use(ValueId v) const { return c_.uses.consumers[static_cast<size_t>(v)].size() == 1 && !std::count(g_.outputs.begin(), g_.outputs.end(), v); }
  bool walk_up(ValueId v);
  bool add_mask(ValueId mask, const Shape& scores);
  bool select_mask(ValueId condition, double otherwise, DType dtype, const Shape& scores);
  bool walk_down(ValueId weights);
  std::optional<Heads> heads();
  void read(ValueId value, const Access& access, bool scaling, Step& step);
  bool read_mask(const Heads& heads, Step& step);
  void set_params(Problem& problem) const;
  void write(const Access& y, Step& step);
  std::optional<Step> build();

  const RewriteContext& c_;
  const Graph& g_;
  std::string* refusal_;
  Pattern p_;
  std::set<NodeId> absorbed_;  // movement that became strides
};

bool AttentionMatcher::add_mask(ValueId mask, const Shape& scores) {
  if (p_.mask != kNoValue || p_.causal) return refuse("more than one mask");
  if (p_.scale != 1) return refuse("the mask is scaled too");
  const Value& v = g_.value(mask);
  if (v.constant && scores.size() >= 2) {
    std::vector<bool> visible;
    bool clear = true;  // every element either adds nothing or hides, as all that hide do
    double hidden = 0;
    for (double x : to_doubles(*v.constant)) {
      visible.push_back(x == 0);
      if (x == 0) continue;
      clear &= hides(x, v.dtype) && (hidden == 0 || x == hidden);
      hidden = x;
    }
    if (clear) {
      if (const auto offset = causal_offset(*v.constant, visible, scores[scores.size() - 2], scores.back())) {
        p_.causal = p_.hidden_added = true;
        p_.masked_value = hidden;
        p_.offset = *offset;
        return true;
      }
    }
  }
  p_.mask = mask;
  return true;
}

bool AttentionMatcher::select_mask(ValueId condition, double otherwise, DType dtype, const Shape& scores) {
  if (p_.mask != kNoValue || p_.causal) return refuse("more than one mask");
  if (p_.scale != 1) return refuse("the masked value is scaled too");
  const Value& v = g_.value(condition);
  if (v.constant && hides(otherwise, dtype)) {
    std::vector<bool> visible;
    for (int64_t x : to_ints(*v.constant)) visible.push_back(x != 0);
    if (const auto offset = causal_offset(*v.constant, visible, scores[scores.size() - 2], scores.back())) {
      p_.causal = true;
      p_.masked_value = otherwise <= kHides ? -HUGE_VAL : otherwise;
      p_.offset = *offset;
      return true;
    }
  }
  p_.mask = condition;
  p_.mask_selects = true;
  p_.masked_value = otherwise;
  return true;
}

// From the softmax's input to the product of queries and keys.
bool AttentionMatcher::walk_up(ValueId v) {
  while (true) {
    NodeId id;
    const Node* node = producer(v, &id);
    if (!node || !node->domain.empty()) return refuse("the scores are no matrix product");
    if (!single_use(v)) return refuse(fmt::format("'{}' is read elsewhere too", shown(g_.value(v).name)));
    p_.core.insert(id);
    const Shape& shape = g_.value(v).shape;
    if (node->op == "MatMul") {
      p_.scores = id;
      return true;
    }
    if (node->op == "Div" || node->op == "Mul") {
      auto factor = scalar_constant(g_, node->inputs[1]);
      ValueId next = node->inputs[0];
      if (!factor && node->op == "Mul") {
        factor = scalar_constant(g_, node->inputs[0]);
        next = node->inputs[1];
      }
      if (!factor) return refuse("the scores are scaled by a tensor");
      p_.scale *= node->op == "Mul" ? *factor : 1.0 / *factor;
      v = next;
    } else if (node->op == "Add") {
      // The scores are the operand of full shape that leads to a product.
      NodeId other;
      const Node* first = producer(node->inputs[0], &other);
      const bool scores_first = g_.value(node->inputs[0]).shape == shape && !g_.is_constant(node->inputs[0]) && first &&
                                (first->op == "MatMul" || first->op == "Div" || first->op == "Mul");
      if (!add_mask(node->inputs[scores_first ? 1 : 0], shape)) return false;
      v = node->inputs[scores_first ? 0 : 1];
    } else if (node->op == "Where") {
      const auto otherwise = scalar_constant(g_, node->inputs[2]);
      if (!otherwise) return refuse("the mask does not select between scores and a constant");
      if (!select_mask(node->inputs[0], *otherwise, g_.value(node->inputs[2]).dtype, shape)) return false;
      v = node->inputs[1];
    } else {
      return refuse(fmt::format("{} between the product and the softmax", node->op));
    }
    if (g_.value(v).shape != shape) return refuse("the scores are broadcast");
  }
}

// From the softmax's output to the product with the values.
bool AttentionMatcher::walk_down(ValueId weights) {
  const auto& readers = c_.uses.consumers[static_cast<size_t>(weights)];
  ValueId v = weights;
  if (readers.size() == 2) {  // Where(IsNaN(w), 0, w)
    const bool first = g_.node(readers[0]).op == "IsNaN";
    const NodeId test = readers[first ? 0 : 1], where = readers[first ? 1 : 0];
    if (g_.node(test).op != "IsNaN" || g_.node(where).op != "Where" || g_.node(where).inputs[0] != g_.node(test).outputs[0] ||
        g_.node(where).inputs[2] != weights || scalar_constant(g_, g_.node(where).inputs[1]) != 0.0)
      return refuse("the softmax is read elsewhere too");
    if (!single_use(g_.node(test).outputs[0])) return refuse("the softmax is read elsewhere too");
    p_.core.insert({test, where});
    p_.zero_hidden_rows = true;
    v = g_.node(where).outputs[0];
  }
  if (!single_use(v)) return refuse("the softmax is read elsewhere too");
  p_.product = c_.uses.consumers[static_cast<size_t>(v)][0];
  const Node& node = g_.node(p_.product);
  if (!node.domain.empty() || node.op != "MatMul" || node.inputs[0] != v) return refuse("no product with values follows");
  p_.core.insert(p_.product);
  p_.output = node.outputs[0];
  return true;
}

// [rows, cols] operand of a MatMul as [B, H, rows, cols], batches broadcast by stride 0.
std::optional<Access> as_heads(const Value& value, const Shape& batch) {
  Access dense = Access::dense(value.dtype, value.shape, value.constant.has_value());
  const size_t rank = value.shape.size();
  if (rank < 2 || batch.size() > 2) return std::nullopt;
  Access a = dense;
  a.shape = {1, 1, value.shape[rank - 2], value.shape[rank - 1]};
  a.strides = {0, 0, dense.strides[rank - 2], dense.strides[rank - 1]};
  for (size_t i = 0; i < batch.size(); ++i) {
    a.shape[2 - batch.size() + i] = batch[i];
    const size_t missing = batch.size() - (rank - 2);
    if (i >= missing && value.shape[i - missing] != 1) a.strides[2 - batch.size() + i] = dense.strides[i - missing];
  }
  return a;
}

std::optional<Heads> AttentionMatcher::heads() {
  const Node &scores = g_.node(p_.scores), &product = g_.node(p_.product);
  const Value& out = g_.value(p_.output);
  if (out.dtype != DType::kF32 && out.dtype != DType::kF16 && out.dtype != DType::kBF16 && out.dtype != DType::kF64)
    return refuse("not a float type"), std::nullopt;
  if (out.shape.size() < 2 || out.shape.size() > 4) return refuse("more than two batch dimensions"), std::nullopt;
  const Shape batch(out.shape.begin(), out.shape.end() - 2);
  const auto q = as_heads(g_.value(scores.inputs[0]), batch), k = as_heads(g_.value(scores.inputs[1]), batch), v = as_heads(g_.value(product.inputs[1]), batch),
             y = as_heads(out, batch);
  if (!q || !k || !v || !y) return refuse("operands are no matrices"), std::nullopt;
  Access keys = *k;  // [D, T] in the product
  std::swap(keys.shape[2], keys.shape[3]);
  std::swap(keys.strides[2], keys.strides[3]);
  return Heads{*q, keys, *v, *y};
}

void AttentionMatcher::read(ValueId value, const Access& access, bool scaling, Step& step) {
  const Operand operand{c_.storage[static_cast<size_t>(value)], ""};
  const ReadThrough r = furthest_available(c_, read_through(c_, operand, access, scaling));
  step.inputs.push_back(r.from);
  step.variant.problem.in.push_back(r.access);
  absorbed_.insert(r.nodes.begin(), r.nodes.end());
  p_.scale *= r.factor;
}

// numpy broadcast against [batch…, S, T], which may have fewer dimensions than [B, H, S, T].
bool AttentionMatcher::read_mask(const Heads& heads, Step& step) {
  const Value& mask = g_.value(p_.mask);
  if (mask.shape.size() > 4) return refuse("more than two batch dimensions");
  Access a = Access::dense(mask.dtype, mask.shape, mask.constant.has_value());
  Shape strides(4, 0);
  for (size_t i = 0; i < mask.shape.size(); ++i)
    if (mask.shape[i] != 1) strides[4 - mask.shape.size() + i] = a.strides[i];
  a.shape = {heads.result.shape[0], heads.result.shape[1], heads.queries.shape[2], heads.keys.shape[2]};
  a.strides = strides;
  if (mask.shape.size() > g_.value(p_.output).shape.size()) return refuse("the mask has more dimensions than the scores");
  step.inputs.push_back({c_.storage[static_cast<size_t>(p_.mask)], ""});
  step.variant.problem.in.push_back(a);
  if (p_.mask_selects && (p_.masked_value > 0 || std::isnan(p_.masked_value)) && !std::isfinite(p_.masked_value)) return refuse("masked by +inf or NaN");
  return true;
}

void AttentionMatcher::set_params(Problem& problem) const {
  AttentionParams params;
  params.scale = p_.scale;
  params.causal = p_.causal;
  if (p_.causal) params.causal_offset = p_.offset;
  params.hidden_added = p_.hidden_added;
  if ((p_.causal || p_.mask_selects) && std::isfinite(p_.masked_value)) params.masked_value = p_.masked_value;
  params.zero_hidden_rows = params.zero_nan_weights = p_.zero_hidden_rows;
  params.write(problem);
}

void AttentionMatcher::write(const Access& y, Step& step) {
  const Operand output{c_.storage[static_cast<size_t>(p_.output)], ""};
  step.outputs = {output};
  step.variant.problem.out = {y};
  if (const auto w = write_through(c_, output, y)) {
    step.outputs = {w->to};
    step.variant.problem.out = {w->access};
    absorbed_.insert(w->nodes.begin(), w->nodes.end());
  }
}

std::optional<Step> AttentionMatcher::build() {
  const auto heads = this->heads();
  if (!heads) return std::nullopt;
  Step step;
  Problem& problem = step.variant.problem;
  problem.kind = kind::kAttention;
  problem.threads = c_.plan.threads;
  read(g_.node(p_.scores).inputs[0], heads->queries, true, step);
  read(g_.node(p_.scores).inputs[1], heads->keys, true, step);
  read(g_.node(p_.product).inputs[1], heads->values, false, step);
  if (p_.mask != kNoValue && !read_mask(*heads, step)) return std::nullopt;
  set_params(problem);
  write(heads->result, step);
  for (const Access& in : problem.in)
    if (in.dtype != heads->result.dtype && in.dtype != DType::kBool) return refuse("operands of different types"), std::nullopt;
  std::set<NodeId> nodes = p_.core;
  nodes.insert(absorbed_.begin(), absorbed_.end());
  step.nodes.assign(nodes.begin(), nodes.end());
  step.variant.knobs = c_.target.space(problem).starters();
  return step;
}

std::optional<Match> AttentionMatcher::match(NodeId softmax) {
  const Node& node = g_.node(softmax);
  const int64_t rank = static_cast<int64_t>(g_.value(node.inputs[0]).shape.size());
  const int64_t axis = node.attr_int("axis", node.version >= 13 ? -1 : 1);
  if (rank < 2 || (axis != -1 && axis != rank - 1)) return refuse("the softmax is not over the last axis"), std::nullopt;
  p_.core.insert(softmax);
  if (!walk_up(node.inputs[0]) || !walk_down(node.outputs[0])) return std::nullopt;
  const auto step = build();
  if (!step) return std::nullopt;
  auto match = replace_nodes(c_, p_.core, absorbed_, *step, refusal_);
  if (match) open_knobs(c_, *match, match->replacement.size() - 1, {"VLEN", "MR", "NRV", "BLOCK_Q", "SKIP_CAUSAL", "PACK_KV"});
  return match;
}

class FuseAttention final : public Rewrite {
 public:
  int tier() const override { return 4; }
  std::string_view name() const override { return "fuse_attention"; }
  std::string_view target() const override { return "softmax between two matrix products"; }
  std::string_view precondition() const override { return "scores and weights are read by nothing else; scale a scalar; one mask, added or selecting"; }
  bool structural() const override { return true; }
  std::optional<Match> offer(const RewriteContext& context, int anchor, std::string* refusal) const override {
    const Step& step = context.plan.steps[static_cast<size_t>(anchor)];
    if (step.variant.problem.kind == kind::kAttention) {
      if (refusal) *refusal = "fused already";
      return std::nullopt;
    }
    for (NodeId n : step.nodes) {
      const Node& node = context.graph.node(n);
      if (node.domain.empty() && node.op == "Softmax") return AttentionMatcher(context, refusal).match(n);
    }
    if (refusal) *refusal = "no softmax here";
    return std::nullopt;
  }
};

}  // namespace

const Rewrite* fuse_attention() {
  static const FuseAttention rewrite;
  return &rewrite;
}

}  // namespace amdahl

// attention: out = softmax(scale * q k' + mask) v for every head.
//
// in[0] = q [B, H, S, D], in[1] = k [B, Hkv, T, D], in[2] = v [B, Hkv, T, Dv], out[0] = [B, H, S, Dv]; strides express where the
// heads lie. H is a multiple of Hkv: query head h reads key head h / (H / Hkv). in[3], if any, is the mask over
// [B, H, S, T] (broadcast by stride 0): floats are added to the scaled scores; where a bool is false, the score is `masked_value`.
// Where keys are `appended`, two inputs follow: k and v of the last keys, over [B, Hkv, T - T1, D] and [B, Hkv, T - T1, Dv]; in[1] and in[2] then have the first
// T1 keys alone. So lie the keys of earlier tokens, and of the new ones.

#include "starter_kernels/kinds/attention.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "graph/graph.h"
#include "starter_kernels/examples/example_graph.h"
#include "starter_kernels/kinds/accesses.h"
#include "starter_kernels/kinds/kernel_kind.h"
#include "starter_kernels/kinds/kernel_kinds.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/number_json.h"
#include "starter_kernels/kinds/param_json.h"
#include "starter_kernels/kinds/problem.h"

namespace amdahl {
namespace {

class Attention : public KernelKind {
 public:
  std::string_view name() const override { return kind::kAttention; }
  std::string_view summary() const override { return "softmax(scale q k' + mask) v, head by head (Attention)"; }
  Traits traits() const override { return {.family = Traits::Family::kProducts, .reads_strides = true}; }

  // What causality hides need not be computed: half of a square.
  Work work(const Problem& problem) const override {
    const AttentionSizes s(problem);
    double pairs = static_cast<double>(s.queries) * static_cast<double>(s.keys);
    if (s.causal) {
      pairs = 0;
      const int64_t offset = AttentionParams::of(problem).causal_offset;
      for (int64_t q = 0; q < s.queries; ++q) pairs += static_cast<double>(std::clamp<int64_t>(q + offset + 1, 0, s.keys));
    }
    Work work;
    work.flops = 2.0 * static_cast<double>(s.batch * s.heads * (s.width + s.value_width)) * pairs;
    for (const Access& a : problem.in) work.bytes += operand_bytes(a);
    work.bytes += operand_bytes(problem.out[0]);
    return work;
  }

  std::optional<Lowering> lower(const Graph& graph, const Node& node, int threads) const override;
  std::vector<Graph> examples() const override;
};

// [B, H, N, W] of a value that is [B, H, N, W] or, with the heads inside the rows, [B, N, H * W].
Access head_access(const Value& value, int64_t heads) {
  if (value.shape.size() == 4) return Access::dense(value.dtype, value.shape, value.constant.has_value());
  const int64_t rows = value.shape[1], width = value.shape[2] / heads;
  Access a;
  a.dtype = value.dtype;
  a.constant = value.constant.has_value();
  a.shape = {value.shape[0], heads, rows, width};
  a.strides = {rows * heads * width, width, heads * width, 1};
  return a;
}

std::optional<Lowering> Attention::lower(const Graph& graph, const Node& node, int threads) const {
  if (!node.domain.empty() || node.op != "Attention" || node.outputs.size() != 1) return std::nullopt;
  if (node.attr_float("softcap", 0) != 0) return std::nullopt;
  for (size_t i = 4; i < node.inputs.size(); ++i)
    if (node.inputs[i] != kNoValue) return std::nullopt;
  const Value &q = graph.value(node.inputs[0]), &k = graph.value(node.inputs[1]), &v = graph.value(node.inputs[2]);
  if (k.dtype != q.dtype || v.dtype != q.dtype) return std::nullopt;
  const bool inside = q.shape.size() == 3;
  const int64_t heads = inside ? node.attr_int("q_num_heads", 0) : q.shape[1];
  const int64_t kv_heads = inside ? node.attr_int("kv_num_heads", 0) : k.shape[1];

  Lowering l;
  Problem& p = l.variant.problem;
  p.kind = kind::kAttention;
  p.threads = threads;
  p.in = {head_access(q, heads), head_access(k, kv_heads), head_access(v, kv_heads)};
  p.out = {head_access(graph.value(node.outputs[0]), heads)};
  AttentionParams params;
  params.scale = node.has("scale") ? node.attr_float("scale", 1) : 1.0 / std::sqrt(static_cast<double>(p.in[0].shape[3]));
  params.zero_hidden_rows = true;
  params.causal = node.attr_int("is_causal", 0) != 0;
  params.write(p);
  l.inputs = {node.inputs[0], node.inputs[1], node.inputs[2]};
  l.outputs = {node.outputs[0]};
  if (node.inputs.size() > 3 && node.inputs[3] != kNoValue) {
    const Shape& o = p.out[0].shape;
    p.in.push_back(broadcast_access(graph, node.inputs[3], {o[0], o[1], o[2], p.in[1].shape[2]}));
    l.inputs.push_back(node.inputs[3]);
  }
  if (numel(p.out[0].shape) == 0 || p.in[1].shape[2] == 0 || p.in[0].shape[3] == 0) return std::nullopt;
  return l;
}

std::vector<Graph> Attention::examples() const {
  std::vector<Graph> graphs;
  const auto add = [&](const char* name, DType dtype, Shape q, Shape k, Shape v, std::map<std::string, Attribute> attributes,
                       std::optional<Shape> mask = std::nullopt, DType mask_type = DType::kF32) {
    ExampleGraph g(name, 23);
    std::vector<ValueId> inputs{g.input(dtype, q), g.input(dtype, k), g.input(dtype, v)};
    if (mask) inputs.push_back(g.input(mask_type, *mask));
    const ValueId y = g.node("Attention", inputs, std::move(attributes));
    graphs.push_back(g.finish({y}));
  };
  const DType f32 = DType::kF32;
  const Attribute yes = int64_t{1};
  add("one query", f32, {1, 2, 1, 16}, {1, 2, 19, 16}, {1, 2, 19, 16}, {});
  add("tails", f32, {2, 3, 17, 11}, {2, 3, 29, 11}, {2, 3, 29, 13}, {{"scale", 0.2}});
  add("causal", f32, {1, 2, 70, 32}, {1, 2, 70, 32}, {1, 2, 70, 32}, {{"is_causal", yes}});
  add("causal, more keys", f32, {1, 1, 7, 8}, {1, 1, 45, 8}, {1, 1, 45, 8}, {{"is_causal", yes}});
  add("causal, fewer keys", f32, {1, 1, 37, 8}, {1, 1, 9, 8}, {1, 1, 9, 8}, {{"is_causal", yes}});
  add("grouped heads", f32, {1, 6, 9, 8}, {1, 2, 21, 8}, {1, 2, 21, 24}, {});
  add("heads inside rows", f32, {2, 33, 48}, {2, 40, 48}, {2, 40, 48}, {{"q_num_heads", int64_t{3}}, {"kv_num_heads", int64_t{3}}});
  add("added mask", f32, {2, 2, 18, 16}, {2, 2, 33, 16}, {2, 2, 33, 16}, {}, Shape{2, 1, 18, 33});
  add("added padding mask", f32, {2, 2, 18, 16}, {2, 2, 33, 16}, {2, 2, 33, 16}, {}, Shape{2, 1, 1, 33});
  add("one key for all", f32, {1, 2, 20, 16}, {1, 2, 1, 16}, {1, 2, 1, 16}, {});
  add("long keys", f32, {1, 1, 40, 16}, {1, 1, 300, 16}, {1, 1, 300, 16}, {});
  add("bool mask", f32, {1, 2, 12, 16}, {1, 2, 31, 16}, {1, 2, 31, 16}, {}, Shape{12, 31}, DType::kBool);
  add("rows that see nothing", f32, {1, 2, 15, 16}, {1, 2, 2, 16}, {1, 2, 2, 16}, {}, Shape{15, 2}, DType::kBool);
  add("half precision", DType::kF16, {1, 2, 9, 16}, {1, 2, 12, 16}, {1, 2, 12, 16}, {});
  add("half precision, tiles of keys", DType::kF16, {1, 1, 17, 16}, {1, 1, 300, 16}, {1, 1, 300, 16}, {});
  add("half precision, causal, added mask", DType::kF16, {1, 1, 34, 48}, {1, 1, 34, 48}, {1, 1, 34, 48}, {{"is_causal", yes}}, Shape{34, 34}, DType::kF16);
  add("half precision, padding mask", DType::kF16, {2, 1, 9, 64}, {2, 1, 70, 64}, {2, 1, 70, 64}, {}, Shape{2, 1, 1, 70}, DType::kF16);
  add("bfloat16, wide heads", DType::kBF16, {1, 1, 9, 128}, {1, 1, 40, 128}, {1, 1, 40, 128}, {});
  add("doubles", DType::kF64, {1, 2, 9, 16}, {1, 2, 12, 16}, {1, 2, 12, 20}, {});
  // The mean of 64 values of 3e38 is 3e38; their sum overflows.
  for (DType dtype : {DType::kF32, DType::kBF16}) {
    ExampleGraph g(dtype == DType::kF32 ? "values near the largest" : "values near the largest, bfloat16", 23);
    const ValueId q = g.input(dtype, {1, 2, 20, 16}), k = g.input(dtype, {1, 2, 64, 16});
    graphs.push_back(g.finish({g.node("Attention", {q, k, g.floats({1, 2, 64, 16}, std::vector<double>(2 * 64 * 16, 3e38), dtype)})}));
  }
  // Equal weights that half floats hold exactly: nothing is left of them for a second term, and nothing times infinity is no number.
  {
    ExampleGraph g("an infinite value, half precision", 23);
    std::vector<double> values(2 * 40 * 16, 0.5);
    values[3 * 16 + 5] = HUGE_VAL;
    const ValueId q = g.floats({1, 2, 20, 16}, std::vector<double>(2 * 20 * 16, 0.0), DType::kF16), k = g.input(DType::kF16, {1, 2, 40, 16});
    graphs.push_back(g.finish({g.node("Attention", {q, k, g.floats({1, 2, 40, 16}, values, DType::kF16)})}));
  }
  return graphs;
}

}  // namespace

AttentionParams AttentionParams::of(const Problem& problem) {
  const Json& params = problem.params;
  AttentionParams p;
  p.scale = number_of(params.at("scale"));
  p.causal = params.value("causal", false);
  p.causal_offset = params.value("causal_offset", int64_t{0});
  p.zero_hidden_rows = params.value("zero_hidden_rows", false);
  p.zero_nan_weights = params.value("zero_nan_weights", false);
  if (params.contains("masked_value")) p.masked_value = number_of(params.at("masked_value"));
  p.hidden_added = params.value("hidden_added", false);
  p.appended = params.value("appended", false);
  return p;
}

void AttentionParams::write(Problem& problem) const {
  Json& params = problem.params;
  params["scale"] = number_json(scale);
  put_param(params, "causal", causal, true);
  put_param(params, "causal_offset", causal_offset != 0, causal_offset);
  put_param(params, "zero_hidden_rows", zero_hidden_rows, true);
  put_param(params, "zero_nan_weights", zero_nan_weights, true);
  put_param(params, "masked_value", masked_value != -HUGE_VAL, number_json(masked_value));
  put_param(params, "hidden_added", hidden_added, true);
  put_param(params, "appended", appended, true);
}

const KernelKind* attention_kind() {
  static const Attention kind;
  return &kind;
}

}  // namespace amdahl

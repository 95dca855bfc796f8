// GPT-2 (Radford et al. 2019), pre-norm, tied embedding. Written as nn.Linear exports: MatMul and Add.

#include <cmath>
#include <limits>

#include "graph/models/architectures.h"
#include "graph/models/layer_writer.h"

namespace amdahl {
namespace {

struct Config {
  const char* name;
  int64_t vocabulary, context, width, heads, layers, seq;
};

// True where a query may see a key: on and below the diagonal.
Tensor lower_triangle(int64_t n) {
  std::vector<uint8_t> mask(static_cast<size_t>(n * n));
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j <= i; ++j) mask[static_cast<size_t>(i * n + j)] = 1;
  return Tensor::of(DType::kBool, {1, 1, n, n}, mask);
}

// 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
ValueId gelu_tanh(LayerWriter& w, ValueId x) {
  const ValueId cubic = w.mul(w.node("Pow", {x, w.scalar(3.0f)}), w.scalar(0.044715f));
  const ValueId inner = w.mul(w.add(x, cubic), w.scalar(static_cast<float>(std::sqrt(2.0 / M_PI))));
  return w.mul(w.mul(x, w.scalar(0.5f)), w.add(w.node("Tanh", {inner}), w.scalar(1.0f)));
}

ValueId attention(LayerWriter& w, const Config& c, ValueId x, ValueId mask, double residual_gain) {
  const int64_t batch = w.shape(x)[0], seq = w.shape(x)[1], head = c.width / c.heads;
  const ValueId qkv = w.linear("c_attn", x, 3 * c.width);
  const auto parts = w.node_with_outputs(3, "Split", {qkv, w.int_list({c.width, c.width, c.width})}, {{"axis", int64_t{2}}});
  const auto split_heads = [&](ValueId part, const std::vector<int64_t>& perm) { return w.transpose(w.reshape(part, {batch, seq, c.heads, head}), perm); };
  const ValueId q = split_heads(parts[0], {0, 2, 1, 3}), k = split_heads(parts[1], {0, 2, 3, 1}), v = split_heads(parts[2], {0, 2, 1, 3});
  const ValueId scores = w.node("Div", {w.node("MatMul", {q, k}), w.scalar(std::sqrt(static_cast<float>(head)))});
  const ValueId masked = w.node("Where", {mask, scores, w.scalar(std::numeric_limits<float>::lowest())});
  const ValueId weights = w.node("Softmax", {masked}, {{"axis", int64_t{-1}}});
  const ValueId y = w.transpose(w.node("MatMul", {weights, v}), {0, 2, 1, 3});
  return w.linear("c_proj", w.reshape(y, {batch, seq, c.width}), c.width, true, residual_gain);
}

Graph build(const Config& c, const BuilderSizes& sizes) {
  reject_size(sizes.image, "--image", c.name);
  const int64_t batch = size_or(sizes.batch, 1, 1 << 16, "--batch", c.name), seq = size_or(sizes.seq, c.seq, c.context, "--seq", c.name);
  LayerWriter w(c.name);
  const ValueId ids = w.input("input_ids", DType::kI64, {batch, seq});
  // 1/sqrt(width): the same matrix makes the logits.
  const ValueId wte = w.normal_weight("wte.weight", {c.vocabulary, c.width}, 1.0 / std::sqrt(static_cast<double>(c.width)));
  const ValueId wpe = w.normal_weight("wpe.weight", {c.context, c.width}, 0.02);
  std::vector<int64_t> positions;
  for (int64_t i = 0; i < seq; ++i) positions.push_back(i);
  const ValueId position_ids = w.constant("position_ids", Tensor::of(DType::kI64, {1, seq}, positions));
  const ValueId mask = w.constant("causal_mask", lower_triangle(seq));
  ValueId x = w.add(w.node("Gather", {wte, ids}, {{"axis", int64_t{0}}}), w.node("Gather", {wpe, position_ids}, {{"axis", int64_t{0}}}));
  const double residual_gain = 1.0 / std::sqrt(2.0 * static_cast<double>(c.layers));
  for (int64_t i = 0; i < c.layers; ++i) {
    const std::string layer = "h." + std::to_string(i);
    w.scope(layer);
    const ValueId a = w.layer_norm("ln_1", x, 1e-5);
    w.scope(layer + ".attn");
    x = w.add(x, attention(w, c, a, mask, residual_gain));
    w.scope(layer);
    const ValueId b = w.layer_norm("ln_2", x, 1e-5);
    w.scope(layer + ".mlp");
    x = w.add(x, w.linear("c_proj", gelu_tanh(w, w.linear("c_fc", b, 4 * c.width)), c.width, true, residual_gain));
  }
  w.scope("");
  x = w.layer_norm("ln_f", x, 1e-5);
  const ValueId logits = w.node("MatMul", {x, w.transpose(wte, {1, 0})});
  return w.finish({{"logits", logits}});
}

}  // namespace

Graph build_gpt2(const BuilderSizes& sizes) { return build({"gpt2", 50257, 1024, 768, 12, 12, 128}, sizes); }
Graph build_gpt2_mini(const BuilderSizes& sizes) { return build({"gpt2-mini", 307, 64, 64, 4, 2, 16}, sizes); }

}  // namespace amdahl

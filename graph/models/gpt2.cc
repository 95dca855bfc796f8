// GPT-2 (Radford et al. 2019), pre-norm, tied embedding, and a decode step of it. Written as nn.Linear exports: MatMul and Add.

#include <cmath>
#include <functional>
#include <limits>

#include "graph/models/architectures.h"
#include "graph/models/earlier_tokens.h"
#include "graph/models/layer_writer.h"

namespace amdahl {
namespace {

struct Config {
  const char* name;
  int64_t vocabulary, context, width, heads, layers, seq;
};

double residual_gain(const Config& c) { return 1.0 / std::sqrt(2.0 * static_cast<double>(c.layers)); }

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

struct Heads {
  ValueId q, k, v;
};

// [batch, heads, seq, head] of each; `key_order` permutes [batch, seq, heads, head].
Heads project(LayerWriter& w, const Config& c, ValueId x, const std::vector<int64_t>& key_order) {
  const int64_t batch = w.shape(x)[0], seq = w.shape(x)[1], head = c.width / c.heads;
  const ValueId qkv = w.linear("c_attn", x, 3 * c.width);
  const auto parts = w.node_with_outputs(3, "Split", {qkv, w.int_list({c.width, c.width, c.width})}, {{"axis", int64_t{2}}});
  const auto split_heads = [&](ValueId part, const std::vector<int64_t>& perm) { return w.transpose(w.reshape(part, {batch, seq, c.heads, head}), perm); };
  return {split_heads(parts[0], {0, 2, 1, 3}), split_heads(parts[1], key_order), split_heads(parts[2], {0, 2, 1, 3})};
}

ValueId scores(LayerWriter& w, const Config& c, ValueId q, ValueId k_transposed) {
  return w.node("Div", {w.node("MatMul", {q, k_transposed}), w.scalar(std::sqrt(static_cast<float>(c.width / c.heads)))});
}

ValueId weighted(LayerWriter& w, const Config& c, ValueId scores, ValueId v, double residual_gain) {
  const ValueId weights = w.node("Softmax", {scores}, {{"axis", int64_t{-1}}});
  const ValueId y = w.transpose(w.node("MatMul", {weights, v}), {0, 2, 1, 3});
  return w.linear("c_proj", w.reshape(y, {w.shape(y)[0], w.shape(y)[1], c.width}), c.width, true, residual_gain);
}

// A layer's attention to its normalised input; `mask`: lower_triangle(), or kNoValue.
using Attend = std::function<ValueId(int64_t layer, ValueId x, ValueId mask)>;

ValueId logits(LayerWriter& w, const Config& c, ValueId ids, const std::vector<int64_t>& positions, bool masked, const Attend& attend) {
  // 1/sqrt(width): the same matrix makes the logits.
  const ValueId wte = w.normal_weight("wte.weight", {c.vocabulary, c.width}, 1.0 / std::sqrt(static_cast<double>(c.width)));
  const ValueId wpe = w.normal_weight("wpe.weight", {c.context, c.width}, 0.02);
  const ValueId position_ids = w.constant("position_ids", Tensor::of(DType::kI64, {1, static_cast<int64_t>(positions.size())}, positions));
  const ValueId mask = masked ? w.constant("causal_mask", lower_triangle(w.shape(ids)[1])) : kNoValue;
  ValueId x = w.add(w.node("Gather", {wte, ids}, {{"axis", int64_t{0}}}), w.node("Gather", {wpe, position_ids}, {{"axis", int64_t{0}}}));
  for (int64_t i = 0; i < c.layers; ++i) {
    const std::string layer = "h." + std::to_string(i);
    w.scope(layer);
    const ValueId a = w.layer_norm("ln_1", x, 1e-5);
    w.scope(layer + ".attn");
    x = w.add(x, attend(i, a, mask));
    w.scope(layer);
    const ValueId b = w.layer_norm("ln_2", x, 1e-5);
    w.scope(layer + ".mlp");
    x = w.add(x, w.linear("c_proj", gelu_tanh(w, w.linear("c_fc", b, 4 * c.width)), c.width, true, residual_gain(c)));
  }
  w.scope("");
  x = w.layer_norm("ln_f", x, 1e-5);
  return w.node("MatMul", {x, w.transpose(wte, {1, 0})});
}

Graph build(const Config& c, const BuilderSizes& sizes) {
  reject_size(sizes.image, "--image", c.name);
  const int64_t batch = size_or(sizes.batch, 1, 1 << 16, "--batch", c.name), seq = size_or(sizes.seq, c.seq, c.context, "--seq", c.name);
  LayerWriter w(c.name);
  const ValueId ids = w.input("input_ids", DType::kI64, {batch, seq});
  std::vector<int64_t> positions;
  for (int64_t i = 0; i < seq; ++i) positions.push_back(i);
  const auto attend = [&](int64_t, ValueId x, ValueId mask) {
    const Heads h = project(w, c, x, {0, 2, 3, 1});
    const ValueId masked = w.node("Where", {mask, scores(w, c, h.q, h.k), w.scalar(std::numeric_limits<float>::lowest())});
    return weighted(w, c, masked, h.v, residual_gain(c));
  };
  return w.finish({{"logits", logits(w, c, ids, positions, /*masked=*/true, attend)}});
}

// `model`: whose weights it has.
Graph build_decode(const Config& c, const char* model, const BuilderSizes& sizes) {
  reject_size(sizes.image, "--image", c.name);
  const int64_t batch = size_or(sizes.batch, 1, 1 << 16, "--batch", c.name), keys = size_or(sizes.seq, c.seq, c.context, "--seq", c.name);
  LayerWriter w(model);
  EarlierTokens earlier(w, keys);
  const ValueId ids = w.input("input_ids", DType::kI64, {batch, 1});
  const auto attend = [&](int64_t layer, ValueId x, ValueId) {
    const Heads h = project(w, c, x, {0, 2, 1, 3});
    const ValueId k = earlier.before(layer, "key", h.k), v = earlier.before(layer, "value", h.v);
    return weighted(w, c, scores(w, c, h.q, w.transpose(k, {0, 1, 3, 2})), v, residual_gain(c));
  };
  return earlier.finish(c.name, logits(w, c, ids, {keys - 1}, /*masked=*/false, attend));
}

}  // namespace

Graph build_gpt2(const BuilderSizes& sizes) { return build({"gpt2", 50257, 1024, 768, 12, 12, 128}, sizes); }
Graph build_gpt2_mini(const BuilderSizes& sizes) { return build({"gpt2-mini", 307, 64, 64, 4, 2, 16}, sizes); }
Graph build_gpt2_decode(const BuilderSizes& sizes) { return build_decode({"gpt2-decode", 50257, 1024, 768, 12, 12, 512}, "gpt2", sizes); }
Graph build_gpt2_decode_mini(const BuilderSizes& sizes) { return build_decode({"gpt2-decode-mini", 307, 64, 64, 4, 2, 16}, "gpt2-mini", sizes); }

}  // namespace amdahl

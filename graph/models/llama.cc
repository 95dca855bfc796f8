// LLaMA (Touvron et al. 2023), and a decode step of it: RMS norm, rotary positions, SwiGLU, no biases, untied output.

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
  int64_t vocabulary, context, width, hidden, heads, layers, seq;
};

ValueId rms_norm(LayerWriter& w, const std::string& name, ValueId x) {
  const ValueId mean_square = w.node("ReduceMean", {w.node("Pow", {x, w.scalar(2.0f)})}, {{"axes", std::vector<int64_t>{-1}}, {"keepdims", int64_t{1}}});
  const ValueId inverse = w.node("Div", {w.scalar(1.0f), w.node("Sqrt", {w.add(mean_square, w.scalar(1e-6f))})});
  return w.mul(w.norm_scale(name + ".weight", w.shape(x).back()), w.mul(x, inverse));
}

struct Rotary {
  ValueId cos, sin;  // [1, 1, seq, head]
};

// Frequencies 10000^(-2i/head), repeated for the second half of the head. Of `seq` positions from `first` on.
Rotary rotary_tables(LayerWriter& w, int64_t first, int64_t seq, int64_t head) {
  std::vector<float> cos, sin;
  for (int64_t p = first; p < first + seq; ++p)
    for (int64_t i = 0; i < head; ++i) {
      const double angle = static_cast<double>(p) * std::pow(10000.0, -2.0 * static_cast<double>(i % (head / 2)) / static_cast<double>(head));
      cos.push_back(static_cast<float>(std::cos(angle)));
      sin.push_back(static_cast<float>(std::sin(angle)));
    }
  return {w.constant("rotary.cos", Tensor::of(DType::kF32, {1, 1, seq, head}, cos)), w.constant("rotary.sin", Tensor::of(DType::kF32, {1, 1, seq, head}, sin))};
}

// x cos + (-x2, x1) sin, where x1 and x2 are the halves of the head.
ValueId rotate(LayerWriter& w, ValueId x, const Rotary& r) {
  const int64_t half = w.shape(x).back() / 2;
  const auto slice = [&](int64_t from, int64_t to) { return w.node("Slice", {x, w.int_list({from}), w.int_list({to}), w.int_list({3}), w.int_list({1})}); };
  const ValueId first = slice(0, half), second = slice(half, std::numeric_limits<int64_t>::max());
  const ValueId turned = w.node("Concat", {w.node("Neg", {second}), first}, {{"axis", int64_t{-1}}});
  return w.add(w.mul(x, r.cos), w.mul(turned, r.sin));
}

// 0 on and below the diagonal, the lowest float above.
Tensor causal_mask(int64_t n) {
  std::vector<float> mask(static_cast<size_t>(n * n), 0.0f);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = i + 1; j < n; ++j) mask[static_cast<size_t>(i * n + j)] = std::numeric_limits<float>::lowest();
  return Tensor::of(DType::kF32, {1, 1, n, n}, mask);
}

// [batch, heads, seq, head] of each, queries and keys at their positions.
struct Heads {
  ValueId q, k, v;
};
Heads project(LayerWriter& w, const Config& c, ValueId x, const Rotary& rotary) {
  const int64_t batch = w.shape(x)[0], seq = w.shape(x)[1], head = c.width / c.heads;
  const auto heads = [&](const char* name) { return w.transpose(w.reshape(w.linear(name, x, c.width, false), {batch, seq, c.heads, head}), {0, 2, 1, 3}); };
  const ValueId q = rotate(w, heads("q_proj"), rotary), k = rotate(w, heads("k_proj"), rotary), v = heads("v_proj");
  return {q, k, v};
}

// `mask`: causal_mask(), or kNoValue.
ValueId attention(LayerWriter& w, const Config& c, const Heads& h, ValueId mask, double residual_gain) {
  const ValueId product = w.node("MatMul", {h.q, w.transpose(h.k, {0, 1, 3, 2})});
  const ValueId scores = w.node("Div", {product, w.scalar(std::sqrt(static_cast<float>(c.width / c.heads)))});
  const ValueId weights = w.node("Softmax", {mask == kNoValue ? scores : w.add(scores, mask)}, {{"axis", int64_t{-1}}});
  const ValueId y = w.transpose(w.node("MatMul", {weights, h.v}), {0, 2, 1, 3});
  return w.linear("o_proj", w.reshape(y, {w.shape(y)[0], w.shape(y)[1], c.width}), c.width, false, residual_gain);
}

// down(silu(gate(x)) * up(x))
ValueId feed_forward(LayerWriter& w, const Config& c, ValueId x, double residual_gain) {
  const ValueId gate = w.linear("gate_proj", x, c.hidden, false), up = w.linear("up_proj", x, c.hidden, false);
  return w.linear("down_proj", w.mul(w.mul(gate, w.node("Sigmoid", {gate})), up), c.width, false, residual_gain);
}

// A layer's keys or values, those of earlier tokens and its own.
using BehindEarlier = std::function<ValueId(int64_t layer, const char* what, ValueId own)>;

ValueId logits(LayerWriter& w, const Config& c, ValueId ids, int64_t first_position, bool masked, const BehindEarlier& behind_earlier) {
  const int64_t seq = w.shape(ids)[1];
  const Rotary rotary = rotary_tables(w, first_position, seq, c.width / c.heads);
  const ValueId mask = masked ? w.constant("causal_mask", causal_mask(seq)) : kNoValue;
  ValueId x = w.node("Gather", {w.normal_weight("embed_tokens.weight", {c.vocabulary, c.width}, 1.0), ids}, {{"axis", int64_t{0}}});
  const double residual_gain = 1.0 / std::sqrt(2.0 * static_cast<double>(c.layers));
  for (int64_t i = 0; i < c.layers; ++i) {
    const std::string layer = "layers." + std::to_string(i);
    w.scope(layer);
    const ValueId a = rms_norm(w, "input_layernorm", x);
    w.scope(layer + ".self_attn");
    Heads h = project(w, c, a, rotary);
    h.k = behind_earlier(i, "key", h.k);
    h.v = behind_earlier(i, "value", h.v);
    x = w.add(x, attention(w, c, h, mask, residual_gain));
    w.scope(layer);
    const ValueId b = rms_norm(w, "post_attention_layernorm", x);
    w.scope(layer + ".mlp");
    // The product of gate and up has less than unit variance: doubled, so that the branch keeps its weight.
    x = w.add(x, feed_forward(w, c, b, 2.0 * residual_gain));
  }
  w.scope("");
  return w.linear("lm_head", rms_norm(w, "norm", x), c.vocabulary, false);
}

Graph build(const Config& c, const BuilderSizes& sizes) {
  reject_size(sizes.image, "--image", c.name);
  const int64_t batch = size_or(sizes.batch, 1, 1 << 16, "--batch", c.name), seq = size_or(sizes.seq, c.seq, c.context, "--seq", c.name);
  LayerWriter w(c.name);
  const ValueId ids = w.input("input_ids", DType::kI64, {batch, seq});
  const auto alone = [](int64_t, const char*, ValueId own) { return own; };
  return w.finish({{"logits", logits(w, c, ids, 0, /*masked=*/true, alone)}});
}

// `model`: whose weights it has.
Graph build_decode(const Config& c, const char* model, const BuilderSizes& sizes) {
  reject_size(sizes.image, "--image", c.name);
  const int64_t batch = size_or(sizes.batch, 1, 1 << 16, "--batch", c.name), keys = size_or(sizes.seq, c.seq, c.context, "--seq", c.name);
  LayerWriter w(model);
  EarlierTokens earlier(w, keys);
  const ValueId ids = w.input("input_ids", DType::kI64, {batch, 1});
  const auto behind_earlier = [&](int64_t layer, const char* what, ValueId own) { return earlier.before(layer, what, own); };
  return earlier.finish(c.name, logits(w, c, ids, keys - 1, /*masked=*/false, behind_earlier));
}

}  // namespace

Graph build_llama_160m(const BuilderSizes& sizes) { return build({"llama-160m", 32000, 2048, 768, 3072, 12, 12, 128}, sizes); }
Graph build_llama_mini(const BuilderSizes& sizes) { return build({"llama-mini", 307, 64, 64, 160, 4, 2, 16}, sizes); }
Graph build_llama_160m_decode(const BuilderSizes& sizes) {
  return build_decode({"llama-160m-decode", 32000, 2048, 768, 3072, 12, 12, 512}, "llama-160m", sizes);
}
Graph build_llama_decode_mini(const BuilderSizes& sizes) { return build_decode({"llama-decode-mini", 307, 64, 64, 160, 4, 2, 16}, "llama-mini", sizes); }

}  // namespace amdahl

// LLaMA (Touvron et al. 2023): RMS norm, rotary positions, SwiGLU, no biases, untied output.

#include <cmath>
#include <limits>

#include "graph/models/architectures.h"
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

// Frequencies 10000^(-2i/head), repeated for the second half of the head.
Rotary rotary_tables(LayerWriter& w, int64_t seq, int64_t head) {
  std::vector<float> cos, sin;
  for (int64_t p = 0; p < seq; ++p)
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

ValueId attention(LayerWriter& w, const Config& c, ValueId x, const Rotary& rotary, ValueId mask, double residual_gain) {
  const int64_t batch = w.shape(x)[0], seq = w.shape(x)[1], head = c.width / c.heads;
  const auto project = [&](const char* name) { return w.transpose(w.reshape(w.linear(name, x, c.width, false), {batch, seq, c.heads, head}), {0, 2, 1, 3}); };
  const ValueId q = rotate(w, project("q_proj"), rotary), k = rotate(w, project("k_proj"), rotary), v = project("v_proj");
  const ValueId product = w.node("MatMul", {q, w.transpose(k, {0, 1, 3, 2})});
  const ValueId scores = w.node("Div", {product, w.scalar(std::sqrt(static_cast<float>(head)))});
  const ValueId weights = w.node("Softmax", {w.add(scores, mask)}, {{"axis", int64_t{-1}}});
  const ValueId y = w.transpose(w.node("MatMul", {weights, v}), {0, 2, 1, 3});
  return w.linear("o_proj", w.reshape(y, {batch, seq, c.width}), c.width, false, residual_gain);
}

// down(silu(gate(x)) * up(x))
ValueId feed_forward(LayerWriter& w, const Config& c, ValueId x, double residual_gain) {
  const ValueId gate = w.linear("gate_proj", x, c.hidden, false), up = w.linear("up_proj", x, c.hidden, false);
  return w.linear("down_proj", w.mul(w.mul(gate, w.node("Sigmoid", {gate})), up), c.width, false, residual_gain);
}

Graph build(const Config& c, const BuilderSizes& sizes) {
  reject_size(sizes.image, "--image", c.name);
  const int64_t batch = size_or(sizes.batch, 1, 1 << 16, "--batch", c.name), seq = size_or(sizes.seq, c.seq, c.context, "--seq", c.name);
  LayerWriter w(c.name);
  const ValueId ids = w.input("input_ids", DType::kI64, {batch, seq});
  const Rotary rotary = rotary_tables(w, seq, c.width / c.heads);
  const ValueId mask = w.constant("causal_mask", causal_mask(seq));
  ValueId x = w.node("Gather", {w.normal_weight("embed_tokens.weight", {c.vocabulary, c.width}, 1.0), ids}, {{"axis", int64_t{0}}});
  const double residual_gain = 1.0 / std::sqrt(2.0 * static_cast<double>(c.layers));
  for (int64_t i = 0; i < c.layers; ++i) {
    const std::string layer = "layers." + std::to_string(i);
    w.scope(layer);
    const ValueId a = rms_norm(w, "input_layernorm", x);
    w.scope(layer + ".self_attn");
    x = w.add(x, attention(w, c, a, rotary, mask, residual_gain));
    w.scope(layer);
    const ValueId b = rms_norm(w, "post_attention_layernorm", x);
    w.scope(layer + ".mlp");
    // The product of gate and up has less than unit variance: doubled, so that the branch keeps its weight.
    x = w.add(x, feed_forward(w, c, b, 2.0 * residual_gain));
  }
  w.scope("");
  return w.finish({{"logits", w.linear("lm_head", rms_norm(w, "norm", x), c.vocabulary, false)}});
}

}  // namespace

Graph build_llama_160m(const BuilderSizes& sizes) { return build({"llama-160m", 32000, 2048, 768, 3072, 12, 12, 128}, sizes); }
Graph build_llama_mini(const BuilderSizes& sizes) { return build({"llama-mini", 307, 64, 64, 160, 4, 2, 16}, sizes); }

}  // namespace amdahl

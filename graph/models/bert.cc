// BERT (Devlin et al. 2018), post-norm, with attention mask, token types and pooler.

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

constexpr double kEpsilon = 1e-12;

// 0 where attention_mask is 1, the lowest float where it is 0; [batch, 1, 1, seq].
ValueId additive_mask(LayerWriter& w, ValueId attention_mask) {
  const ValueId spread = w.node("Unsqueeze", {w.node("Unsqueeze", {attention_mask, w.int_list({1})}), w.int_list({2})});
  const ValueId as_float = w.node("Cast", {spread}, {{"to", int64_t{1}}});
  return w.mul(w.node("Sub", {w.scalar(1.0f), as_float}), w.scalar(std::numeric_limits<float>::lowest()));
}

ValueId self_attention(LayerWriter& w, const Config& c, ValueId x, ValueId mask) {
  const int64_t batch = w.shape(x)[0], seq = w.shape(x)[1], head = c.width / c.heads;
  const auto project = [&](const char* name, const std::vector<int64_t>& perm) {
    return w.transpose(w.reshape(w.linear(name, x, c.width), {batch, seq, c.heads, head}), perm);
  };
  const ValueId q = project("query", {0, 2, 1, 3}), k = project("key", {0, 2, 3, 1}), v = project("value", {0, 2, 1, 3});
  const ValueId scores = w.node("Div", {w.node("MatMul", {q, k}), w.scalar(std::sqrt(static_cast<float>(head)))});
  const ValueId weights = w.node("Softmax", {w.add(scores, mask)}, {{"axis", int64_t{-1}}});
  return w.reshape(w.transpose(w.node("MatMul", {weights, v}), {0, 2, 1, 3}), {batch, seq, c.width});
}

Graph build(const Config& c, const BuilderSizes& sizes) {
  reject_size(sizes.image, "--image", c.name);
  const int64_t batch = size_or(sizes.batch, 1, 1 << 16, "--batch", c.name), seq = size_or(sizes.seq, c.seq, c.context, "--seq", c.name);
  LayerWriter w(c.name);
  const ValueId ids = w.input("input_ids", DType::kI64, {batch, seq}), attention_mask = w.input("attention_mask", DType::kI64, {batch, seq}),
                types = w.input("token_type_ids", DType::kI64, {batch, seq});
  w.scope("embeddings");
  std::vector<int64_t> positions;
  for (int64_t i = 0; i < seq; ++i) positions.push_back(i);
  const ValueId position_ids = w.constant("position_ids", Tensor::of(DType::kI64, {1, seq}, positions));
  const auto embed = [&](const char* name, int64_t rows, double deviation, ValueId index) {
    return w.node("Gather", {w.normal_weight(std::string(name) + ".weight", {rows, c.width}, deviation), index}, {{"axis", int64_t{0}}});
  };
  ValueId x = w.add(embed("word_embeddings", c.vocabulary, 1.0, ids), embed("token_type_embeddings", 2, 0.5, types));
  x = w.layer_norm("LayerNorm", w.add(x, embed("position_embeddings", c.context, 0.5, position_ids)), kEpsilon);
  w.scope("encoder");
  const ValueId mask = additive_mask(w, attention_mask);
  for (int64_t i = 0; i < c.layers; ++i) {
    const std::string layer = "encoder.layer." + std::to_string(i);
    w.scope(layer + ".attention.self");
    const ValueId attended = self_attention(w, c, x, mask);
    w.scope(layer + ".attention.output");
    x = w.layer_norm("LayerNorm", w.add(w.linear("dense", attended, c.width), x), kEpsilon);
    w.scope(layer + ".intermediate");
    const ValueId hidden = w.gelu_erf(w.linear("dense", x, 4 * c.width));
    w.scope(layer + ".output");
    x = w.layer_norm("LayerNorm", w.add(w.linear("dense", hidden, c.width), x), kEpsilon);
  }
  w.scope("pooler");
  const ValueId first = w.constant("first_token", Tensor::of<int64_t>(DType::kI64, {}, {0}));
  const ValueId pooled = w.node("Tanh", {w.gemm("dense", w.node("Gather", {x, first}, {{"axis", int64_t{1}}}), c.width)});
  return w.finish({{"last_hidden_state", x}, {"pooler_output", pooled}});
}

}  // namespace

Graph build_bert_base(const BuilderSizes& sizes) { return build({"bert-base", 30522, 512, 768, 12, 12, 128}, sizes); }
Graph build_bert_mini(const BuilderSizes& sizes) { return build({"bert-mini", 307, 64, 64, 4, 2, 16}, sizes); }

}  // namespace amdahl

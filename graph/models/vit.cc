// ViT-B/16 (Dosovitskiy et al. 2020): patches by a strided convolution, class token, pre-norm, fused QKV.

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "graph/models/architectures.h"
#include "graph/models/layer_writer.h"

namespace amdahl {
namespace {

struct Config {
  const char* name;
  int64_t patch, width, heads, layers, classes, image;
};

using Ints = std::vector<int64_t>;

// [batch, 3, image, image] -> [batch, 1 + patches, width]
ValueId embed_patches(LayerWriter& w, const Config& c, ValueId image) {
  const int64_t batch = w.shape(image)[0], grid = w.shape(image)[2] / c.patch, fan_in = 3 * c.patch * c.patch;
  w.scope("patch_embed.proj");
  const ValueId weight = w.normal_weight("weight", {c.width, 3, c.patch, c.patch}, 1.0 / std::sqrt(static_cast<double>(fan_in)));
  const ValueId planes = w.node("Conv", {image, weight, w.bias("bias", c.width)},
                                {{"dilations", Ints{1, 1}},
                                 {"group", int64_t{1}},
                                 {"kernel_shape", Ints{c.patch, c.patch}},
                                 {"pads", Ints{0, 0, 0, 0}},
                                 {"strides", Ints{c.patch, c.patch}}});
  w.scope("");
  const ValueId patches = w.transpose(w.reshape(planes, {batch, c.width, grid * grid}), {0, 2, 1});
  const ValueId token = w.node("Expand", {w.normal_weight("cls_token", {1, 1, c.width}, 0.5), w.int_list({batch, 1, c.width})});
  const ValueId x = w.node("Concat", {token, patches}, {{"axis", int64_t{1}}});
  return w.add(x, w.normal_weight("pos_embed", {1, 1 + grid * grid, c.width}, 0.5));
}

ValueId attention(LayerWriter& w, const Config& c, ValueId x, double residual_gain) {
  const int64_t batch = w.shape(x)[0], tokens = w.shape(x)[1], head = c.width / c.heads;
  const ValueId qkv = w.reshape(w.linear("qkv", x, 3 * c.width), {batch, tokens, 3, c.heads, head});
  const auto parts = w.node_with_outputs(3, "Split", {w.transpose(qkv, {2, 0, 3, 1, 4}), w.int_list({1, 1, 1})}, {{"axis", int64_t{0}}});
  const auto part = [&](size_t i) { return w.node("Squeeze", {parts[i], w.int_list({0})}); };
  const ValueId q = w.mul(part(0), w.scalar(1.0f / std::sqrt(static_cast<float>(head))));
  const ValueId scores = w.node("MatMul", {q, w.transpose(part(1), {0, 1, 3, 2})});
  const ValueId weights = w.node("Softmax", {scores}, {{"axis", int64_t{-1}}});
  const ValueId y = w.transpose(w.node("MatMul", {weights, part(2)}), {0, 2, 1, 3});
  return w.linear("proj", w.reshape(y, {batch, tokens, c.width}), c.width, true, residual_gain);
}

Graph build(const Config& c, const BuilderSizes& sizes) {
  reject_size(sizes.seq, "--seq", c.name);
  const int64_t batch = size_or(sizes.batch, 1, 1 << 16, "--batch", c.name), image = size_or(sizes.image, c.image, 1 << 14, "--image", c.name);
  if (image % c.patch != 0) throw Error(ExitCode::kUsage, fmt::format("--image {} for {}: a multiple of the patch size {} is needed", image, c.name, c.patch));
  LayerWriter w(c.name);
  ValueId x = embed_patches(w, c, w.input("input", DType::kF32, {batch, 3, image, image}));
  const double residual_gain = 1.0 / std::sqrt(2.0 * static_cast<double>(c.layers));
  for (int64_t i = 0; i < c.layers; ++i) {
    const std::string block = "blocks." + std::to_string(i);
    w.scope(block);
    const ValueId a = w.layer_norm("norm1", x, 1e-6);
    w.scope(block + ".attn");
    x = w.add(x, attention(w, c, a, residual_gain));
    w.scope(block);
    const ValueId b = w.layer_norm("norm2", x, 1e-6);
    w.scope(block + ".mlp");
    x = w.add(x, w.linear("fc2", w.gelu_erf(w.linear("fc1", b, 4 * c.width)), c.width, true, residual_gain));
  }
  w.scope("");
  const ValueId first = w.constant("first_token", Tensor::of<int64_t>(DType::kI64, {}, {0}));
  const ValueId token = w.node("Gather", {w.layer_norm("norm", x, 1e-6), first}, {{"axis", int64_t{1}}});
  return w.finish({{"output", w.gemm("head", token, c.classes)}});
}

}  // namespace

Graph build_vit_b16(const BuilderSizes& sizes) { return build({"vit-b16", 16, 768, 12, 12, 1000, 224}, sizes); }
Graph build_vit_mini(const BuilderSizes& sizes) { return build({"vit-mini", 8, 64, 4, 2, 10, 32}, sizes); }

}  // namespace amdahl

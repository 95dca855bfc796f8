// MobileNetV2 (Sandler et al. 2018) at width 1, batch normalisation folded as exporters do; ReLU6 is a Clip.

#include <cmath>

#include "graph/models/architectures.h"
#include "graph/models/layer_writer.h"

namespace amdahl {
namespace {

// Inverted residuals: `repeat` blocks of `channels`, the first with `stride`, each expanding its input `expand` times.
struct Stage {
  int64_t expand, channels, repeat, stride;
};

struct Config {
  const char* name;
  int64_t stem;
  std::vector<Stage> stages;
  int64_t last, classes, image;
};

using Ints = std::vector<int64_t>;

ValueId conv(LayerWriter& w, const std::string& name, ValueId x, int64_t out, int64_t kernel, int64_t stride, int64_t groups, double gain) {
  const int64_t in = w.shape(x)[1] / groups, pad = kernel / 2;
  const double deviation = gain / std::sqrt(static_cast<double>(in * kernel * kernel));
  return w.node("Conv", {x, w.normal_weight(name + ".weight", {out, in, kernel, kernel}, deviation), w.bias(name + ".bias", out)},
                {{"dilations", Ints{1, 1}},
                 {"group", groups},
                 {"kernel_shape", Ints{kernel, kernel}},
                 {"pads", Ints{pad, pad, pad, pad}},
                 {"strides", Ints{stride, stride}}});
}

ValueId conv_relu6(LayerWriter& w, const std::string& name, ValueId x, int64_t out, int64_t kernel, int64_t stride, int64_t groups = 1) {
  const ValueId y = conv(w, name, x, out, kernel, stride, groups, std::sqrt(2.0));
  return w.node("Clip", {y, w.scalar(0.0f), w.scalar(6.0f)});
}

ValueId inverted_residual(LayerWriter& w, ValueId x, const Stage& s, int64_t stride) {
  const int64_t in = w.shape(x)[1], hidden = in * s.expand;
  ValueId y = s.expand == 1 ? x : conv_relu6(w, "expand", x, hidden, 1, 1);
  y = conv_relu6(w, "depthwise", y, hidden, 3, stride, hidden);
  y = conv(w, "project", y, s.channels, 1, 1, 1, 1.0);
  return stride == 1 && in == s.channels ? w.add(x, y) : y;
}

Graph build(const Config& c, const BuilderSizes& sizes) {
  reject_size(sizes.seq, "--seq", c.name);
  const int64_t batch = size_or(sizes.batch, 1, 1 << 16, "--batch", c.name), image = size_or(sizes.image, c.image, 1 << 14, "--image", c.name);
  LayerWriter w(c.name);
  ValueId x = w.input("input", DType::kF32, {batch, 3, image, image});
  x = conv_relu6(w, "features.0", x, c.stem, 3, 2);
  int block = 1;
  for (const Stage& s : c.stages)
    for (int64_t i = 0; i < s.repeat; ++i) {
      w.scope("features." + std::to_string(block++));
      x = inverted_residual(w, x, s, i == 0 ? s.stride : 1);
    }
  w.scope("");
  x = conv_relu6(w, "features." + std::to_string(block), x, c.last, 1, 1);
  x = w.node("Flatten", {w.node("GlobalAveragePool", {x})}, {{"axis", int64_t{1}}});
  return w.finish({{"output", w.gemm("classifier", x, c.classes)}});
}

}  // namespace

Graph build_mobilenet_v2(const BuilderSizes& sizes) {
  return build(
      {"mobilenet-v2", 32, {{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2}, {6, 64, 4, 2}, {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}}, 1280, 1000, 224},
      sizes);
}
Graph build_mobilenet_mini(const BuilderSizes& sizes) {
  return build({"mobilenet-mini", 8, {{1, 8, 1, 1}, {6, 12, 2, 2}, {6, 16, 2, 2}, {6, 24, 1, 1}}, 64, 10, 32}, sizes);
}

}  // namespace amdahl

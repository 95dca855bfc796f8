// ResNet-50 (He et al. 2015, with the stride in the 3x3 convolution as torchvision has it). Exporters fold batch
// normalisation into the convolutions in eval mode, so every Conv here has a bias and no BatchNormalization is left.

#include <cmath>

#include "graph/models/architectures.h"
#include "graph/models/layer_writer.h"

namespace amdahl {
namespace {

struct Config {
  const char* name;
  std::vector<int64_t> blocks;
  int64_t width, classes, image;
};

using Ints = std::vector<int64_t>;

// `gain` 1 keeps the variance through Conv and Relu (He initialisation).
ValueId conv(LayerWriter& w, const std::string& name, ValueId x, int64_t out, int64_t kernel, int64_t stride, double gain = 1.0) {
  const int64_t in = w.shape(x)[1], pad = kernel / 2;
  const double deviation = gain * std::sqrt(2.0 / static_cast<double>(in * kernel * kernel));
  return w.node("Conv", {x, w.normal_weight(name + ".weight", {out, in, kernel, kernel}, deviation), w.bias(name + ".bias", out)},
                {{"dilations", Ints{1, 1}},
                 {"group", int64_t{1}},
                 {"kernel_shape", Ints{kernel, kernel}},
                 {"pads", Ints{pad, pad, pad, pad}},
                 {"strides", Ints{stride, stride}}});
}

ValueId bottleneck(LayerWriter& w, ValueId x, int64_t width, int64_t stride) {
  const ValueId a = w.node("Relu", {conv(w, "conv1", x, width, 1, 1)});
  const ValueId b = w.node("Relu", {conv(w, "conv2", a, width, 3, stride)});
  const ValueId c = conv(w, "conv3", b, 4 * width, 1, 1, 0.5);  // half: sixteen sums would grow otherwise
  const bool same = stride == 1 && w.shape(x)[1] == 4 * width;
  return w.node("Relu", {w.add(c, same ? x : conv(w, "downsample.0", x, 4 * width, 1, stride, std::sqrt(0.5)))});
}

Graph build(const Config& c, const BuilderSizes& sizes) {
  reject_size(sizes.seq, "--seq", c.name);
  const int64_t batch = size_or(sizes.batch, 1, 1 << 16, "--batch", c.name), image = size_or(sizes.image, c.image, 1 << 14, "--image", c.name);
  LayerWriter w(c.name);
  ValueId x = w.input("input", DType::kF32, {batch, 3, image, image});
  x = w.node("Relu", {conv(w, "conv1", x, c.width, 7, 2)});
  x = w.node("MaxPool", {x},
             {{"ceil_mode", int64_t{0}}, {"dilations", Ints{1, 1}}, {"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{2, 2}}});
  for (size_t stage = 0; stage < c.blocks.size(); ++stage)
    for (int64_t block = 0; block < c.blocks[stage]; ++block) {
      w.scope("layer" + std::to_string(stage + 1) + "." + std::to_string(block));
      x = bottleneck(w, x, c.width << stage, stage > 0 && block == 0 ? 2 : 1);
    }
  w.scope("");
  x = w.node("Flatten", {w.node("GlobalAveragePool", {x})}, {{"axis", int64_t{1}}});
  return w.finish({{"output", w.gemm("fc", x, c.classes)}});
}

}  // namespace

Graph build_resnet50(const BuilderSizes& sizes) { return build({"resnet50", {3, 4, 6, 3}, 64, 1000, 224}, sizes); }
Graph build_resnet_mini(const BuilderSizes& sizes) { return build({"resnet50-mini", {1, 2, 1, 1}, 8, 10, 64}, sizes); }

}  // namespace amdahl

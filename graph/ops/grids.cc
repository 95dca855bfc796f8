// Images: AffineGrid, Col2Im, CenterCropPad, MaxUnpool.

#include <fmt/format.h>

#include <algorithm>

#include "graph/expansion.h"
#include "graph/ops/composed.h"
#include "graph/ops/sizes.h"

namespace amdahl {
namespace {

// Where the pixels of a row of `size` lie in [-1, 1].
std::vector<double> places(int64_t size, bool corners) {
  std::vector<double> all;
  const auto n = static_cast<double>(size);
  for (int64_t i = 0; i < size; ++i) {
    const auto x = static_cast<double>(i);
    all.push_back(corners ? (size == 1 ? -1 : -1 + 2 * x / (n - 1)) : (2 * x + 1) / n - 1);
  }
  return all;
}

// [pixels, dimensions + 1]: x first, and a one.
Tensor pixels(const Shape& image, bool corners, DType type) {
  const int64_t count = numel(image);
  const size_t width = image.size() + 1;
  std::vector<double> all(static_cast<size_t>(count) * width, 1);
  int64_t inner = count;
  for (size_t d = 0; d < image.size(); ++d) {
    const std::vector<double> along = places(image[d], corners);
    inner /= image[d];
    for (int64_t p = 0; p < count; ++p) all[static_cast<size_t>(p) * width + image.size() - 1 - d] = along[static_cast<size_t>(p / inner % image[d])];
  }
  return from_doubles(type, {count, static_cast<int64_t>(width)}, all);
}

// theta [batch, dimensions, dimensions + 1], size
void expand_affine_grid(Expansion& e) {
  const std::vector<int64_t> size = to_ints(e.constant_in(1, "the size"));
  const Shape theta = e.shape(e.in(0));
  if (size.size() < 4 || std::any_of(size.begin(), size.end(), [](int64_t n) { return n < 1; })) throw Refusal(fmt::format("a size of {}", to_string(size)));
  Shape image(size.begin() + 2, size.end());
  require_possible(image, DType::kF64);
  const auto rank = static_cast<int64_t>(image.size());
  if (theta != Shape{size[0], rank, rank + 1}) throw Refusal(fmt::format("theta {} for a size of {}", to_string(theta), to_string(size)));
  const ValueId grid = e.constant("grid", pixels(image, e.node.attr_int("align_corners", 0) != 0, e.dtype(e.in(0))));
  image.insert(image.begin(), size[0]);
  image.push_back(rank);
  e.set_output(0, e.reshape(e.add("MatMul", {grid, e.transpose(e.in(0), {0, 2, 1})}), image));
}

// How blocks lie in an image.
struct Blocks {
  Shape image, block, strides, dilations, pads, count;

  Blocks(const Node& node, Shape of_image, Shape of_block) : image(std::move(of_image)), block(std::move(of_block)) {
    const size_t n = image.size();
    strides = node.attr_ints("strides", Shape(n, 1)), dilations = node.attr_ints("dilations", Shape(n, 1)), pads = node.attr_ints("pads", Shape(2 * n, 0));
    if (n < 1 || block.size() != n || strides.size() != n || dilations.size() != n || pads.size() != 2 * n)
      throw Refusal(fmt::format("blocks {} of an image {}", to_string(block), to_string(image)));
    for (size_t d = 0; d < n; ++d) {
      if (image[d] < 1 || block[d] < 1 || strides[d] < 1 || dilations[d] < 1) throw Refusal("a dimension, stride or dilation is not positive");
      const int64_t free = image[d] + pads[d] + pads[n + d] - dilations[d] * (block[d] - 1) - 1;
      if (free < 0) throw Refusal(fmt::format("blocks of {} are larger than the padded image", to_string(block)));
      count.push_back(free / strides[d] + 1);
    }
  }
  // Of element `at` of block `number`: its place in the image, or beside it one place after the last.
  int64_t place(int64_t at, int64_t number) const {
    int64_t place = 0, scale = 1;
    for (size_t d = image.size(); d-- > 0;) {
      const int64_t x = number % count[d] * strides[d] + at % block[d] * dilations[d] - pads[d];
      if (x < 0 || x >= image[d]) return numel(image);
      place += x * scale;
      scale *= image[d], number /= count[d], at /= block[d];
    }
    return place;
  }
};

// input [batch, channels * elements of a block, blocks], image_shape, block_shape: what lies on one another is added up.
void expand_col2im(Expansion& e) {
  const Blocks b(e.node, to_ints(e.constant_in(1, "image_shape")), to_ints(e.constant_in(2, "block_shape")));
  const Shape x = e.shape(e.in(0));
  const int64_t elements = numel(b.block), blocks = numel(b.count), size = numel(b.image);
  if (x.size() != 3 || x[1] % elements != 0 || x[2] != blocks)
    throw Refusal(fmt::format("{} is not {} blocks of {} elements for each channel", to_string(x), blocks, elements));
  require_possible({elements, blocks}, DType::kI64);
  std::vector<int64_t> to;
  for (int64_t at = 0; at < elements; ++at)
    for (int64_t n = 0; n < blocks; ++n) to.push_back(b.place(at, n));
  const int64_t images = x[0] * x[1] / elements, parts = elements * blocks;
  const ValueId rows = e.transpose(e.reshape(e.in(0), {images, parts}), {1, 0});
  const ValueId none = e.add("Expand", {e.scalar(e.dtype(rows), 0), e.ints({size + 1, images})});
  const ValueId sums = e.add("ScatterND", {none, e.constant("places", from_ints(DType::kI64, {parts, 1}, to)), rows}, {{"reduction", std::string("add")}});
  const ValueId kept = e.add("Slice", {sums, e.ints({0}), e.ints({size}), e.ints({0})});
  Shape image{x[0], x[1] / elements};
  image.insert(image.end(), b.image.begin(), b.image.end());
  e.set_output(0, e.reshape(e.transpose(kept, {1, 0}), image));
}

// input, shape: cut or padded with zeros on both sides.
void expand_center_crop_pad(Expansion& e) {
  const std::vector<int64_t> target = to_ints(e.constant_in(1, "the shape"));
  const Shape x = e.shape(e.in(0));
  std::vector<int64_t> axes = e.node.attr_ints("axes");
  if (!e.node.has("axes"))
    for (size_t d = 0; d < x.size(); ++d) axes.push_back(static_cast<int64_t>(d));
  if (axes.size() != target.size()) throw Refusal(fmt::format("{} sizes for {} axes", target.size(), axes.size()));
  std::vector<int64_t> starts(x.size(), 0), ends = x, pads(2 * x.size(), 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    const size_t d = e.axis_of(axes[i], x.size(), "axis");
    if (target[i] < 0) throw Refusal(fmt::format("a size of {}", target[i]));
    const int64_t less = std::max<int64_t>(0, x[d] - target[i]), more = std::max<int64_t>(0, target[i] - x[d]);
    starts[d] = less / 2, ends[d] = x[d] - (less - less / 2);
    pads[d] = more / 2, pads[x.size() + d] = more - more / 2;
  }
  e.set_output(0, e.add("Pad", {e.add("Slice", {e.in(0), e.ints(starts), e.ints(ends)}), e.ints(pads)}));
}

// Of an image before it was pooled: what MaxPool's windows would have been taken from.
Shape unpooled(const Node& node, const Shape& x) {
  const size_t n = x.size() < 2 ? 0 : x.size() - 2;
  const std::vector<int64_t> kernel = node.attr_ints("kernel_shape"), strides = node.attr_ints("strides", Shape(n, 1)),
                             pads = node.attr_ints("pads", Shape(2 * n, 0));
  if (n < 1 || kernel.size() != n || strides.size() != n || pads.size() != 2 * n)
    throw Refusal(fmt::format("windows of {} dimensions for {}", kernel.size(), to_string(x)));
  Shape shape = x;
  for (size_t d = 0; d < n; ++d) {
    const int64_t further = checked_sum(kernel[d], -checked_sum(pads[d], pads[n + d]));
    shape[d + 2] = checked_sum(checked_product(x[d + 2] - 1, strides[d]), further);
    if (shape[d + 2] < 1) throw Refusal(fmt::format("nothing is left of {}", to_string(x)));
  }
  return shape;
}

// X, where each element lies in the whole image, output_shape: all others are zero. Places count in the image that the windows say; a larger output_shape has it
// at its beginning.
void expand_max_unpool(Expansion& e) {
  const Shape x = e.shape(e.in(0)), image = unpooled(e.node, x), out = e.has_input(2) ? to_ints(e.constant_in(2, "output_shape")) : image;
  if (e.shape(e.in(1)) != x || numel(x) == 0) throw Refusal(fmt::format("places {} for {}", to_string(e.shape(e.in(1))), to_string(x)));
  std::vector<int64_t> pads(2 * x.size(), 0);
  for (size_t d = 0; d < x.size(); ++d) {
    if (out.size() != x.size() || out[d] < image[d] || (d < 2 && out[d] != image[d]))
      throw Refusal(fmt::format("an output_shape of {} for an image {}", to_string(out), to_string(image)));
    pads[x.size() + d] = out[d] - image[d];
  }
  require_possible(out, e.dtype(e.in(0)));
  const int64_t count = numel(x), size = numel(image);
  const ValueId last = e.scalar(DType::kI64, static_cast<double>(size - 1));
  const ValueId places = e.add("Clip", {e.reshape(e.cast(e.in(1), DType::kI64), {count}), e.scalar(DType::kI64, 0), last});
  const ValueId none = e.add("Expand", {e.scalar(e.dtype(e.in(0)), 0), e.ints({size})});
  const ValueId y = e.reshape(e.add("ScatterElements", {none, places, e.reshape(e.in(0), {count})}), image);
  e.set_output(0, out == image ? y : e.add("Pad", {y, e.ints(pads)}));
}

}  // namespace

std::vector<OpDef> grids_ops() {
  return {
      made_of_others("", "AffineGrid", "fi", expand_affine_grid),
      made_of_others("", "Col2Im", "nii", expand_col2im),
      made_of_others("", "CenterCropPad", "ai", expand_center_crop_pad),
      made_of_others("", "MaxUnpool", "fiI", expand_max_unpool),
  };
}

}  // namespace amdahl

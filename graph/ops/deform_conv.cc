// DeformConv: a product of weights with what GridSample reads at positions that are moved by offsets.

#include <fmt/format.h>

#include <algorithm>

#include "graph/expansion.h"
#include "graph/ops/composed.h"
#include "graph/ops/sizes.h"

namespace amdahl {
namespace {

// X, W, offset, B, mask; n spatial dimensions.
struct Deformed {
  Shape x, w, out, kernel, strides, dilations, pads;  // out: of the spatial dimensions
  int64_t group, offset_group, taps, points;
  size_t n;

  explicit Deformed(Expansion& e) : x(e.shape(e.in(0))), w(e.shape(e.in(1))) {
    const Shape offset = e.shape(e.in(2));
    if (x.size() < 3 || x.size() > 5 || w.size() != x.size() || offset.size() != x.size())
      throw Refusal(fmt::format("an input {}, weights {} and offsets {}", to_string(x), to_string(w), to_string(offset)));
    n = x.size() - 2;
    kernel.assign(w.begin() + 2, w.end()), out.assign(offset.begin() + 2, offset.end());
    strides = e.node.attr_ints("strides", Shape(n, 1)), dilations = e.node.attr_ints("dilations", Shape(n, 1)),
    pads = e.node.attr_ints("pads", Shape(2 * n, 0));
    group = e.node.attr_int("group", 1), offset_group = e.node.attr_int("offset_group", 1);
    taps = numel(kernel), points = numel(out);
    if (strides.size() != n || dilations.size() != n || pads.size() != 2 * n || e.node.attr_ints("kernel_shape", kernel) != kernel)
      throw Refusal(fmt::format("attributes of other windows than the weights' {}", to_string(w)));
    if (group < 1 || offset_group < 1 || x[1] != w[1] * group || w[0] % group != 0 || x[1] % offset_group != 0)
      throw Refusal(fmt::format("{} groups and {} of offsets, for {} channels and weights {}", group, offset_group, x[1], to_string(w)));
    if (numel(x) == 0 || numel(w) == 0) throw Refusal("an empty image or no weights");
    if (offset[0] != x[0] || offset[1] != offset_group * taps * static_cast<int64_t>(n)) throw Refusal(fmt::format("offsets {}", to_string(offset)));
    for (size_t d = 0; d < n; ++d) {
      if (strides[d] < 1 || dilations[d] < 1 || pads[d] < 0 || pads[n + d] < 0) throw Refusal("a stride or dilation is not positive, or a pad negative");
      const int64_t room = checked_sum(x[d + 2], checked_sum(pads[d], pads[n + d])),
                    free = checked_sum(room, -checked_product(dilations[d], kernel[d] - 1)) - 1;
      if (free < 0 || free / strides[d] + 1 != out[d]) throw Refusal(fmt::format("offsets {} for an input {}", to_string(offset), to_string(x)));
    }
  }

  // With the position of every tap where nothing is moved, in GridSample's terms: [1, 1, taps, out..., n], the last dimension of the image first.
  Tensor places(DType dtype) const {
    std::vector<double> all;
    for (int64_t tap = 0; tap < taps; ++tap)
      for (int64_t point = 0; point < points; ++point) {
        int64_t t = tap, p = point;
        for (size_t d = n; d-- > 0; t /= kernel[d], p /= out[d]) {
          const auto at = static_cast<double>(p % out[d] * strides[d] - pads[d] + t % kernel[d] * dilations[d]);
          all.push_back((2 * at + 1) / static_cast<double>(x[d + 2]) - 1);
        }
      }
    Shape shape{1, 1, taps};
    shape.insert(shape.end(), out.begin(), out.end());
    shape.push_back(static_cast<int64_t>(n));
    return from_doubles(dtype, shape, all);
  }
  Tensor scales(DType dtype) const {
    std::vector<double> all;
    for (size_t d = n; d-- > 0;) all.push_back(2 / static_cast<double>(x[d + 2]));
    return from_doubles(dtype, {static_cast<int64_t>(n)}, all);
  }
};

// Halves would move positions: grids are floats.
ValueId grid_of(Expansion& e, const Deformed& f) {
  const ValueId given = e.in(2);
  const DType dtype = e.dtype(given) == DType::kF64 ? DType::kF64 : DType::kF32;
  const auto dimensions = static_cast<int64_t>(f.n);
  Shape split{f.x[0], f.offset_group, f.taps, dimensions};
  split.insert(split.end(), f.out.begin(), f.out.end());
  std::vector<int64_t> perm{0, 1, 2};
  for (int64_t d = 0; d < dimensions; ++d) perm.push_back(4 + d);
  perm.push_back(3);
  ValueId offset = e.reshape(e.cast(given, dtype), split);
  if (f.n > 1) offset = e.add("Slice", {offset, e.ints({-1}), e.ints({-dimensions - 1}), e.ints({3}), e.ints({-1})});
  const ValueId moved = e.add("Mul", {e.transpose(offset, perm), e.constant("scales", f.scales(dtype))});
  Shape grid{f.x[0] * f.offset_group, f.taps * f.out[0]};
  grid.insert(grid.end(), f.out.begin() + 1, f.out.end());
  grid.push_back(dimensions);
  return e.reshape(e.add("Add", {moved, e.constant("places", f.places(dtype))}), grid);
}

void expand_deform_conv(Expansion& e) {
  const Deformed f(e);
  require_possible({f.x[0], f.x[1], f.taps, f.points}, e.dtype(e.in(0)));
  Shape images{f.x[0] * f.offset_group, f.x[1] / f.offset_group};
  images.insert(images.end(), f.x.begin() + 2, f.x.end());
  ValueId read = e.add("GridSample", {e.reshape(e.in(0), images), grid_of(e, f)}, {{"mode", std::string("linear")}});
  if (e.has_input(4)) {
    const ValueId mask = e.reshape(e.in(4), {f.x[0], f.offset_group, 1, f.taps, f.points});
    read = e.add("Mul", {e.reshape(read, {f.x[0], f.offset_group, images[1], f.taps, f.points}), mask});
  }
  const int64_t terms = f.w[1] * f.taps;
  const bool is_one = f.group == 1;
  const ValueId columns = e.reshape(read, is_one ? Shape{f.x[0], terms, f.points} : Shape{f.x[0], f.group, terms, f.points});
  const ValueId weights = e.reshape(e.in(1), is_one ? Shape{f.w[0], terms} : Shape{f.group, f.w[0] / f.group, terms});
  Shape out{f.x[0], f.w[0]}, bias(f.n + 1, 1);
  out.insert(out.end(), f.out.begin(), f.out.end());
  bias[0] = f.w[0];
  ValueId y = e.reshape(e.add("MatMul", {weights, columns}), out);
  if (e.has_input(3)) y = e.add("Add", {y, e.reshape(e.in(3), bias)});
  e.set_output(0, y);
}

}  // namespace

std::vector<OpDef> deform_conv_ops() {
  return {
      made_of_others("", "DeformConv", "fffFF", expand_deform_conv),
  };
}

}  // namespace amdahl

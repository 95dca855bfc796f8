#include "graph/ops/window_geometry.h"

#include <fmt/format.h>

#include <algorithm>

#include "graph/ops/sizes.h"

namespace amdahl {
namespace {

void fill(std::array<int64_t, 3>& to, const std::vector<int64_t>& values, int rank, const char* what) {
  if (values.empty()) return;
  if (static_cast<int>(values.size()) != rank) throw Refusal(fmt::format("{} has {} entries for {} spatial dimensions", what, values.size(), rank));
  for (int64_t v : values)
    if (v > INT32_MAX || v < INT32_MIN) throw Refusal(fmt::format("{} of {} is impossible", what, v));
  std::copy(values.begin(), values.end(), to.begin() + (3 - rank));
}

// Everything but pads and output sizes.
WindowGeometry common(const Node& node, const Shape& x, const Shape& kernel) {
  WindowGeometry g;
  g.rank = static_cast<int>(x.size()) - 2;
  if (g.rank < 1 || g.rank > 3) throw Refusal(fmt::format("input of rank {}; one to three spatial dimensions are supported", x.size()));
  std::copy(x.begin() + 2, x.end(), g.in.begin() + (3 - g.rank));
  const Shape kernel_shape = node.attr_ints("kernel_shape", kernel);
  if (kernel_shape.empty()) throw Refusal("kernel_shape is missing");
  if (!kernel.empty() && kernel_shape != kernel)
    throw Refusal(fmt::format("kernel_shape {} differs from the weight's {}", to_string(kernel_shape), to_string(kernel)));
  fill(g.kernel, kernel_shape, g.rank, "kernel_shape");
  fill(g.stride, node.attr_ints("strides"), g.rank, "strides");
  fill(g.dilation, node.attr_ints("dilations"), g.rank, "dilations");
  for (int d = 0; d < 3; ++d)
    if (g.kernel[d] < 1 || g.stride[d] < 1 || g.dilation[d] < 1) throw Refusal("kernel_shape, strides and dilations must be positive");
  if (checked_product(checked_product(g.kernel[0], g.kernel[1]), g.kernel[2]) > INT32_MAX)
    throw Refusal(fmt::format("kernel_shape {} is too large", to_string(kernel_shape)));
  return g;
}

void explicit_pads(WindowGeometry& g, const Node& node) {
  const std::vector<int64_t> pads = node.attr_ints("pads");
  if (pads.empty()) return;
  if (static_cast<int>(pads.size()) != 2 * g.rank) throw Refusal(fmt::format("pads has {} entries for {} spatial dimensions", pads.size(), g.rank));
  fill(g.pad_begin, {pads.begin(), pads.begin() + g.rank}, g.rank, "pads");
  fill(g.pad_end, {pads.begin() + g.rank, pads.end()}, g.rank, "pads");
}

// The odd element of an uneven padding goes to the end (SAME_UPPER) or to the beginning.
void split_padding(WindowGeometry& g, int d, int64_t total, bool upper) {
  const int64_t small = total / 2;
  g.pad_begin[d] = upper ? small : total - small;
  g.pad_end[d] = total - g.pad_begin[d];
}

std::string auto_pad_of(const Node& node) {
  const std::string mode = node.attr_string("auto_pad", "NOTSET");
  for (const char* known : {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"})
    if (mode == known) return mode;
  throw Refusal("unknown auto_pad " + mode);
}

}  // namespace

Shape WindowGeometry::output_shape(int64_t batch, int64_t channels) const {
  Shape shape{batch, channels};
  shape.insert(shape.end(), out.begin() + (3 - rank), out.end());
  return shape;
}

WindowGeometry window_geometry(const Node& node, const Shape& x, const Shape& kernel) {
  WindowGeometry g = common(node, x, kernel);
  const std::string auto_pad = auto_pad_of(node);
  if (auto_pad == "NOTSET") explicit_pads(g, node);
  const bool ceil_mode = node.attr_int("ceil_mode", 0) != 0;
  for (int d = 3 - g.rank; d < 3; ++d) {
    const int64_t reach = (g.kernel[d] - 1) * g.dilation[d] + 1;
    if (auto_pad.starts_with("SAME")) {
      g.out[d] = (g.in[d] + g.stride[d] - 1) / g.stride[d];
      split_padding(g, d, std::max<int64_t>(0, (g.out[d] - 1) * g.stride[d] + reach - g.in[d]), auto_pad == "SAME_UPPER");
      continue;
    }
    const int64_t room = g.in[d] + g.pad_begin[d] + g.pad_end[d] - reach;
    if (room < 0) throw Refusal(fmt::format("window of {} is larger than the padded input of {}", reach, room + reach));
    g.out[d] = (ceil_mode ? (room + g.stride[d] - 1) / g.stride[d] : room / g.stride[d]) + 1;
    // A window that would start in the padding behind the input is dropped.
    if (ceil_mode && (g.out[d] - 1) * g.stride[d] >= g.in[d] + g.pad_begin[d]) --g.out[d];
  }
  return g;
}

WindowGeometry transposed_geometry(const Node& node, const Shape& x, const Shape& kernel) {
  WindowGeometry g = common(node, x, kernel);
  const std::string auto_pad = auto_pad_of(node);
  if (auto_pad == "NOTSET") explicit_pads(g, node);
  std::array<int64_t, 3> extra{0, 0, 0}, wanted{0, 0, 0};
  fill(extra, node.attr_ints("output_padding"), g.rank, "output_padding");
  std::vector<int64_t> output_shape = node.attr_ints("output_shape");
  if (static_cast<int>(output_shape.size()) == g.rank + 2) output_shape.erase(output_shape.begin(), output_shape.begin() + 2);
  fill(wanted, output_shape, g.rank, "output_shape");
  for (int d = 3 - g.rank; d < 3; ++d) {
    const int64_t full = checked_sum(checked_product(g.stride[d], g.in[d] - 1), extra[d] + (g.kernel[d] - 1) * g.dilation[d] + 1);
    if (!output_shape.empty() || auto_pad.starts_with("SAME")) {
      g.out[d] = output_shape.empty() ? checked_product(g.in[d], g.stride[d]) : wanted[d];
      // Only SAME_UPPER puts the odd element at the end, as opset 11 says. Before, the formula said the contrary of what auto_pad's own text said; ONNX's
      // version converter takes such nodes over as they are, and so they mean the same here.
      split_padding(g, d, std::max<int64_t>(0, full - g.out[d]), auto_pad == "SAME_UPPER");
    } else {
      g.out[d] = full - g.pad_begin[d] - g.pad_end[d];
    }
    if (g.out[d] < 1) throw Refusal(fmt::format("ConvTranspose output of size {}", g.out[d]));
  }
  return g;
}

}  // namespace amdahl

// Conv and ConvTranspose in one to three dimensions, grouped and dilated.

#include <fmt/format.h>

#include <algorithm>

#include "graph/ops/eval_support.h"
#include "graph/ops/families.h"
#include "graph/ops/integer_products.h"
#include "graph/ops/integer_sums.h"
#include "graph/ops/strassen_bound.h"
#include "graph/ops/window_geometry.h"

namespace amdahl {
namespace {

// An unfolded block of the input stays below this, so that a large image does not need kernel-size times its memory.
constexpr int64_t kBlockDoubles = int64_t{4} << 20;  // 32 MiB

struct ConvShape {
  WindowGeometry window;
  int64_t batch, groups, in_channels, out_channels;  // channels of all groups

  int64_t in_per_group() const { return in_channels / groups; }
  int64_t out_per_group() const { return out_channels / groups; }
};

void check_weight(const Shape& x, const Shape& w, int64_t groups) {
  if (x.size() < 3 || w.size() != x.size()) throw Refusal(fmt::format("convolution of {} with a weight of {}", to_string(x), to_string(w)));
  if (groups < 1 || x[1] % groups != 0) throw Refusal(fmt::format("{} channels do not split into {} groups", x[1], groups));
}

void check_bias(const InferContext& c, int64_t channels) {
  if (c.has_input(2) && c.shape(2) != Shape{channels}) throw Refusal(fmt::format("bias {} for {} output channels", to_string(c.shape(2)), channels));
}

ConvShape conv_shape(const Node& node, const Shape& x, const Shape& w) {
  const int64_t groups = node.attr_int("group", 1);
  check_weight(x, w, groups);
  if (w[1] * groups != x[1] || w[0] % groups != 0) throw Refusal(fmt::format("weight {} does not fit {} channels in {} groups", to_string(w), x[1], groups));
  return {window_geometry(node, x, {w.begin() + 2, w.end()}), x[0], groups, x[1], w[0]};
}

ConvShape conv_transpose_shape(const Node& node, const Shape& x, const Shape& w) {
  const int64_t groups = node.attr_int("group", 1);
  check_weight(x, w, groups);
  if (w[0] != x[1]) throw Refusal(fmt::format("weight {} does not fit {} channels", to_string(w), x[1]));
  return {transposed_geometry(node, x, {w.begin() + 2, w.end()}), x[0], groups, x[1], w[1] * groups};
}

template <ConvShape (*shape_of)(const Node&, const Shape&, const Shape&)>
void infer_conv(InferContext& c) {
  for (size_t i = 0; i < c.input_count(); ++i)
    if (c.has_input(i)) require_float(c, i);
  const ConvShape s = shape_of(c.node, c.shape(0), c.shape(1));
  check_bias(c, s.out_channels);
  c.set_output(0, c.dtype(0), s.window.output_shape(s.batch, s.out_channels));
}

// Calls f(tap, k0, k1, k2) for every tap, taps numbered row-major.
template <typename F>
void for_each_tap(const WindowGeometry& g, F&& f) {
  int64_t tap = 0;
  for (int64_t k0 = 0; k0 < g.kernel[0]; ++k0)
    for (int64_t k1 = 0; k1 < g.kernel[1]; ++k1)
      for (int64_t k2 = 0; k2 < g.kernel[2]; ++k2) f(tap++, k0, k1, k2);
}

// First and one-past-last output position along d whose tap k lies inside the input.
std::pair<int64_t, int64_t> inside(const WindowGeometry& g, int d, int64_t k) {
  int64_t first = 0, last = g.out[d];
  while (first < last && g.position(d, first, k) < 0) ++first;
  while (last > first && g.position(d, last - 1, k) >= g.in[d]) --last;
  return {first, last};
}

// One row of the unfolded input: what output positions [p0, p1) read from `channel` at one tap; zero in the padding.
void unfold_row(const WindowGeometry& g, const double* channel, int64_t k0, int64_t k1, int64_t k2, int64_t p0, int64_t p1, double* row) {
  const auto [first, last] = inside(g, 2, k2);
  for (int64_t p = p0; p < p1;) {
    const int64_t o2 = p % g.out[2], o1 = p / g.out[2] % g.out[1], o0 = p / g.out[2] / g.out[1];
    const int64_t count = std::min(g.out[2] - o2, p1 - p);
    const int64_t i0 = g.position(0, o0, k0), i1 = g.position(1, o1, k1);
    std::fill_n(row + (p - p0), count, 0.0);
    if (i0 >= 0 && i0 < g.in[0] && i1 >= 0 && i1 < g.in[1]) {
      const double* line = channel + (i0 * g.in[1] + i1) * g.in[2];
      for (int64_t o = std::max(o2, first); o < std::min(o2 + count, last); ++o) row[p - p0 + (o - o2)] = line[g.position(2, o, k2)];
    }
    p += count;
  }
}

// One group of one image by unfolding and a matrix product, a block of output positions at a time.
void conv_group(const ConvShape& s, const double* x, const double* w, double* y) {
  const WindowGeometry& g = s.window;
  const int64_t taps = g.taps(), rows = s.in_per_group() * taps, positions = g.out_size(), m = s.out_per_group();
  const int64_t block = std::clamp<int64_t>(kBlockDoubles / std::max<int64_t>(rows, 1), 64, std::max<int64_t>(positions, 64));
  std::vector<double> unfolded(static_cast<size_t>(rows * std::min(block, positions)));
  std::vector<double> product;
  for (int64_t p0 = 0; p0 < positions; p0 += block) {
    const int64_t p1 = std::min(p0 + block, positions), width = p1 - p0;
#pragma omp parallel for if (worth_threads(rows * width))
    for (int64_t channel = 0; channel < s.in_per_group(); ++channel)
      for_each_tap(g, [&](int64_t tap, int64_t k0, int64_t k1, int64_t k2) {
        unfold_row(g, x + channel * g.in_size(), k0, k1, k2, p0, p1, unfolded.data() + (channel * taps + tap) * width);
      });
    if (width == positions) {
      gemm_f64(m, positions, rows, w, unfolded.data(), y, true);
      continue;
    }
    product.resize(static_cast<size_t>(m * width));
    gemm_f64(m, width, rows, w, unfolded.data(), product.data());
    for (int64_t i = 0; i < m; ++i)
      for (int64_t p = 0; p < width; ++p) y[i * positions + p0 + p] += product[static_cast<size_t>(i * width + p)];
  }
}

// A channel of a depthwise convolution: one pass over the plane a tap.
void conv_plane(const WindowGeometry& g, const double* x, const double* w, double* y) {
  for_each_tap(g, [&](int64_t tap, int64_t k0, int64_t k1, int64_t k2) {
    const auto [first, last] = inside(g, 2, k2);
    const auto [first1, last1] = inside(g, 1, k1);
    const auto [first0, last0] = inside(g, 0, k0);
    for (int64_t o0 = first0; o0 < last0; ++o0)
      for (int64_t o1 = first1; o1 < last1; ++o1) {
        const double* line = x + (g.position(0, o0, k0) * g.in[1] + g.position(1, o1, k1)) * g.in[2];
        double* to = y + (o0 * g.out[1] + o1) * g.out[2];
        for (int64_t o = first; o < last; ++o) to[o] += w[tap] * line[g.position(2, o, k2)];
      }
  });
}

void fill_bias(const ConvShape& s, const double* bias, double* y) {
  const int64_t plane = s.window.out_size();
  for (int64_t i = 0; i < s.batch * s.out_channels; ++i) std::fill_n(y + i * plane, plane, bias ? bias[i % s.out_channels] : 0.0);
}

void convolve(const ConvShape& s, const double* x, const double* w, const double* bias, double* y) {
  fill_bias(s, bias, y);
  const int64_t in = s.window.in_size(), out = s.window.out_size(), taps = s.window.taps();
  if (s.in_per_group() == 1) {
#pragma omp parallel for if (worth_threads(s.batch * s.out_channels * out))
    for (int64_t i = 0; i < s.batch * s.out_channels; ++i) {
      const int64_t image = i / s.out_channels, channel = i % s.out_channels;
      conv_plane(s.window, x + (image * s.in_channels + channel / s.out_per_group()) * in, w + channel * taps, y + i * out);
    }
    return;
  }
  for (int64_t image = 0; image < s.batch; ++image)
    for (int64_t group = 0; group < s.groups; ++group)
      conv_group(s, x + (image * s.in_channels + group * s.in_per_group()) * in, w + group * s.out_per_group() * s.in_per_group() * taps,
                 y + (image * s.out_channels + group * s.out_per_group()) * out);
}

// 1x1, stride 1, no padding: a matrix product of weights and pixels.
bool is_one_product(const ConvShape& s) {
  bool same = s.groups == 1 && s.window.taps() == 1;
  for (int d = 0; d < 3; ++d) same = same && s.window.stride[d] == 1 && s.window.in[d] == s.window.out[d];
  return same;
}

// Of pixels x channels by channels x output channels, as kernels lay it out: halves are cut along each.
void add_strassen_rounding_of_conv(const EvalContext& c, const ConvShape& s, RefTensor& out) {
  const int64_t pixels = s.window.out_size(), m = s.out_channels, k = s.in_channels;
  const auto wv = transposed(c.in(1).value, m, k), we = transposed(c.in(1).bound, m, k);
  for (int64_t image = 0; image < s.batch; ++image) {
    const auto of_image = [&](const std::vector<double>& x) {
      return x.empty() ? std::span<const double>()
                       : std::span<const double>(x).subspan(static_cast<size_t>(image * k * pixels), static_cast<size_t>(k * pixels));
    };
    const auto xv = transposed(of_image(c.in(0).value), k, pixels), xe = transposed(of_image(c.in(0).bound), k, pixels);
    std::vector<double> bound(static_cast<size_t>(pixels * m));
    add_strassen_rounding(c.products.strassen, c.products.rounding, pixels, m, k, {xv, xe}, {wv, we}, bound.data());
    double* to = out.bound.data() + image * m * pixels;
    for (int64_t o = 0; o < m; ++o)
      for (int64_t p = 0; p < pixels; ++p) to[o * pixels + p] += bound[static_cast<size_t>(p * m + o)];
  }
}

// Zeros of the padding times a weight that is not finite are NaN, or left out: what touches the padding is open then.
void leave_padding_open(const EvalContext& c, const ConvShape& s, RefTensor& out) {
  if (!c.bounds || std::all_of(c.in(1).value.begin(), c.in(1).value.end(), [](double w) { return std::isfinite(w); })) return;
  const WindowGeometry& g = s.window;
  const std::vector<double> inputs(static_cast<size_t>(g.in_size()), 1.0), weights(static_cast<size_t>(g.taps()), 1.0);
  std::vector<double> inside(static_cast<size_t>(g.out_size()), 0.0);
  conv_plane(g, inputs.data(), weights.data(), inside.data());
  for (size_t i = 0; i < out.value.size(); ++i)
    if (inside[i % inside.size()] < static_cast<double>(g.taps())) out.value[i] = 0, out.bound[i] = HUGE_VAL;
}

void eval_conv(EvalContext& c) {
  const ConvShape s = conv_shape(c.node, c.in(0).shape, c.in(1).shape);
  RefTensor& out = float_output(c, 0);
  const auto f = [&](const double* x, const double* w, const double* bias, double* y) { convolve(s, x, w, bias, y); };
  const bool halved = c.products.strassen > 0 && is_one_product(s);
  bounded_bilinear(f, c.in(0), c.in(1), c.has_input(2) ? BilinearOperand(c.in(2)) : BilinearOperand(), halved ? 0 : s.in_per_group() * s.window.taps(),
                   c.products.rounding, sum_type(out.dtype), out.numel(), out.value.data(), c.bounds ? out.bound.data() : nullptr);
  if (c.bounds && halved) add_strassen_rounding_of_conv(c, s, out);
  finish_bounds(out);
  leave_padding_open(c, s, out);
}

// Bytes, without zero points: others are written in this form (integer_products.h).
void infer_conv_integer(InferContext& c) {
  if (c.has_input(2) || c.has_input(3) || c.dtype(0) != DType::kU8 || c.dtype(1) != DType::kI8) throw Refusal("only u8 by i8 without zero points");
  const ConvShape s = conv_shape(c.node, c.shape(0), c.shape(1));
  c.set_output(0, DType::kI32, s.window.output_shape(s.batch, s.out_channels));
}

void eval_conv_integer(EvalContext& c) {
  const ConvShape s = conv_shape(c.node, c.in(0).shape, c.in(1).shape);
  sum_integers(c, [&](const double* x, const double* w, double* y) { convolve(s, x, w, nullptr, y); });
}

// Weight is Cin x Cout/groups x taps: W^T X gives what each input position adds at each tap, then those are scattered.
void convolve_transposed(const ConvShape& s, const double* x, const double* w, const double* bias, double* y) {
  fill_bias(s, bias, y);
  const WindowGeometry& g = s.window;
  const int64_t taps = g.taps(), in = g.in_size(), out = g.out_size(), columns = s.out_per_group() * taps;
  std::vector<double> spread(static_cast<size_t>(columns * in));
  for (int64_t image = 0; image < s.batch; ++image)
    for (int64_t group = 0; group < s.groups; ++group) {
      gemm_tn_f64(columns, in, s.in_per_group(), w + group * s.in_per_group() * columns, x + (image * s.in_channels + group * s.in_per_group()) * in,
                  spread.data());
#pragma omp parallel for if (worth_threads(columns * in))
      for (int64_t channel = 0; channel < s.out_per_group(); ++channel) {
        double* plane = y + (image * s.out_channels + group * s.out_per_group() + channel) * out;
        for_each_tap(g, [&](int64_t tap, int64_t k0, int64_t k1, int64_t k2) {
          const double* from = spread.data() + (channel * taps + tap) * in;
          for (int64_t i0 = 0; i0 < g.in[0]; ++i0)
            for (int64_t i1 = 0; i1 < g.in[1]; ++i1)
              for (int64_t i2 = 0; i2 < g.in[2]; ++i2, ++from) {
                const int64_t o0 = g.position(0, i0, k0), o1 = g.position(1, i1, k1), o2 = g.position(2, i2, k2);
                if (o0 < 0 || o0 >= g.out[0] || o1 < 0 || o1 >= g.out[1] || o2 < 0 || o2 >= g.out[2]) continue;
                plane[(o0 * g.out[1] + o1) * g.out[2] + o2] += *from;
              }
        });
      }
    }
}

void eval_conv_transpose(EvalContext& c) {
  const ConvShape s = conv_transpose_shape(c.node, c.in(0).shape, c.in(1).shape);
  // An output element meets at most ceil(kernel / stride) taps a dimension.
  int64_t terms = s.in_per_group();
  for (int d = 0; d < 3; ++d) terms *= (s.window.kernel[d] + s.window.stride[d] - 1) / s.window.stride[d];
  RefTensor& out = float_output(c, 0);
  const auto f = [&](const double* x, const double* w, const double* b, double* y) { convolve_transposed(s, x, w, b, y); };
  bounded_bilinear(f, c.in(0), c.in(1), c.has_input(2) ? BilinearOperand(c.in(2)) : BilinearOperand(), terms, c.products.rounding, sum_type(out.dtype),
                   out.numel(), out.value.data(), c.bounds ? out.bound.data() : nullptr);
  finish_bounds(out);
  // Zeros lie between the inputs where they are spread by a stride, and around them.
  if (c.bounds && !std::all_of(c.in(1).value.begin(), c.in(1).value.end(), [](double w) { return std::isfinite(w); }))
    for (size_t i = 0; i < out.value.size(); ++i) out.value[i] = 0, out.bound[i] = HUGE_VAL;
}

}  // namespace

std::vector<OpDef> convolution_ops() {
  return {
      {"", "Conv", "ffF", infer_conv<conv_shape>, eval_conv, 1, {}, expand_quantized_conv},
      {"", "ConvInteger", "iiII", infer_conv_integer, eval_conv_integer, 1, {}, expand_conv_integer},
      {"", "ConvTranspose", "ffF", infer_conv<conv_transpose_shape>, eval_conv_transpose},
  };
}

}  // namespace amdahl

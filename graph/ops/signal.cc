// Signals: DFT, STFT, windows, MelWeightMatrix.
//
// A transform is a product with a matrix of cosines and sines. At the lengths that models have (a frame of speech is 400 or 512 samples) a matrix is small and
// its product fast; a transform whose matrix would be large is refused.

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "graph/expansion.h"
#include "graph/ops/composed.h"
#include "graph/ops/elementwise.h"

namespace amdahl {
namespace {

constexpr double kMostElements = 1 << 23;  // of a matrix: 32 MiB of fp32

// Of k n-ths of a turn: exactly 0 and 1 at its quarters, where the angle itself is not exact.
double cosine(int64_t k, int64_t n) {
  k = std::abs(k % n);
  if (4 * k == n || 4 * k == 3 * n) return 0;
  if (2 * k == n) return -1;
  return std::cos(2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n));
}
double sine(int64_t k, int64_t n) {
  k %= n;
  if (k == 0 || 2 * k == n) return 0;
  if (4 * k == n || 4 * k == 3 * n) return 4 * k == n ? 1 : -1;
  return std::sin(2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n));
}

struct Transform {
  int64_t given;   // samples there are
  int64_t length;  // of the transform
  int64_t parts;   // of a number that goes in: 1 (real) or 2
  bool inverse, onesided;

  bool to_real() const { return inverse && onesided; }
  int64_t results() const { return onesided && !inverse ? length / 2 + 1 : length; }
  int64_t result_parts() const { return to_real() ? 1 : 2; }
  int64_t used() const { return std::min(given, to_real() ? length / 2 + 1 : length); }
};

// [used * parts, results * result parts]
Tensor matrix_of(const Transform& t, DType type) {
  const int64_t rows = t.used() * t.parts, columns = t.results() * t.result_parts();
  if (t.length < 1 || static_cast<double>(rows) * static_cast<double>(columns) > kMostElements)
    throw Refusal(fmt::format("a transform of {} samples to {} would be a product with a matrix of {} x {}", t.given, t.results(), rows, columns));
  std::vector<double> m(static_cast<size_t>(rows * columns));
  for (int64_t n = 0; n < t.used(); ++n)
    for (int64_t k = 0; k < t.results(); ++k) {
      const bool has_mirror = t.to_real() && n > 0 && 2 * n != t.length;  // the half that is not given
      const double weight = (t.inverse ? 1.0 / static_cast<double>(t.length) : 1.0) * (has_mirror ? 2 : 1);
      const double c = weight * cosine(n * k, t.length), s = weight * (t.inverse ? 1 : -1) * sine(n * k, t.length);
      const auto at = [&](int64_t in, int64_t out) -> double& { return m[static_cast<size_t>((n * t.parts + in) * columns + k * t.result_parts() + out)]; };
      at(0, 0) = c;
      if (t.result_parts() == 2) at(0, 1) = s;
      if (t.parts == 2) at(1, 0) = -s;
      if (t.parts == 2 && t.result_parts() == 2) at(1, 1) = c;
    }
  return from_doubles(type, {rows, columns}, m);
}

// Halves are transformed in fp32: their cosines would be rounded.
DType type_of_transform(DType signal) { return is_half(signal) ? DType::kF32 : signal; }

// x [..., samples, parts] times a matrix.
ValueId transformed(Expansion& e, ValueId x, const Transform& t, ValueId matrix) {
  const DType type = e.dtype(x);
  x = e.cast(x, e.dtype(matrix));
  Shape shape = e.shape(x);
  const size_t rank = shape.size();
  const int64_t outer = numel({shape.begin(), shape.end() - 2});
  if (t.used() < t.given) x = e.add("Slice", {x, e.ints({0}), e.ints({t.used()}), e.ints({-2})});
  const ValueId y = e.add("MatMul", {e.reshape(x, {outer, t.used() * t.parts}), matrix});
  shape[rank - 2] = t.results(), shape[rank - 1] = t.result_parts();
  return e.cast(e.reshape(y, shape), type);
}

int64_t parts_of(const Expansion& e, ValueId x) {
  const Shape shape = e.shape(x);
  if (shape.size() < 2 || (shape.back() != 1 && shape.back() != 2))
    throw Refusal(fmt::format("a signal of shape {} is neither real nor complex", to_string(shape)));
  return shape.back();
}

// input, dft_length, axis (an attribute before opset 20)
void expand_dft(Expansion& e) {
  ValueId x = e.in(0);
  const int64_t parts = parts_of(e, x), rank = e.rank(x);
  const int64_t stated = e.node.version < 20 ? e.node.attr_int("axis", 1) : e.has_input(2) ? e.constant_number(2, "the axis") : -2;
  const auto axis = static_cast<int64_t>(e.axis_of(stated, static_cast<size_t>(rank), "axis"));
  if (axis == rank - 1) throw Refusal("the last dimension holds the parts of a number and is no axis");
  Transform t{e.shape(x)[static_cast<size_t>(axis)], 0, parts, e.node.attr_int("inverse", 0) != 0, e.node.attr_int("onesided", 0) != 0};
  t.length = e.has_input(1) ? e.constant_number(1, "dft_length") : t.to_real() ? 2 * (t.given - 1) : t.given;
  std::vector<int64_t> swapped;
  for (int64_t d = 0; d < rank; ++d) swapped.push_back(d);
  std::swap(swapped[static_cast<size_t>(axis)], swapped[static_cast<size_t>(rank - 2)]);
  const bool is_last = axis == rank - 2;
  const ValueId y = transformed(e, is_last ? x : e.transpose(x, swapped), t, e.constant("transform", matrix_of(t, type_of_transform(e.dtype(x)))));
  e.set_output(0, is_last ? y : e.transpose(y, swapped));
}

// signal, frame_step, window, frame_length. The window is taken into the matrix.
void expand_stft(Expansion& e) {
  ValueId x = e.in(0);
  if (e.rank(x) == 2) x = e.reshape(x, {e.dim(x, 0), e.dim(x, 1), 1});  // files leave out the last dimension of a real signal, and ONNX Runtime takes them
  const Shape shape = e.shape(x);
  const int64_t parts = parts_of(e, x), step = e.constant_number(1, "frame_step");
  if (shape.size() != 3) throw Refusal(fmt::format("a signal of shape {}, not [batch, samples, parts]", to_string(shape)));
  const int64_t samples = shape[1];
  const int64_t length = e.has_input(3) ? e.constant_number(3, "frame_length") : e.has_input(2) ? e.dim(e.in(2), 0) : samples;
  if (length < 1 || length > samples || step < 1) throw Refusal(fmt::format("frames of {} samples, {} apart, of a signal of {}", length, step, samples));
  const Transform t{length, length, parts, false, e.node.attr_int("onesided", 1) != 0};
  ValueId matrix = e.constant("transform", matrix_of(t, type_of_transform(e.dtype(x))));
  if (e.has_input(2)) {
    const ValueId twice = e.add("Expand", {e.reshape(e.in(2), {length, 1}), e.ints({length, parts})});
    matrix = e.add("Mul", {matrix, e.cast(e.reshape(twice, {length * parts, 1}), e.dtype(matrix))});
  }
  const int64_t frames = (samples - length) / step + 1;
  if (static_cast<double>(frames) * static_cast<double>(length) > kMostElements)
    throw Refusal(fmt::format("{} frames of {} samples are too many", frames, length));
  std::vector<int64_t> places;
  for (int64_t f = 0; f < frames; ++f)
    for (int64_t i = 0; i < length; ++i) places.push_back(f * step + i);
  const ValueId taken = e.add("Gather", {x, e.constant("frames", from_ints(DType::kI64, {frames, length}, places))}, {{"axis", int64_t{1}}});
  e.set_output(0, transformed(e, taken, t, matrix));
}

DType output_type(const Expansion& e) { return dtype_from_onnx(e.node.attr_int("output_datatype", 1)); }

Tensor of_type(DType type, Shape shape, const std::vector<double>& values) {
  if (is_float(type)) return from_doubles(type, std::move(shape), values);
  return from_ints(type, std::move(shape), {values.begin(), values.end()});
}

// a - b cos(x) + c cos(2x) over one period.
void window(Expansion& e, double a, double b, double c) {
  const int64_t size = e.constant_number(0, "the size"), period = e.node.attr_int("periodic", 1) != 0 ? size : size - 1;
  if (size < 0 || size > static_cast<int64_t>(kMostElements)) throw Refusal(fmt::format("a window of {} elements", size));
  if (size == 1 && period == 0) throw Refusal("a symmetric window of one element is 0 / 0");
  std::vector<double> w;
  for (int64_t n = 0; n < size; ++n) {
    const double v = a - b * cosine(n, period) + c * cosine(2 * n, period);
    w.push_back(std::fabs(v) < 0x1p-52 ? 0 : v);  // 0.42 - 0.5 + 0.08 is not quite nothing
  }
  e.set_output(0, e.add("Identity", {e.constant("window", of_type(output_type(e), {size}, w))}));
}
void expand_hann(Expansion& e) { window(e, 0.5, 0.5, 0); }
void expand_hamming(Expansion& e) { window(e, 25.0 / 46, 21.0 / 46, 0); }
void expand_blackman(Expansion& e) { window(e, 0.42, 0.5, 0.08); }

double constant_double(const Expansion& e, size_t i, const char* what) {
  const std::vector<double> all = to_doubles(e.constant_in(i, what));
  if (all.size() != 1) throw Refusal(fmt::format("{} must be one number", what));
  return all[0];
}

double mel(double hertz) { return 2595 * std::log10(1 + hertz / 700); }
double hertz(double mel) { return 700 * (std::pow(10, mel / 2595) - 1); }

// A triangle for each bin, from the peak of the one before to that of the one after.
std::vector<double> mel_weights(int64_t bins, int64_t rows, const std::vector<int64_t>& peaks) {
  std::vector<double> w(static_cast<size_t>(rows * bins));
  for (int64_t i = 0; i < bins; ++i) {
    const auto u = static_cast<size_t>(i);
    const int64_t low = peaks[u], centre = peaks[u + 1], high = peaks[u + 2];
    if (low < 0 || high > rows) throw Refusal(fmt::format("frequencies of bin {} lie beside the spectrum", i));
    const auto at = [&](int64_t row) -> double& {
      if (row >= rows) throw Refusal(fmt::format("frequencies of bin {} lie beside the spectrum", i));
      return w[static_cast<size_t>(row * bins + i)];
    };
    if (low == centre) at(centre) = 1;
    else
      for (int64_t j = low; j <= centre; ++j) at(j) = static_cast<double>(j - low) / static_cast<double>(centre - low);
    for (int64_t j = centre; j < high; ++j) at(j) = static_cast<double>(high - j) / static_cast<double>(high - centre);
  }
  return w;
}

// num_mel_bins, dft_length, sample_rate, lower_edge_hertz, upper_edge_hertz
void expand_mel(Expansion& e) {
  const int64_t bins = e.constant_number(0, "num_mel_bins"), length = e.constant_number(1, "dft_length"), rate = e.constant_number(2, "sample_rate");
  const double low = mel(constant_double(e, 3, "lower_edge_hertz")), high = mel(constant_double(e, 4, "upper_edge_hertz"));
  if (bins < 1 || length < 1 || rate < 1 || static_cast<double>(bins) * static_cast<double>(length) > kMostElements)
    throw Refusal(fmt::format("{} bins of a transform of {} samples", bins, length));
  std::vector<int64_t> peaks;
  for (int64_t i = 0; i < bins + 2; ++i) {
    const double at = hertz(low + static_cast<double>(i) * (high - low) / static_cast<double>(bins + 2));
    peaks.push_back(static_cast<int64_t>(std::floor(static_cast<double>(length + 1) * at / static_cast<double>(rate))));
  }
  const int64_t rows = length / 2 + 1;
  e.set_output(0, e.add("Identity", {e.constant("mel", of_type(output_type(e), {rows, bins}, mel_weights(bins, rows, peaks)))}));
}

}  // namespace

std::vector<OpDef> signal_ops() {
  return {
      made_of_others("", "DFT", "fII", expand_dft),
      made_of_others("", "STFT", "fiFI", expand_stft),
      made_of_others("", "HannWindow", "i", expand_hann),
      made_of_others("", "HammingWindow", "i", expand_hamming),
      made_of_others("", "BlackmanWindow", "i", expand_blackman),
      made_of_others("", "MelWeightMatrix", "iiiff", expand_mel),
  };
}

}  // namespace amdahl

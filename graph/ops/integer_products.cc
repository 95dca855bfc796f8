#include "graph/ops/integer_products.h"

#include <algorithm>

#include "graph/ops/quantized.h"

namespace amdahl {
namespace {

// Bytes in a sign of their own choosing; `zero` is int32, or kNoValue where it is 0.
struct Bytes {
  ValueId v, zero;
};

ValueId in_int32(Expansion& e, ValueId v) { return is_zero(e, v) ? kNoValue : e.cast(v, DType::kI32); }
ValueId int32(Expansion& e, int64_t value) { return e.scalar(DType::kI32, static_cast<double>(value)); }

// Constants at once, whatever their size: as nodes they would pass through int32, which is too large to fold for weights of some megabytes.
ValueId moved_by(Expansion& e, ValueId v, int64_t by, DType type) {
  const Tensor* known = e.constant_of(v);
  if (!known) return e.cast(e.add("Add", {e.cast(v, DType::kI32), int32(e, by)}), type);
  std::vector<int64_t> all = to_ints(*known);
  for (int64_t& each : all) each += by;
  return e.constant("moved", from_ints(type, known->shape(), all));
}

Bytes shifted(Expansion& e, ValueId v, ValueId zero, int64_t by, DType type) {
  const ValueId moved = moved_by(e, v, by, type);
  const ValueId at = zero == kNoValue ? int32(e, by) : e.add("Add", {zero, int32(e, by)});
  return {moved, is_zero(e, at) ? kNoValue : at};
}

Bytes as_unsigned(Expansion& e, ValueId v, ValueId zero) {
  return e.dtype(v) == DType::kI8 ? shifted(e, v, in_int32(e, zero), 128, DType::kU8) : Bytes{v, in_int32(e, zero)};
}

// `zero` broadcasts over v. Constants lose their zero point where i8 holds the difference.
Bytes as_signed(Expansion& e, ValueId v, ValueId zero) {
  const ValueId wide = in_int32(e, zero);
  if (wide != kNoValue && e.constant_of(v) && e.constant_of(wide)) {
    const ValueId difference = e.add("Sub", {e.cast(v, DType::kI32), wide});
    const auto fits = [](int64_t d) { return d >= -128 && d <= 127; };
    if (const Tensor* known = e.constant_of(difference)) {
      const std::vector<int64_t> all = to_ints(*known);
      if (std::all_of(all.begin(), all.end(), fits)) return {e.cast(difference, DType::kI8), kNoValue};
    }
  }
  return e.dtype(v) == DType::kU8 ? shifted(e, v, wide, -128, DType::kI8) : Bytes{v, wide};
}

ValueId sum_along(Expansion& e, ValueId v, const std::vector<int64_t>& axes) {
  return e.add("ReduceSum", {e.cast(v, DType::kI32), e.ints(axes)}, {{"keepdims", int64_t{1}}});
}

// Of a matrix's columns, without a copy in int32 where they are constants.
ValueId column_sums(Expansion& e, ValueId b) {
  if (!e.constant_of(b) || e.rank(b) != 2) return sum_along(e, b, {-2});
  const int64_t rows = e.dim(b, 0);
  return e.add("MatMulInteger", {e.constant("ones", from_ints(DType::kU8, {1, rows}, std::vector<int64_t>(static_cast<size_t>(rows), 1))), b});
}

// Of the weights of each output channel, [1, O, 1 …].
ValueId weight_sums(Expansion& e, ValueId w) {
  Shape one_place = e.shape(w);
  const int64_t group = e.node.attr_int("group", 1);
  one_place[0] = 1;
  one_place[1] *= group;
  const ValueId ones = e.constant("ones", from_ints(DType::kU8, one_place, std::vector<int64_t>(static_cast<size_t>(numel(one_place)), 1)));
  return e.add("ConvInteger", {ones, w}, {{"group", group}});
}

// One number, or as it is.
ValueId scalar_of(Expansion& e, ValueId v) { return numel(e.shape(v)) == 1 ? e.reshape(v, {}) : v; }

// One zero point a row of a is a column beside the rows.
ValueId beside_rows(Expansion& e, ValueId zero) {
  if (zero == kNoValue || numel(e.shape(zero)) == 1) return zero == kNoValue ? zero : e.reshape(zero, {});
  return e.rank(zero) == 1 ? e.reshape(zero, {e.shape(zero)[0], 1}) : zero;
}

bool is_written_form(const Expansion& e, size_t zeros_from) {
  return e.dtype(e.in(0)) == DType::kU8 && e.dtype(e.in(1)) == DType::kI8 && !e.has_input(zeros_from) && !e.has_input(zeros_from + 1);
}

// Numbers along one dimension of a tensor of `rank` dimensions, or one number.
ValueId along(Expansion& e, ValueId v, int64_t dimension, int64_t rank) {
  if (numel(e.shape(v)) == 1) return e.reshape(v, {});
  Shape spread(static_cast<size_t>(rank), 1);
  spread[static_cast<size_t>(dimension)] = numel(e.shape(v));
  return e.reshape(v, spread);
}

bool is_one(const Expansion& e, ValueId v) { return v == kNoValue || numel(e.shape(v)) == 1; }

// Whether scale and zero point are one number, or lie along `axis`.
bool lies_along(const Expansion& e, const QuantizedForm& q, int64_t axis) {
  if (is_one(e, q.scale) && is_one(e, q.zero_point)) return true;
  const int64_t rank = e.rank(q.integers), own = q.axis < 0 ? q.axis + rank : q.axis;
  if (axis >= rank) return false;
  const auto fits = [&](ValueId v) { return is_one(e, v) || (e.rank(v) == 1 && numel(e.shape(v)) == e.dim(q.integers, static_cast<size_t>(axis))); };
  return own == axis && fits(q.scale) && fits(q.zero_point);
}

// Sums times both scales, which broadcast over them.
ValueId scaled(Expansion& e, ValueId sums, ValueId a_scale, ValueId b_scale, ValueId bias) {
  const ValueId y = e.add("Mul", {e.cast(sums, DType::kF32), e.add("Mul", {a_scale, b_scale})});
  return bias == kNoValue ? y : e.add("Add", {y, bias});
}

// x with its zero point around it, where that is known and so is the padding; attributes lose it.
ValueId padded(Expansion& e, const Bytes& x, std::map<std::string, Attribute>& attributes) {
  if (!attributes.count("pads")) return kNoValue;
  const auto pads = std::get<std::vector<int64_t>>(attributes.at("pads"));
  if (e.node.attr_string("auto_pad", "NOTSET") != "NOTSET" || !e.constant_of(x.zero)) return kNoValue;
  if (std::any_of(pads.begin(), pads.end(), [](int64_t p) { return p < 0; })) return kNoValue;
  std::vector<int64_t> all{0, 0}, ends{0, 0};
  all.insert(all.end(), pads.begin(), pads.begin() + static_cast<int64_t>(pads.size() / 2));
  ends.insert(ends.end(), pads.begin() + static_cast<int64_t>(pads.size() / 2), pads.end());
  all.insert(all.end(), ends.begin(), ends.end());
  attributes.erase("pads");
  return e.add("Pad", {x.v, e.ints(all), e.cast(e.reshape(x.zero, {}), DType::kU8)});
}

bool has_padding(const Expansion& e) {
  const std::vector<int64_t> pads = e.node.attr_ints("pads");
  return e.node.attr_string("auto_pad", "NOTSET") != "NOTSET" || std::any_of(pads.begin(), pads.end(), [](int64_t p) { return p != 0; });
}

// The sum of the weights that lie inside the image, for each place of the output.
ValueId weights_inside(Expansion& e, ValueId x, const Bytes& w, const std::map<std::string, Attribute>& attributes) {
  Shape one_channel = e.shape(x);
  one_channel[0] = one_channel[1] = 1;
  require_possible(one_channel, DType::kF64);
  std::map<std::string, Attribute> ungrouped = attributes;
  ungrouped.erase("group");
  const ValueId ones = e.constant("ones", from_doubles(DType::kF64, one_channel, std::vector<double>(static_cast<size_t>(numel(one_channel)), 1.0)));
  const ValueId wide = w.zero == kNoValue ? w.v : e.add("Sub", {e.cast(w.v, DType::kI32), w.zero});
  return e.cast(e.add("Conv", {ones, e.cast(sum_along(e, wide, {1}), DType::kF64)}, ungrouped), DType::kI32);
}

// The sum of the bytes of x that meet the weights of each output channel, at each place of the output: one channel where all of x meets each.
ValueId image_sums(Expansion& e, ValueId x, ValueId w, const std::map<std::string, Attribute>& attributes) {
  Shape shape = e.shape(w);
  if (e.node.attr_int("group", 1) == 1) shape[0] = 1;
  const ValueId ones = e.constant("ones", from_ints(DType::kI8, shape, std::vector<int64_t>(static_cast<size_t>(numel(shape)), 1)));
  return e.add("ConvInteger", {x, ones}, attributes);
}

}  // namespace

ValueId integer_product(Expansion& e, ValueId a, ValueId b, ValueId a_zero, ValueId b_zero) {
  if (!is_byte(e.dtype(a)) || !is_byte(e.dtype(b)) || e.rank(a) < 2 || e.rank(b) < 2)
    return e.add("MatMul", {centred(e, a, a_zero, true), centred(e, b, b_zero, false)});
  const Bytes left = as_unsigned(e, a, beside_rows(e, a_zero)), right = as_signed(e, b, b_zero == kNoValue ? b_zero : scalar_of(e, b_zero));
  ValueId sums = e.add("MatMulInteger", {left.v, right.v});
  if (left.zero != kNoValue) sums = e.add("Sub", {sums, e.add("Mul", {left.zero, column_sums(e, right.v)})});
  if (right.zero != kNoValue) sums = e.add("Sub", {sums, e.add("Mul", {sum_along(e, left.v, {-1}), right.zero})});
  if (left.zero != kNoValue && right.zero != kNoValue)
    sums = e.add("Add", {sums, e.add("Mul", {e.add("Mul", {left.zero, right.zero}), int32(e, e.shape(a).back())})});
  return sums;
}

ValueId integer_convolution(Expansion& e, ValueId x, ValueId w, ValueId x_zero, ValueId w_zero) {
  if (!is_byte(e.dtype(x)) || !is_byte(e.dtype(w)) || e.rank(x) < 3 || e.rank(w) != e.rank(x) || !is_one(e, x_zero) || !e.constant_of(w)) return kNoValue;
  // Products come four channels at a time, or of one channel alone.
  const int64_t group = e.node.attr_int("group", 1), channels = e.shape(w)[1];
  if (group < 1 || group > e.shape(w)[0] || e.shape(w)[0] % group != 0 || e.shape(x)[1] != channels * group ||
      (group != 1 && channels % 4 != 0 && channels != 1))
    return kNoValue;
  const Bytes weights = as_signed(e, w, w_zero == kNoValue ? w_zero : along(e, w_zero, 0, e.rank(w)));
  const ValueId zeros = weights.zero == kNoValue ? kNoValue : along(e, weights.zero, 1, e.rank(w));  // beside the output's channels
  Bytes image = as_unsigned(e, x, x_zero == kNoValue ? x_zero : e.reshape(x_zero, {}));
  std::map<std::string, Attribute> attributes = window_attributes(e.node);
  ValueId correction = kNoValue;
  if (image.zero != kNoValue && has_padding(e)) {
    if (const ValueId around = padded(e, image, attributes); around != kNoValue) image.v = around;
    else correction = weights_inside(e, image.v, weights, attributes);
  }
  if (image.zero != kNoValue && correction == kNoValue) {
    correction = weight_sums(e, weights.v);
    if (zeros != kNoValue) correction = e.add("Sub", {correction, e.add("Mul", {zeros, int32(e, numel(e.shape(w)) / e.shape(w)[0])})});
  }
  ValueId sums = e.add("ConvInteger", {image.v, weights.v}, attributes);
  if (zeros != kNoValue) sums = e.add("Sub", {sums, e.add("Mul", {image_sums(e, image.v, w, attributes), zeros})});
  return correction == kNoValue ? sums : e.add("Sub", {sums, e.add("Mul", {image.zero, correction})});
}

ValueId product_of_quantized(Expansion& e, const QuantizedForm& a, const QuantizedForm& b, ValueId bias) {
  const int64_t rank = e.rank(b.integers);
  if (!is_byte(e.dtype(a.integers)) || !is_byte(e.dtype(b.integers)) || !e.constant_of(b.integers) || rank < 2 || e.rank(a.integers) < 2) return kNoValue;
  if (!is_one(e, a.scale) || !is_one(e, a.zero_point) || !lies_along(e, b, rank - 1)) return kNoValue;
  const auto columns = [&](ValueId v) { return v == kNoValue ? v : along(e, v, rank - 1, rank); };
  const ValueId sums = integer_product(e, a.integers, b.integers, a.zero_point, columns(b.zero_point));
  return scaled(e, sums, e.reshape(a.scale, {}), columns(b.scale), bias);
}

ValueId convolution_of_quantized(Expansion& e, const QuantizedForm& x, const QuantizedForm& w, ValueId bias) {
  if (!is_one(e, x.scale) || !lies_along(e, w, 0)) return kNoValue;
  const ValueId sums = integer_convolution(e, x.integers, w.integers, x.zero_point, w.zero_point);
  if (sums == kNoValue) return kNoValue;
  const int64_t rank = e.rank(sums);
  return scaled(e, sums, e.reshape(x.scale, {}), along(e, w.scale, 1, rank), bias == kNoValue ? bias : along(e, bias, 1, rank));
}

void expand_matmul_integer(Expansion& e) {
  if (!is_written_form(e, 2)) e.set_output(0, integer_product(e, e.in(0), e.in(1), optional_in(e, 2), optional_in(e, 3)));
}

// Weights of other forms: in float64, which holds each sum of products of two bytes up to 2^53.
void expand_conv_integer(Expansion& e) {
  if (is_written_form(e, 2)) return;
  ValueId sums = integer_convolution(e, e.in(0), e.in(1), optional_in(e, 2), optional_in(e, 3));
  if (sums == kNoValue) {
    ValueId filters = e.cast(e.in(1), DType::kI32);
    if (const ValueId zero = optional_in(e, 3); !is_zero(e, zero)) filters = e.add("Sub", {filters, e.cast(over(e, zero, filters, 0, 0), DType::kI32)});
    const ValueId image = centred(e, e.in(0), optional_in(e, 2), false);
    sums = e.cast(e.add("Conv", {e.cast(image, DType::kF64), e.cast(filters, DType::kF64)}, window_attributes(e.node)), DType::kI32);
  }
  e.set_output(0, sums);
}

void expand_quantized_matmul(Expansion& e) {
  const QuantizedForm *a = e.quantized_form(e.in(0)), *b = e.quantized_form(e.in(1));
  if (a && b) e.set_output(0, product_of_quantized(e, *a, *b, kNoValue));
}

// A * B' + C alone; a transposed B is one at load.
void expand_quantized_gemm(Expansion& e) {
  const QuantizedForm *a = e.quantized_form(e.in(0)), *b = e.quantized_form(e.in(1));
  const ValueId bias = optional_in(e, 2);
  if (!a || !b || e.node.attr_int("transA", 0) != 0 || e.node.attr_float("alpha", 1) != 1 || (bias != kNoValue && e.node.attr_float("beta", 1) != 1)) return;
  QuantizedForm right = *b;
  if (e.node.attr_int("transB", 0) != 0) {
    if (!e.constant_of(right.integers) || e.rank(right.integers) != 2) return;
    right.axis = 1 - (right.axis < 0 ? right.axis + 2 : right.axis);
    right.integers = e.transpose(right.integers, {1, 0});
  }
  e.set_output(0, product_of_quantized(e, *a, right, bias));
}

void expand_quantized_conv(Expansion& e) {
  const QuantizedForm *x = e.quantized_form(e.in(0)), *w = e.quantized_form(e.in(1));
  if (x && w) e.set_output(0, convolution_of_quantized(e, *x, *w, optional_in(e, 2)));
}

}  // namespace amdahl

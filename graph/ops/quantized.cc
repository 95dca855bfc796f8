#include "graph/ops/quantized.h"

#include <fmt/format.h>

#include <utility>

#include "graph/ops/integer_products.h"

namespace amdahl {

Scaling scaling_in(Expansion& e, size_t scale, size_t zero_point) {
  const Scaling s{e.in(scale), e.has_input(zero_point) ? e.in(zero_point) : kNoValue};
  for (ValueId v : {s.scale, s.zero_point})
    if (v != kNoValue && !is_zero(e, v)) e.mark_varying(v);
  return s;
}

ValueId over(Expansion& e, ValueId v, ValueId x, int64_t axis, int64_t block) {
  const Shape shape = e.shape(x);
  const Shape own = e.shape(v);
  if (numel(own) == 1) return e.reshape(v, {});
  const size_t at = e.axis_of(axis, shape.size(), "axis");
  if (block == 0) {
    if (own.size() != 1 || own[0] != shape[at])
      throw Refusal(fmt::format("a scale or zero point of shape {} does not fit dimension {} of {}", to_string(own), at, to_string(shape)));
    Shape spread(shape.size(), 1);
    spread[at] = shape[at];
    return e.reshape(v, spread);
  }
  if (block < 0) throw Refusal(fmt::format("blocks of {}", block));
  Shape blocks = shape;
  blocks[at] = shape[at] == 0 ? 0 : (shape[at] - 1) / block + 1;
  if (own != blocks)
    throw Refusal(fmt::format("scales of shape {} are not those of blocks of {} along dimension {} of {}", to_string(own), block, at, to_string(shape)));
  Shape apart = own, repeated = own, whole = own;
  apart.insert(apart.begin() + static_cast<int64_t>(at) + 1, 1);
  repeated.insert(repeated.begin() + static_cast<int64_t>(at) + 1, block);
  whole[at] *= block;
  const ValueId all = e.reshape(e.add("Expand", {e.reshape(v, apart), e.ints(repeated)}), whole);
  return whole[at] == shape[at] ? all : e.add("Slice", {all, e.ints({0}), e.ints({shape[at]}), e.ints({static_cast<int64_t>(at)})});
}

bool is_zero(const Expansion& e, ValueId v) {
  const Tensor* t = v == kNoValue ? nullptr : e.constant_of(v);
  if (!t) return v == kNoValue;
  for (const double d : to_doubles(*t))
    if (d != 0) return false;
  return true;
}

std::pair<double, double> range_of_quantized(DType type) {
  switch (type) {
    case DType::kU8: return {0, 255};
    case DType::kI8: return {-128, 127};
    case DType::kU16: return {0, 65535};
    case DType::kI16: return {-32768, 32767};
    default: throw Refusal(fmt::format("numbers are quantized to 8 or 16 bits, not to {}", name_of(type)));
  }
}

bool is_one_scaling(const Expansion& e, const Scaling& s) {
  const auto one = [&](ValueId v) { return numel(e.shape(v)) == 1; };
  return one(s.scale) && e.dtype(s.scale) == DType::kF32 && (s.zero_point == kNoValue || one(s.zero_point));
}

ValueId dequantized(Expansion& e, ValueId x, const Scaling& s, int64_t axis, int64_t block) {
  const DType type = e.dtype(x);
  if (is_quantized_type(type) && block == 0 && is_one_scaling(e, s) && (s.zero_point == kNoValue || e.dtype(s.zero_point) == type)) {
    std::vector<ValueId> inputs{x, e.reshape(s.scale, {})};
    if (!is_zero(e, s.zero_point)) inputs.push_back(e.reshape(s.zero_point, {}));
    return e.add("DequantizeLinear", inputs);
  }
  const bool wide = type == DType::kI32;
  ValueId v = wide ? x : e.cast(x, DType::kF32);
  if (!is_zero(e, s.zero_point)) v = e.add("Sub", {v, e.cast(over(e, s.zero_point, x, axis, block), wide ? DType::kI32 : DType::kF32)});
  return e.add("Mul", {e.cast(v, DType::kF32), e.cast(over(e, s.scale, x, axis, block), DType::kF32)});
}

ValueId quantized(Expansion& e, ValueId x, const Scaling& s, DType type, int64_t axis, int64_t block) {
  if (is_one_scaling(e, s) && block == 0 && (s.zero_point == kNoValue || e.dtype(s.zero_point) == type)) {
    range_of_quantized(type);
    std::vector<ValueId> inputs{e.cast(x, DType::kF32), e.reshape(s.scale, {})};
    const bool left_out = type == DType::kU8 && is_zero(e, s.zero_point);
    if (s.zero_point != kNoValue && !left_out) inputs.push_back(e.reshape(s.zero_point, {}));
    else if (type != DType::kU8) inputs.push_back(e.scalar(type, 0));
    return e.add("QuantizeLinear", inputs);
  }
  const auto [least, greatest] = range_of_quantized(type);
  ValueId v = e.add("Round", {e.add("Div", {e.cast(x, DType::kF32), e.cast(over(e, s.scale, x, axis, block), DType::kF32)})});
  if (!is_zero(e, s.zero_point)) v = e.add("Add", {v, e.cast(over(e, s.zero_point, x, axis, block), DType::kF32)});
  return e.cast(e.add("Clip", {v, e.scalar(DType::kF32, least), e.scalar(DType::kF32, greatest)}), type);
}

DType type_of_zero(const Expansion& e, ValueId zero_point) { return zero_point == kNoValue ? DType::kU8 : e.dtype(zero_point); }

DynamicallyQuantized dynamically_quantized(Expansion& e, ValueId x) {
  const ValueId zero = e.scalar(DType::kF32, 0);
  const ValueId least = e.add("Min", {e.add("ReduceMin", {x}, {{"keepdims", int64_t{0}}}), zero});
  const ValueId greatest = e.add("Max", {e.add("ReduceMax", {x}, {{"keepdims", int64_t{0}}}), zero});
  const ValueId range = e.add("Div", {e.add("Sub", {greatest, least}), e.scalar(DType::kF32, 255)});
  const ValueId scale = e.add("Where", {e.add("Equal", {range, zero}), e.scalar(DType::kF32, 1), range});
  const ValueId shift = e.add("Clip", {e.add("Round", {e.add("Div", {e.add("Neg", {least}), scale})}), zero, e.scalar(DType::kF32, 255)});
  const Scaling s{scale, e.cast(shift, DType::kU8)};
  return {quantized(e, x, s, DType::kU8), s};
}

ValueId centred(Expansion& e, ValueId x, ValueId zero_point, bool by_rows) {
  const ValueId wide = e.cast(x, DType::kI32);
  if (is_zero(e, zero_point)) return wide;
  ValueId zero = e.cast(zero_point, DType::kI32);
  if (numel(e.shape(zero)) == 1) zero = e.reshape(zero, {});
  else if (by_rows && e.rank(zero) == 1) zero = e.reshape(zero, {e.shape(zero)[0], 1});
  return e.add("Sub", {wide, zero});
}

ValueId scaled_product(Expansion& e, ValueId a, const Scaling& as, ValueId b, const Scaling& bs, ValueId bias) {
  const ValueId sums = e.cast(integer_product(e, a, b, as.zero_point, bs.zero_point), DType::kF32);
  const ValueId scale = e.add("Mul", {numel(e.shape(as.scale)) == 1 ? e.reshape(as.scale, {}) : as.scale, bs.scale});
  const ValueId y = e.add("Mul", {sums, numel(e.shape(scale)) == 1 ? e.reshape(scale, {}) : scale});
  return bias == kNoValue ? y : e.add("Add", {y, bias});
}

std::vector<int64_t> unpacked(const Tensor& packed, int64_t bits, int64_t rows, int64_t count) {
  const auto bytes = packed.as<uint8_t>();
  const int64_t row_bytes = (count * bits + 7) / 8;
  if (static_cast<int64_t>(bytes.size()) != rows * row_bytes)
    throw Refusal(fmt::format("{} bytes are not {} rows of {} numbers of {} bits", bytes.size(), rows, count, bits));
  std::vector<int64_t> values;
  values.reserve(static_cast<size_t>(rows * count));
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t i = 0; i < count; ++i) {
      const int64_t bit = i * bits;
      values.push_back(bytes[static_cast<size_t>(r * row_bytes + bit / 8)] >> (bit % 8) & ((1 << bits) - 1));
    }
  return values;
}

ValueId optional_in(const Expansion& e, size_t i) { return e.has_input(i) ? e.in(i) : kNoValue; }

std::map<std::string, Attribute> window_attributes(const Node& node) {
  std::map<std::string, Attribute> kept;
  for (const char* name : {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"})
    if (const auto at = node.attributes.find(name); at != node.attributes.end()) kept.insert(*at);
  return kept;
}

// A scale or zero point of the rows of a (by_rows) or of the columns of b, where there are several.
static Scaling of_matrix(Expansion& e, Scaling s, bool by_rows) {
  if (!by_rows) return s;
  for (ValueId* v : {&s.scale, &s.zero_point})
    if (*v != kNoValue && e.rank(*v) == 1 && numel(e.shape(*v)) > 1) *v = e.reshape(*v, {e.shape(*v)[0], 1});
  return s;
}

// Scales of rows or columns broadcast as matrices do; those of vectors along the last dimension too.
ValueId dequantized_matrix(Expansion& e, ValueId x, Scaling s, bool by_rows) {
  s = of_matrix(e, s, by_rows);
  ValueId v = e.cast(x, DType::kF32);
  const auto spread = [&](ValueId of) { return e.cast(numel(e.shape(of)) == 1 ? e.reshape(of, {}) : of, DType::kF32); };
  if (!is_zero(e, s.zero_point)) v = e.add("Sub", {v, spread(s.zero_point)});
  return e.add("Mul", {v, spread(s.scale)});
}

}  // namespace amdahl

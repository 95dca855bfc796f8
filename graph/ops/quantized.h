#pragma once
// What operators on quantized numbers are made of: x = (q - zero_point) * scale.

#include <map>
#include <string>
#include <utility>

#include "graph/expansion.h"

namespace amdahl {

struct Scaling {
  ValueId scale, zero_point = kNoValue;
};
Scaling scaling_in(Expansion& e, size_t scale, size_t zero_point);
ValueId optional_in(const Expansion& e, size_t i);  // kNoValue where absent

// A scale or zero point in a shape that broadcasts over x: one number; one for each place along `axis`; or one for `block` neighbours along it (0: none).
ValueId over(Expansion& e, ValueId v, ValueId x, int64_t axis, int64_t block);
// Both one number, in types that QuantizeLinear has as a node of a Graph: once they are scalars (shape []).
bool is_one_scaling(const Expansion& e, const Scaling& s);
inline bool is_quantized_type(DType type) { return is_byte(type) || type == DType::kU16 || type == DType::kI16; }
std::pair<double, double> range_of_quantized(DType type);  // least and greatest; throws Refusal for a type of other than 8 or 16 bits
// Absent, or constants that are all 0.
bool is_zero(const Expansion& e, ValueId v);

// (x - zero_point) * scale, in fp32; the difference of 32-bit integers is taken before they are rounded.
ValueId dequantized(Expansion& e, ValueId x, const Scaling& s, int64_t axis = 1, int64_t block = 0);
// saturate(round(x / scale) + zero_point): halves go to the even neighbour. Throws Refusal for a type of other than 8 or 16 bits.
ValueId quantized(Expansion& e, ValueId x, const Scaling& s, DType type, int64_t axis = 1, int64_t block = 0);
DType type_of_zero(const Expansion& e, ValueId zero_point);  // u8 where absent

struct DynamicallyQuantized {
  ValueId y;
  Scaling scaling;
};
// To u8 over the range of x and 0. Of zeros alone the scale would be 0: it is 1 then, as ONNX Runtime has it.
DynamicallyQuantized dynamically_quantized(Expansion& e, ValueId x);

// x - zero_point as int32. One zero point a row is a column beside the rows (`by_rows`); others broadcast as they are.
ValueId centred(Expansion& e, ValueId x, ValueId zero_point, bool by_rows);
// (integers of a times integers of b) * a's scale * b's scale + bias
ValueId scaled_product(Expansion& e, ValueId a, const Scaling& as, ValueId b, const Scaling& bs, ValueId bias = kNoValue);
// A matrix whose scales are of its rows (`by_rows`), of its columns, or one.
ValueId dequantized_matrix(Expansion& e, ValueId x, Scaling s, bool by_rows);

// Whole numbers of `bits` bits, little end first, `count` a row; each row begins with a byte of its own.
std::vector<int64_t> unpacked(const Tensor& packed, int64_t bits, int64_t rows, int64_t count);

// Attributes of convolutions and pools that say where their windows lie.
std::map<std::string, Attribute> window_attributes(const Node& node);

}  // namespace amdahl

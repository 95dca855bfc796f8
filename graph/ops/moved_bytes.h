#pragma once
// What only moves numbers, or takes the largest, does the same to the bytes that they are known as: a fourth of the memory, and the quantization behind it is
// often that of the bytes already.

#include "graph/expansion.h"

namespace amdahl {

// Row of the op list of such an operator: op(DequantizeLinear(q)) is DequantizeLinear(op(q)).
void expand_moved_bytes(Expansion& e);

// The bytes of x where QuantizeLinear with this scaling makes nothing else of them: x was made of them with the same. kNoValue otherwise.
ValueId bytes_quantized_again(const Expansion& e, ValueId x, ValueId scale, ValueId zero_point);

}  // namespace amdahl

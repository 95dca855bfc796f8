#pragma once
// Values in bytes that stand for floats, and are known as such.

#include <array>
#include <map>

#include "graph/graph.h"

namespace amdahl {

// What a value that stands for floats is made of: (integers - zero_point) * scale; one scale, or one for each place along `axis`.
struct QuantizedForm {
  ValueId integers = kNoValue, scale = kNoValue, zero_point = kNoValue;
  int64_t axis = 0;
};
struct QuantizedForms {
  std::map<ValueId, QuantizedForm> of;
  // Constants in bytes whose floats are made only if something reads these in the end: products take the bytes. By integers, scale, zero point, axis.
  std::map<std::array<int64_t, 4>, ValueId> promised;
};

// The floats of constants: bytes, with scales and zero points of all of them or along `axis`.
Tensor floats_of(const Tensor& q, const Tensor& scale, const Tensor* zero_point, int64_t axis);

}  // namespace amdahl

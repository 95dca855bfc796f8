#pragma once
// The loops of memory-bound kernels as text: an index space walked by several operands at once, with as few dimensions as their strides allow.

#include <string>
#include <vector>

#include "starter_kernels/kinds/problem.h"

namespace amdahl {

// Dimensions of size 1 dropped, neighbours merged where every operand runs through both as through one. Row-major order of
// the points is kept. `dims` is empty for a single point.
struct IndexSpace {
  Shape dims;
  std::vector<Shape> strides;  // of each operand, in elements, one per dimension
  std::vector<int64_t> offsets;

  int64_t points() const { return numel(dims); }
};
IndexSpace collapse(const Shape& shape, const std::vector<const Access*>& operands);
// Of all operands of a problem that computes element by element: its inputs first, then its outputs.
IndexSpace collapse(const Problem& problem);

// `const int64_t i<first>…` from the flat number `index` over `dims` (row-major), one declaration a line.
std::string unflatten_text(const std::string& index, const Shape& dims, size_t first, const std::string& indent);
// Sum of index times stride over names i<first>…, "0" when nothing is left.
std::string offset_text(const Shape& strides, size_t first, int64_t offset);

// The parts one after another, each followed by a newline.
std::string join_text(const std::vector<std::string>& parts);

}  // namespace amdahl

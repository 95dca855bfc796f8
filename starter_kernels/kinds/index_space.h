#pragma once
// The loops of memory-bound kernels: an index space walked by several operands at once, with as few dimensions as their
// strides allow, and the small pieces of text that such kernels share.

#include <string>
#include <string_view>
#include <vector>

#include "base/machine.h"
#include "starter_kernels/kinds/kernel_kind.h"

namespace amdahl {

// How value `v` is read at every point of `space`, numpy broadcasting: stride 0 where it is repeated.
Access broadcast_access(const Graph& graph, ValueId v, const Shape& space);
Access dense_access(const Graph& graph, ValueId v);
// `access` of shape S as seen from a space that S broadcasts to.
Access broadcast_access(const Access& access, const Shape& space);

// Dimensions of size 1 dropped, neighbours merged where every operand runs through both as through one. Row-major order of
// the points is kept. `dims` is empty for a single point.
struct IndexSpace {
  Shape dims;
  std::vector<Shape> strides;   // of each operand, in elements, one per dimension
  std::vector<int64_t> offsets;

  int64_t points() const { return numel(dims); }
};
IndexSpace collapse(const Shape& shape, const std::vector<const Access*>& operands);

// Elements that are read or written at least once, times their size.
double operand_bytes(const Access& access);

// Arithmetic of one evaluation: 1 for an addition, about 15 for an exponential.
double flops_of(const PointwiseProgram& program);

// `const int64_t i<first>…` from the flat number `index` over `dims` (row-major), one declaration a line.
std::string unflatten_text(const std::string& index, const Shape& dims, size_t first, const std::string& indent);
// Sum of index times stride over names i<first>…, "0" when nothing is left.
std::string offset_text(const Shape& strides, size_t first, int64_t offset);

// GCC keeps to 256-bit vectors on many CPUs with 512-bit units; for kernels that compute much (exp, erf) 512 is faster.
Knob vector_bits_knob(const MachineInfo& machine);
std::string vector_bits_text(const Knobs& knobs);

// cpu/streaming.h when the knob STREAM is set, else an empty stream_fence().
std::string streaming_text(const Knobs& knobs);

// The parts one after another, each followed by a newline.
std::string join_text(const std::vector<std::string>& parts);
// The usual opening of a kernel text: vector width, scalar functions, THREADS.
std::string opening_text(const Variant& variant);
// Knobs as `constexpr int64_t NAME = value;` lines.
std::string knob_text(const Knobs& knobs);

}  // namespace amdahl

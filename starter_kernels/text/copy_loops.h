#pragma once
// The loops of one strided copy of the movement kind (starter_kernels/kinds/movement.h).

#include <string>

#include "starter_kernels/kinds/movement.h"
#include "starter_kernels/text/index_space.h"

namespace amdahl {

struct CopyLoops {
  IndexSpace space;  // operand 0 reads, 1 writes
  int along = -1;    // of a transpose: the dimension in which the source runs along memory; the last one is the result's

  static CopyLoops of(const StridedCopy& copy);
};

// Whether any copy of a movement problem is a transpose.
bool has_transpose(const Problem& problem);

// Elements are moved as bits: "uint32_t".
std::string bits_type(DType dtype);

}  // namespace amdahl

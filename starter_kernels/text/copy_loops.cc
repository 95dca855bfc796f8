#include "starter_kernels/text/copy_loops.h"

#include <fmt/format.h>

#include "starter_kernels/kinds/movement.h"
#include "starter_kernels/kinds/problem.h"

namespace amdahl {

CopyLoops CopyLoops::of(const StridedCopy& copy) {
  Access from{DType::kF32, copy.shape, copy.in_strides, copy.in_offset}, to{DType::kF32, copy.shape, copy.out_strides, copy.out_offset};
  CopyLoops loops{collapse(copy.shape, {&from, &to})};
  const IndexSpace& s = loops.space;
  if (s.dims.size() < 2 || s.strides[1].back() != 1 || s.strides[0].back() < 2) return loops;
  for (size_t d = 0; d + 1 < s.dims.size(); ++d)
    if (s.strides[0][d] == 1 && s.dims[d] >= 4 && s.dims.back() >= 4) loops.along = static_cast<int>(d);
  return loops;
}

bool has_transpose(const Problem& problem) {
  if (MovementParams::of(problem).gather) return false;
  for (const StridedCopy& copy : copies_of(problem))
    if (CopyLoops::of(copy).along >= 0) return true;
  return false;
}

std::string bits_type(DType dtype) { return fmt::format("uint{}_t", 8 * size_of(dtype)); }

}  // namespace amdahl

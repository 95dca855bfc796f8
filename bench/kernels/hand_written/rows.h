#pragma once
// A tensor as rows of its last axis.

#include <fmt/format.h>

#include "base/error.h"
#include "bench/kernels/operands.h"

namespace amdahl::hand_written {

struct Rows {
  const float* x;
  float* y;
  int64_t rows, columns;
};

// `multiple`: what a row's length is a multiple of, or Error.
inline Rows rows_of(const Operands& operands, int64_t multiple) {
  const Operand& input = operands.inputs.at(0);
  const int64_t columns = input.shape.back();
  if (columns % multiple) throw Error(ExitCode::kUnsupported, fmt::format("rows of {} are not of whole runs of {}", columns, multiple));
  return {input.data.get(), operands.output.data.get(), numel(input.shape) / columns, columns};
}

}  // namespace amdahl::hand_written

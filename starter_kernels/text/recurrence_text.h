#pragma once
// What backends' recurrence share (starter_kernels/kinds/recurrence.cc says what its operands are).

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "starter_kernels/kinds/problem.h"

namespace amdahl {

// LENGTH, BATCH, INPUT, HIDDEN, DIRECTIONS, GATES, the letter CELL, the flags, and where optional operands are (IN_B, OUT_H …; -1: absent).
std::vector<std::pair<std::string, int64_t>> recurrence_sizes(const Problem& problem);

// Types `real` (what is computed with) and `value_t`; `real to_real(value_t)`, `value_t to_value(real)`; activations `real act_f(int64_t d, real x)`, act_g and
// act_h of direction d; `real clipped(real)`; `position(in, d, t, b)`: what row b sees at step t, -1 where it has ended; rows `x_row(t, b)`, `y_row(t, d, b)` and
// `state_row(d, b)` in elements, but for x_row, which counts rows. The sizes must precede.
std::string recurrence_functions_text(const Problem& problem);

}  // namespace amdahl

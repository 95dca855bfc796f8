#pragma once
// How a CPU's threads share the rows of kernels that fold rows (starter_kernels/text/row_space.h).

#include <string>

#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"

namespace amdahl {

// Rows a task, and the knob.
Knob rows_knob(const Problem& problem, int64_t rows, double work_of_row);
// TASKS, ROWS_PER_TASK, and the scratch of a thread: `scratch` elements of `real`.
std::string tasks_text(const Problem& problem, const Knobs& knobs, int64_t rows, int64_t scratch, DType real);

}  // namespace amdahl

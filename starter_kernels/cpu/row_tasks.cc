#include "starter_kernels/cpu/row_tasks.h"

#include <fmt/format.h>

#include <algorithm>

#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"
#include "starter_kernels/text/program_text.h"

namespace amdahl {

Knob rows_knob(const Problem& problem, int64_t rows, double work_of_row) {
  // Waking a team costs some microseconds, a row `work_of_row` nanoseconds.
  const bool small = problem.threads == 1 || static_cast<double>(rows) * work_of_row < 20e3;
  Knob knob{"ROWS_PER_TASK", {0}, small ? std::max<int64_t>(rows, 1) : 0, "rows a task; 0: an equal share for each thread"};
  for (int64_t n : {1, 4, 16, 64})
    if (n < rows) knob.values.push_back(n);
  knob.values.push_back(std::max<int64_t>(rows, 1));
  return knob;
}

std::string tasks_text(const Problem& problem, const Knobs& knobs, int64_t rows, int64_t scratch, DType real) {
  const int64_t wanted = knobs.at("ROWS_PER_TASK");
  const int64_t size = std::max<int64_t>(1, wanted > 0 ? wanted : (rows + problem.threads - 1) / problem.threads);
  return fmt::format(
      "constexpr int64_t ROWS = {}, ROWS_PER_TASK = {}, TASKS = {};\n"
      "constexpr int64_t SCRATCH = {};  // elements a thread\n"
      "constexpr size_t SCRATCH_BYTES = (SCRATCH * sizeof({}) + 63) / 64 * 64;\n",
      rows, size, (rows + size - 1) / size, scratch, register_type(real));
}

}  // namespace amdahl

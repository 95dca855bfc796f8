#include "starter_kernels/kinds/halved_work.h"

#include <cmath>

#include "starter_kernels/kinds/accesses.h"
#include "starter_kernels/kinds/kernel_kind.h"
#include "starter_kernels/kinds/problem.h"

namespace amdahl {

void halve(const Problem& problem, Work& work) {
  const int levels = strassen_levels(problem);
  work.flops *= std::pow(7.0 / 8, levels);
  const double weights = operand_bytes(problem.in[1]) * (multiplies_in_bf16(problem) ? 0.5 : 1);
  work.bytes += (std::pow(7.0 / 4, levels) - 1) * weights;  // seven quarters of them, at each level
}

}  // namespace amdahl

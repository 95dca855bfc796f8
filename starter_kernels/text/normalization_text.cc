#include "starter_kernels/text/normalization_text.h"

#include <fmt/format.h>

#include "starter_kernels/kinds/normalization.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/text/row_space.h"

namespace amdahl {

NormalizationInputs NormalizationInputs::of(const Problem& problem) {
  const NormalizationParams params = NormalizationParams::of(problem);
  NormalizationInputs inputs;
  inputs.epilogue = prologue_inputs(problem);
  if (params.scale) inputs.scale = static_cast<int>(inputs.epilogue++);
  if (params.shift) inputs.shift = static_cast<int>(inputs.epilogue++);
  return inputs;
}

std::string divisor_text(NormalizationParams::Divisor divisor) {
  using Divisor = NormalizationParams::Divisor;
  std::string inverse = "1 / scalar::sqrt(sum / (real)(R * J) + EPSILON)";
  if (divisor == Divisor::kDeviation) inverse = "1 / (scalar::sqrt(sum / (real)(R * J)) + EPSILON)";
  if (divisor == Divisor::kL1) inverse = "sum == 0 ? 0 : 1 / sum";
  if (divisor == Divisor::kL2) inverse = "sum == 0 ? 0 : 1 / scalar::sqrt(sum)";
  return fmt::format("template <class T> SCALAR T term(T v) {{ return {}; }}\n", divisor == Divisor::kL1 ? "v < 0 ? -v : v" : "v * v") +
         fmt::format("SCALAR real inverse_of(real sum) {{ return {}; }}\n", inverse);
}

}  // namespace amdahl

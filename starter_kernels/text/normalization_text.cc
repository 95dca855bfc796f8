#include "starter_kernels/text/normalization_text.h"

#include <fmt/format.h>

#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/text/row_space.h"

namespace amdahl {

bool has_part(const Problem& problem, const char* name) { return problem.params.value(name, false); }

NormalizationInputs NormalizationInputs::of(const Problem& problem) {
  NormalizationInputs inputs;
  inputs.epilogue = prologue_inputs(problem);
  if (has_part(problem, "scale")) inputs.scale = static_cast<int>(inputs.epilogue++);
  if (has_part(problem, "shift")) inputs.shift = static_cast<int>(inputs.epilogue++);
  return inputs;
}

std::string divisor_text(const Problem& problem) {
  const std::string divisor = problem.params.value("divisor", "");
  std::string inverse = "1 / scalar::sqrt(sum / (real)(R * J) + EPSILON)";
  if (divisor == "deviation") inverse = "1 / (scalar::sqrt(sum / (real)(R * J)) + EPSILON)";
  if (divisor == "l1") inverse = "sum == 0 ? 0 : 1 / sum";
  if (divisor == "l2") inverse = "sum == 0 ? 0 : 1 / scalar::sqrt(sum)";
  return fmt::format("template <class T> SCALAR T term(T v) {{ return {}; }}\n", divisor == "l1" ? "v < 0 ? -v : v" : "v * v") +
         fmt::format("SCALAR real inverse_of(real sum) {{ return {}; }}\n", inverse);
}

}  // namespace amdahl

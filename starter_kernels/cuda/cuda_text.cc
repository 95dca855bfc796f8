#include "starter_kernels/cuda/cuda_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "starter_kernels/text/index_space.h"
#include "starter_kernels/text/program_text.h"

namespace amdahl {

std::string_view cuda_text(std::string_view name) { return find_text(cuda_texts(), name); }

std::string cuda_opening(const Problem& problem) {
  const bool half_results = std::all_of(problem.out.begin(), problem.out.end(), [](const Access& a) { return is_half(a.dtype); });
  return join_text({half_results ? "#define HALF_RESULTS" : "",
                    cuda_sizes({{"INPUTS", static_cast<int64_t>(problem.in.size())}, {"OUTPUTS", static_cast<int64_t>(problem.out.size())}}),
                    std::string(cuda_text("prelude.h")), std::string(cuda_text("half.h")), std::string(cuda_text("scalar_math.h"))});
}

std::string cuda_sizes(std::initializer_list<std::pair<std::string_view, int64_t>> sizes) {
  std::string text = "enum : long long {";
  for (const auto& [name, value] : sizes) text += fmt::format(" {} = {},", name, value);
  return text + " };\n";
}

// Its first line is a constexpr number.
std::string cuda_epilogue(const Problem& problem, size_t base) {
  const std::string text = emit_epilogue(problem, base);
  return fmt::format("enum : bool {{ HAS_EPILOGUE = {} }};\n{}", has_epilogue(problem), text.substr(text.find('\n') + 1));
}

}  // namespace amdahl

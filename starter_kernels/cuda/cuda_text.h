#pragma once
// The texts of starter_kernels/cuda/kernels, inside the program, and the pieces that every kernel's text begins with.

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "base/embedded.h"
#include "starter_kernels/kinds/problem.h"

namespace amdahl {

const std::vector<EmbeddedText>& cuda_texts();      // generated
std::string_view cuda_text(std::string_view name);  // "matmul.cu"; Error(kInternal) when there is none

// INPUTS, OUTPUTS, types, tables, scalar functions: prelude.h, half.h and scalar_math.h. Instructions of the card that C++ has no word for are in half.h and
// mma.h alone.
std::string cuda_opening(const Problem& problem);
// Numbers as enumerators: a constexpr number would become a variable in the card's memory.
std::string cuda_sizes(std::initializer_list<std::pair<std::string_view, int64_t>> sizes);
// emit_epilogue() (starter_kernels/text/program_text.h).
std::string cuda_epilogue(const Problem& problem, size_t base);

}  // namespace amdahl

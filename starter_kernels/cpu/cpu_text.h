#pragma once
// The texts of starter_kernels/cpu/kernels, inside the program.

#include "base/embedded.h"

namespace amdahl {

const std::vector<EmbeddedText>& cpu_texts();      // generated
std::string_view cpu_text(std::string_view name);  // "matmul.cpp"; Error(kInternal) when there is none

}  // namespace amdahl

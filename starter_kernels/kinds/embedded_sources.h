#pragma once
// The texts of starter_kernels/cpu and starter_kernels/cuda, inside the program.

#include "base/embedded.h"

namespace amdahl {

const std::vector<EmbeddedText>& embedded_sources();  // generated
std::string_view embedded_source(std::string_view name);  // Error(kInternal) when there is none

}  // namespace amdahl

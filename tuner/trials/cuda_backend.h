#pragma once
// An NVIDIA card as a backend.

#include "tuner/trials/backend.h"

namespace amdahl {

// Card `number`, which lives as long as the program. Throws Error(kNoDevice).
const Backend& cuda_backend(int number);
std::string seen_card();  // BackendRow::seen

}  // namespace amdahl

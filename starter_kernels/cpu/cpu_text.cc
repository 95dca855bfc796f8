#include "starter_kernels/cpu/cpu_text.h"

namespace amdahl {

std::string_view cpu_text(std::string_view name) { return find_text(cpu_texts(), name); }

}  // namespace amdahl

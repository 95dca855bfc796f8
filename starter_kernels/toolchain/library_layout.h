#pragma once
// The outside of a kernel's library: which sections and segments it has, and what it tells the loader. Compilers write a dozen kinds of
// section for a kernel, all of them known; what lies elsewhere was put there by other means, and nobody would look for code in it.

#include <string>

#include "base/elf.h"

namespace amdahl {

// "" or what the library has that no compiler writes for a kernel.
std::string refused_layout(const ElfFile& library);

}  // namespace amdahl

#pragma once
// What a kernel's library asks of other libraries, and what it offers them. A kernel computes its outputs from its operands:
// arithmetic, memory, threads. It opens no libraries or files, starts no programs, reads no clock, and stands in for no
// function of the C library.
//
// A list of what is allowed, not of what is not. It stops the honest mistake (a call of a BLAS) and the lazy cheat before
// anything is loaded; what machine code does by itself is machine_code.h's business.

#include <string>

#include "base/elf.h"

namespace amdahl {

// "" or what it has that no kernel needs, and what to do instead.
std::string refused_symbols(const ElfFile& library);

}  // namespace amdahl

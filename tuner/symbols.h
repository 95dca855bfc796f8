#pragma once
// What a kernel's library asks of other libraries, and what it offers them. A kernel computes its outputs from its operands:
// arithmetic, memory, threads. It opens no libraries or files, starts no programs, reads no clock, and stands in for no
// function of the C library.
//
// A list of what is allowed, not of what is not. It stops the honest mistake (a call of a BLAS) and the lazy cheat before
// anything is loaded; machine code that makes its own system calls is the sandbox's business.

#include <string>

namespace amdahl {

// "" or what it has that no kernel needs, and what to do instead.
std::string refused_symbols(const std::string& library);

}  // namespace amdahl

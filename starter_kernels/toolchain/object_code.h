#pragma once
// Identity of a library by what it does: two variants that compile to the same instructions and data are one candidate.

#include <string>

namespace amdahl {

// Hash of the loadable contents (.text, .rodata, .data and their like) of an ELF64 library; names, paths and debugging
// sections do not count. "" when the file is not one.
std::string object_code_hash(const std::string& library);

}  // namespace amdahl

#pragma once
// What a kernel may say to the assembler: instructions and alignment, written out. Nothing that makes text of text (macros, repetitions,
// assignments), changes to another section, or writes bytes: what the instructions do is judged from the library (machine_code.h).

#include <string>

namespace amdahl {

// "" or what the template of an asm statement, or the name that a declaration gives itself, holds that is not allowed.
std::string refused_assembly(const std::string& text);

}  // namespace amdahl

#pragma once
// What the text of a kernel may ask of its compiler. A kernel is arithmetic: it needs headers of the standard library and of
// intrinsics, and nothing from files. This is a hint that names the line; it reads C++ more simply than a compiler does. The
// wall behind it is confined_compiler.h.

#include <string>

namespace amdahl {

// "" when the text keeps the rules, else one line: which line breaks which.
std::string refused_source(const std::string& text);

}  // namespace amdahl

#pragma once
// Numbers as texts of C++, exactly: `inf` and `nan` are no numbers there.

#include <string>

namespace amdahl {

// A constant expression in parentheses with the bits of `value`, which a float is rounded to first.
std::string float_text(double value);
std::string double_text(double value);

}  // namespace amdahl

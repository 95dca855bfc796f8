#pragma once
// Numbers as texts, exactly: of kernels, where `inf` and `nan` are no numbers, and of JSON, which has neither.

#include <string>

#include "starter_kernels/kinds/problem.h"

namespace amdahl {

// A constant expression of C++, in parentheses, with the bits of `value`, which a float is rounded to first.
std::string float_text(double value);
std::string double_text(double value);

// A JSON number, or "inf", "-inf", "nan".
Json number_json(double value);
double number_of(const Json& json);

}  // namespace amdahl

#pragma once
// Numbers in JSON, exactly, which has no infinities and no NaN.

#include "starter_kernels/kinds/problem.h"

namespace amdahl {

// A JSON number, or "inf", "-inf", "nan".
Json number_json(double value);
double number_of(const Json& json);

}  // namespace amdahl

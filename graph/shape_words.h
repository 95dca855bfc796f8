#pragma once
// Shapes in sentences and tables, where "[]" would look like something that was left out.

#include <string>

#include "graph/dtype.h"

namespace amdahl {

// "[1, 128, 768]", "scalar".
inline std::string in_words(const Shape& shape) { return shape.empty() ? "scalar" : to_string(shape); }

}  // namespace amdahl

#pragma once
// Sizes as they are typed: "1,128", and "1,{16,64,128}" for several at once.

#include <optional>
#include <string>
#include <vector>

#include "graph/dtype.h"

namespace amdahl {

struct ShapeList {
  std::vector<Shape> shapes;                  // one, or one a choice; numbers in several braces are taken together, in turn
  std::vector<std::vector<int64_t>> choices;  // of each pair of braces
};

// Numbers from `least` on with commas between them; braces hold two or more choices, as many in every pair. No value: not that.
std::optional<ShapeList> parse_shape_list(const std::string& text, int64_t least);

}  // namespace amdahl

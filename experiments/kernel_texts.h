#pragma once
// Texts of many kernels, small: those of one kind share nearly all their lines, so each line is kept once.

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "starter_kernels/kinds/problem.h"

namespace amdahl {

class KernelTexts {
 public:
  // The number of the text; equal texts have one.
  int add(const std::string& text);
  // {"lines": [text…], "texts": [[number of a line…]…]}
  Json json() const;

 private:
  int line(std::string_view text);

  std::unordered_map<std::string, int> numbers_, line_numbers_;
  std::vector<std::string> lines_;
  std::vector<std::vector<int>> texts_;
};

}  // namespace amdahl

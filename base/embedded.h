#pragma once
// Text files that travel inside the program, so that it runs without its source tree. Each list is generated at build time
// by cmake/embed_text.cmake.

#include <string_view>
#include <vector>

namespace amdahl {

struct EmbeddedText {
  std::string_view name;  // relative to the folder that was embedded: "matmul.cpp"
  std::string_view text;
};

// The text called `name`. Throws Error(kInternal) when there is none.
std::string_view find_text(const std::vector<EmbeddedText>& texts, std::string_view name);

}  // namespace amdahl

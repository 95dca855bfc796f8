#pragma once
// Numbers of things in a sentence: "1 thread", "2 threads".

#include <fmt/format.h>

#include <concepts>
#include <string>
#include <string_view>

namespace amdahl {

// `many` where the plural is not the word with an s: counted(n, "proof"), but counted(n, "process", "processes").
inline std::string counted(std::integral auto n, std::string_view one, std::string_view many = "") {
  if (n == 1) return fmt::format("1 {}", one);
  return many.empty() ? fmt::format("{} {}s", n, one) : fmt::format("{} {}", n, many);
}

}  // namespace amdahl

#pragma once
// The texts of starter_kernels/cpu and starter_kernels/cuda, inside the program, so that it runs without its source tree.

#include <string_view>
#include <vector>

namespace amdahl {

struct EmbeddedSource {
  std::string_view name;  // "cpu/matmul.cpp"
  std::string_view text;
};
const std::vector<EmbeddedSource>& embedded_sources();
std::string_view embedded_source(std::string_view name);  // Error(kInternal) when there is none

}  // namespace amdahl

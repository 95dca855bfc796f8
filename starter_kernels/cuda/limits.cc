#include "starter_kernels/cuda/limits.h"

#include <fmt/format.h>

namespace amdahl {

std::string refused_shared(int64_t bytes, int64_t most) {
  return bytes > most ? fmt::format("a block takes {} bytes of shared memory, and {} are there", bytes, most) : "";
}

std::string refused_parts(int64_t parts, int64_t bytes_of_one) {
  constexpr int64_t kMost = int64_t{256} << 20;
  return parts > 1 && parts * bytes_of_one > kMost ? "the sums of the parts take more than 256 MiB" : "";
}

}  // namespace amdahl

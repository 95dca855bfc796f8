#include "starter_kernels/cpu/byte_products.h"

namespace amdahl {

bool multiplies_bytes(const Problem& problem) { return problem.in[0].dtype == DType::kU8 && problem.in[1].dtype == DType::kI8; }

std::vector<int64_t> byte_steps(const DeviceInfo& device) {
  const bool vnni = device.has("avx512_vnni") || (device.has("avx_vnni") && !device.has("avx512f"));
  return vnni ? std::vector<int64_t>{4, 2} : std::vector<int64_t>{2};
}

std::string byte_products_text(int64_t steps, const DeviceInfo& device) {
  if (steps == 2) return "#define PAIRS_OF_SHORTS\n";
  return std::string("#define FOURS_OF_BYTES\n") + (device.has("avx512_vnni") ? "" : "#define VNNI_OF_AVX\n");
}

}  // namespace amdahl

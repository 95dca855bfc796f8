#pragma once
// How wide the vectors of a processor are, and what follows for kernels and for what is stored between them.

#include <cstdint>
#include <string>
#include <vector>

#include "base/device_info.h"

namespace amdahl {

struct VectorUnit {
  std::vector<int64_t> widths;  // lanes of 4 bytes, the narrowest first
  int64_t registers;
};
VectorUnit vector_unit(const DeviceInfo& device);
// "" or why kernels cannot compute on vectors of 512 bits.
std::string refused_on_avx512(const DeviceInfo& device);
// The storage format (starter_kernels/kinds/formats.h) whose block is a vector: "nchw16c" where one holds 16 floats, else "nchw8c". A wider block is not split
// by GCC 12 into vectors that it keeps in registers, but passes through the stack (a region of ResNet-50 took 16 times as long with AVX2).
std::string blocked_format(const DeviceInfo& device);

}  // namespace amdahl

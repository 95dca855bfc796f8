#pragma once
// How one tensor lies in memory: row-major (format ""), channel-blocked "nchw<k>c" = [N, ceil(C/k), spatial…, k] with zero padding channels,
// or "nhwc" = [N, spatial…, C].

#include <cstddef>
#include <string>

#include "graph/tensor.h"

namespace amdahl {

// Bytes of a tensor in this format, padding included.
size_t storage_bytes(DType dtype, const Shape& shape, const std::string& format);

// Row-major <-> stored. Throws Error(kInternal) for an unknown format.
void to_format(const std::byte* plain, std::byte* stored, DType dtype, const Shape& shape, const std::string& format);
void from_format(const std::byte* stored, std::byte* plain, DType dtype, const Shape& shape, const std::string& format);

}  // namespace amdahl

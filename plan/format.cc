#include "plan/format.h"

#include <cstring>

#include "base/error.h"

namespace amdahl {
namespace {

// Channels of a block; 0 for row-major. Channels last is one block of all of them.
int64_t block_of(const std::string& format, const Shape& shape) {
  if (format.empty()) return 0;
  if (format == "nhwc") return shape.at(1);
  if (format.rfind("nchw", 0) != 0 || format.back() != 'c') throw Error(ExitCode::kInternal, "unknown storage format " + format);
  return std::stoll(format.substr(4));
}

struct Blocked {
  int64_t batch, channels, blocks, pixels, block;
  Blocked(const Shape& shape, int64_t block) : block(block) {
    batch = shape.at(0);
    channels = shape.at(1);
    blocks = (channels + block - 1) / block;
    pixels = 1;
    for (size_t i = 2; i < shape.size(); ++i) pixels *= shape[i];
  }
};

}  // namespace

size_t storage_bytes(DType dtype, const Shape& shape, const std::string& format) {
  const int64_t block = block_of(format, shape);
  if (block == 0) return static_cast<size_t>(numel(shape)) * size_of(dtype);
  const Blocked b(shape, block);
  return static_cast<size_t>(b.batch * b.blocks * b.pixels * b.block) * size_of(dtype);
}

void to_format(const std::byte* plain, std::byte* stored, DType dtype, const Shape& shape, const std::string& format) {
  const size_t width = size_of(dtype);
  const int64_t block = block_of(format, shape);
  if (block == 0) {
    std::memcpy(stored, plain, static_cast<size_t>(numel(shape)) * width);
    return;
  }
  const Blocked b(shape, block);
  std::memset(stored, 0, storage_bytes(dtype, shape, format));
  for (int64_t n = 0; n < b.batch; ++n)
    for (int64_t c = 0; c < b.channels; ++c)
      for (int64_t p = 0; p < b.pixels; ++p)
        std::memcpy(stored + static_cast<size_t>(((n * b.blocks + c / block) * b.pixels + p) * block + c % block) * width,
                    plain + static_cast<size_t>((n * b.channels + c) * b.pixels + p) * width, width);
}

void from_format(const std::byte* stored, std::byte* plain, DType dtype, const Shape& shape, const std::string& format) {
  const size_t width = size_of(dtype);
  const int64_t block = block_of(format, shape);
  if (block == 0) {
    std::memcpy(plain, stored, static_cast<size_t>(numel(shape)) * width);
    return;
  }
  const Blocked b(shape, block);
  for (int64_t n = 0; n < b.batch; ++n)
    for (int64_t c = 0; c < b.channels; ++c)
      for (int64_t p = 0; p < b.pixels; ++p)
        std::memcpy(plain + static_cast<size_t>((n * b.channels + c) * b.pixels + p) * width,
                    stored + static_cast<size_t>(((n * b.blocks + c / block) * b.pixels + p) * block + c % block) * width, width);
}

}  // namespace amdahl

#include "graph/models/padding.h"

#include <cstring>

namespace amdahl {
namespace {

// The block that starts at 0 everywhere, from one row-major tensor into another. Ranks are equal.
void copy_block(const std::byte* from, const Shape& from_shape, std::byte* to, const Shape& to_shape, const Shape& block, size_t axis, size_t element) {
  if (axis + 1 >= block.size()) {
    std::memcpy(to, from, block.empty() ? element : static_cast<size_t>(block[axis]) * element);
    return;
  }
  size_t from_step = element, to_step = element;
  for (size_t a = axis + 1; a < block.size(); ++a) {
    from_step *= static_cast<size_t>(from_shape[a]);
    to_step *= static_cast<size_t>(to_shape[a]);
  }
  for (int64_t i = 0; i < block[axis]; ++i)
    copy_block(from + static_cast<size_t>(i) * from_step, from_shape, to + static_cast<size_t>(i) * to_step, to_shape, block, axis + 1, element);
}

}  // namespace

Tensor padded(const Tensor& tensor, const Shape& shape) {
  std::byte* data = nullptr;
  Tensor large = Tensor::allocate(tensor.dtype(), shape, &data);
  std::memset(data, 0, large.bytes());
  copy_block(tensor.data(), tensor.shape(), data, shape, tensor.shape(), 0, size_of(tensor.dtype()));
  return large;
}

Tensor cropped(const Tensor& tensor, const Shape& shape) {
  std::byte* data = nullptr;
  Tensor small = Tensor::allocate(tensor.dtype(), shape, &data);
  copy_block(tensor.data(), tensor.shape(), data, shape, shape, 0, size_of(tensor.dtype()));
  return small;
}

}  // namespace amdahl

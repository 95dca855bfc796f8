#pragma once
// A concrete, immutable, row-major tensor: constants of a graph, inputs and outputs of a run.

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <vector>

#include "graph/dtype.h"

namespace amdahl {

class Tensor {
 public:
  Tensor() = default;
  // Takes shared ownership; `data` holds numel(shape) * size_of(dtype) bytes and may be a read-only file mapping.
  Tensor(DType dtype, Shape shape, std::shared_ptr<const std::byte> data) : dtype_(dtype), shape_(std::move(shape)), data_(std::move(data)) {}

  // Copies `values` in. numel(shape) must equal values.size().
  template <typename T>
  static Tensor of(DType dtype, Shape shape, const std::vector<T>& values) {
    std::shared_ptr<std::byte> p(new (std::align_val_t{64}) std::byte[values.size() * sizeof(T) + 1],
                                 [](std::byte* q) { operator delete[](q, std::align_val_t{64}); });
    if (!values.empty()) std::memcpy(p.get(), values.data(), values.size() * sizeof(T));
    return Tensor(dtype, std::move(shape), std::move(p));
  }
  // Uninitialised, 64-byte aligned; fill through the returned pointer before sharing it.
  static Tensor allocate(DType dtype, Shape shape, std::byte** writable);

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int64_t numel() const { return amdahl::numel(shape_); }
  size_t bytes() const { return static_cast<size_t>(numel()) * size_of(dtype_); }
  const std::byte* data() const { return data_.get(); }
  template <typename T>
  std::span<const T> as() const {
    return {reinterpret_cast<const T*>(data_.get()), static_cast<size_t>(numel())};
  }
  // The same bytes under another shape of equal element count.
  Tensor reshaped(Shape shape) const { return Tensor(dtype_, std::move(shape), data_); }

 private:
  DType dtype_ = DType::kF32;
  Shape shape_;
  std::shared_ptr<const std::byte> data_;
};

// Element-wise conversions of any dtype. Float -> int truncates; NaN -> 0. bool is 0/1.
std::vector<double> to_doubles(const Tensor& t);
std::vector<int64_t> to_ints(const Tensor& t);  // u64 keeps its bits
// Rounds to nearest even into the dtype; out-of-range floats become infinities, integers wrap.
Tensor from_doubles(DType dtype, Shape shape, const std::vector<double>& values);
Tensor from_ints(DType dtype, Shape shape, const std::vector<int64_t>& values);

float f16_to_f32(uint16_t h);
float bf16_to_f32(uint16_t h);
uint16_t f32_to_bf16(float f);  // round to nearest even
uint16_t f64_to_f16(double d);  // round to nearest even, one rounding

// More dimensions than any exporter writes, and as many as NumPy had for long. A shape may come out of a tensor of the file: without
// a limit it is as long as that.
inline constexpr size_t kMaxRank = 32;

// Number of elements, or nullopt when there are too many dimensions, one is negative or the tensor would not fit an address
// space (2^46 bytes).
std::optional<int64_t> checked_numel(const Shape& shape, DType dtype);

}  // namespace amdahl

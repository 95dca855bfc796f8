#include "graph/tensor.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace amdahl {
namespace {

template <typename F>
auto dispatch(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kF32: return f(float{});
    case DType::kF64: return f(double{});
    case DType::kI8: return f(int8_t{});
    case DType::kI16: return f(int16_t{});
    case DType::kI32: return f(int32_t{});
    case DType::kI64: return f(int64_t{});
    case DType::kU8: return f(uint8_t{});
    case DType::kU16: return f(uint16_t{});
    case DType::kU32: return f(uint32_t{});
    case DType::kU64: return f(uint64_t{});
    case DType::kBool: return f(uint8_t{});
    case DType::kF16:
    case DType::kBF16: break;
  }
  return f(uint16_t{});
}

int64_t saturating_int(double v) {
  if (std::isnan(v)) return 0;
  if (v >= 0x1.0p63) return INT64_MAX;
  if (v <= -0x1.0p63) return INT64_MIN;
  return static_cast<int64_t>(v);
}

}  // namespace

float bf16_to_f32(uint16_t h) { return std::bit_cast<float>(static_cast<uint32_t>(h) << 16); }

// Without branches: millions of outputs are compared between the timed calls of a race.
float f16_to_f32(uint16_t h) {
  // In a float's place the exponent is 112 too small, a subnormal's too; infinities and NaNs have the largest exponent of either type.
  const uint32_t magnitude = (h & 0x7fffu) << 13;
  const uint32_t scaled = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112f);
  return std::bit_cast<float>(((h & 0x8000u) << 16) | ((h & 0x7c00u) == 0x7c00u ? magnitude | 0x7f800000u : scaled));
}

uint16_t f32_to_bf16(float f) {
  const uint32_t u = std::bit_cast<uint32_t>(f);
  if (std::isnan(f)) return static_cast<uint16_t>((u >> 16) | 0x40);
  return static_cast<uint16_t>((u + 0x7fff + ((u >> 16) & 1)) >> 16);
}

uint16_t f64_to_f16(double d) {
  const uint16_t sign = std::signbit(d) ? 0x8000 : 0;
  if (std::isnan(d)) return sign | 0x7e00;
  const double a = std::fabs(d);
  if (a >= 65520.0) return sign | 0x7c00;
  if (a < 0x1.0p-14) return static_cast<uint16_t>(sign | static_cast<uint16_t>(std::nearbyint(a * 0x1.0p24)));
  int e;
  const double m = std::frexp(a, &e);                                // a = m * 2^e, m in [0.5, 1)
  const auto q = static_cast<uint32_t>(std::nearbyint(m * 2048.0));  // 11 bits; 2048 carries into the exponent
  return static_cast<uint16_t>(sign | ((static_cast<uint32_t>(e + 13) << 10) + q));
}

Tensor Tensor::allocate(DType dtype, Shape shape, std::byte** writable) {
  const size_t bytes = static_cast<size_t>(amdahl::numel(shape)) * size_of(dtype);
  std::shared_ptr<std::byte> p(new (std::align_val_t{64}) std::byte[bytes + 1], [](std::byte* q) { operator delete[](q, std::align_val_t{64}); });
  *writable = p.get();
  return Tensor(dtype, std::move(shape), std::move(p));
}

std::vector<double> to_doubles(const Tensor& t) {
  std::vector<double> out(static_cast<size_t>(t.numel()));
  if (t.dtype() == DType::kF16 || t.dtype() == DType::kBF16) {
    const auto in = t.as<uint16_t>();
    for (size_t i = 0; i < out.size(); ++i) out[i] = t.dtype() == DType::kF16 ? f16_to_f32(in[i]) : bf16_to_f32(in[i]);
    return out;
  }
  dispatch(t.dtype(), [&](auto zero) {
    const auto in = t.as<decltype(zero)>();
    for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<double>(in[i]);
  });
  return out;
}

std::vector<int64_t> to_ints(const Tensor& t) {
  std::vector<int64_t> out(static_cast<size_t>(t.numel()));
  if (is_float(t.dtype())) {
    const std::vector<double> d = to_doubles(t);
    for (size_t i = 0; i < out.size(); ++i) out[i] = saturating_int(d[i]);
    return out;
  }
  dispatch(t.dtype(), [&](auto zero) {
    const auto in = t.as<decltype(zero)>();
    for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<int64_t>(in[i]);
  });
  return out;
}

Tensor from_doubles(DType dtype, Shape shape, const std::vector<double>& values) {
  std::byte* raw;
  Tensor t = Tensor::allocate(dtype, std::move(shape), &raw);
  if (dtype == DType::kF16 || dtype == DType::kBF16) {
    auto* out = reinterpret_cast<uint16_t*>(raw);
    for (size_t i = 0; i < values.size(); ++i) out[i] = dtype == DType::kF16 ? f64_to_f16(values[i]) : f32_to_bf16(static_cast<float>(values[i]));
    return t;
  }
  dispatch(dtype, [&](auto zero) {
    using T = decltype(zero);
    auto* out = reinterpret_cast<T*>(raw);
    for (size_t i = 0; i < values.size(); ++i) {
      if constexpr (std::is_floating_point_v<T>) out[i] = static_cast<T>(values[i]);
      else if (dtype == DType::kBool) out[i] = values[i] != 0.0;
      else out[i] = static_cast<T>(saturating_int(values[i]));
    }
  });
  return t;
}

Tensor from_ints(DType dtype, Shape shape, const std::vector<int64_t>& values) {
  if (is_float(dtype)) return from_doubles(dtype, std::move(shape), {values.begin(), values.end()});
  std::byte* raw;
  Tensor t = Tensor::allocate(dtype, std::move(shape), &raw);
  dispatch(dtype, [&](auto zero) {
    using T = decltype(zero);
    auto* out = reinterpret_cast<T*>(raw);
    for (size_t i = 0; i < values.size(); ++i) out[i] = dtype == DType::kBool ? static_cast<T>(values[i] != 0) : static_cast<T>(values[i]);
  });
  return t;
}

std::optional<int64_t> checked_numel(const Shape& shape, DType dtype) {
  constexpr int64_t kMaxBytes = int64_t{1} << 46;
  if (shape.size() > kMaxRank) return std::nullopt;
  int64_t n = 1;
  bool empty = false;
  for (int64_t d : shape) {
    if (d < 0) return std::nullopt;
    empty |= d == 0;
    if (d > 0 && __builtin_mul_overflow(n, d, &n)) return std::nullopt;
  }
  if (n > kMaxBytes / static_cast<int64_t>(size_of(dtype))) return std::nullopt;
  return empty ? 0 : n;
}

}  // namespace amdahl

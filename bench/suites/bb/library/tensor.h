// Tensors of any shape, strides and type as the operators see them, and how their numbers become double or int64_t, in which everything is computed.
//
// A number of at most 53 significant bits is itself in a double, so that a result is rounded once, to the type of its tensor; integers above that are exact
// where no tensor of the call is of a floating type, as int64_t then takes the place of double.
#ifndef BENCH_SUITES_BB_LIBRARY_TENSOR_H_
#define BENCH_SUITES_BB_LIBRARY_TENSOR_H_

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

namespace aten {

constexpr int kMaxRank = 16;

// The numbers are those of amdahl_aten/views.py.
enum class Type : int32_t { kBool, kUint8, kInt8, kInt16, kInt32, kInt64, kBfloat16, kFloat32, kFloat64 };

inline bool isFloating(Type type) { return type >= Type::kBfloat16; }

// The structure of amdahl_aten/views.py; strides count elements, and may be 0 or negative.
struct Tensor {
  char* data;
  Type type;
  int32_t rank;
  int64_t size[kMaxRank];
  int64_t stride[kMaxRank];
};

struct Bfloat16 {
  uint16_t bits;
};

inline double fromBfloat16(Bfloat16 x) { return std::bit_cast<float>(uint32_t(x.bits) << 16); }

// Rounded once: through a float that keeps in its last bit whether anything was lost.
inline Bfloat16 toBfloat16(double x) {
  if (std::isnan(x)) return {0x7fc0};
  float near = float(x);
  uint32_t bits = std::bit_cast<uint32_t>(near);
  if (std::isfinite(near) && double(near) != x) {
    if (std::abs(double(near)) > std::abs(x)) --bits;
    bits |= 1;
  }
  if ((bits & 0x7f800000u) == 0x7f800000u) return {uint16_t(bits >> 16)};
  return {uint16_t((bits + 0x7fff + ((bits >> 16) & 1)) >> 16)};
}

// Calls f with a null pointer to the C++ type of the elements.
template <class F>
decltype(auto) withType(Type type, F&& f) {
  switch (type) {
    case Type::kBool: return f(static_cast<bool*>(nullptr));
    case Type::kUint8: return f(static_cast<uint8_t*>(nullptr));
    case Type::kInt8: return f(static_cast<int8_t*>(nullptr));
    case Type::kInt16: return f(static_cast<int16_t*>(nullptr));
    case Type::kInt32: return f(static_cast<int32_t*>(nullptr));
    case Type::kInt64: return f(static_cast<int64_t*>(nullptr));
    case Type::kBfloat16: return f(static_cast<Bfloat16*>(nullptr));
    case Type::kFloat32: return f(static_cast<float*>(nullptr));
    case Type::kFloat64: return f(static_cast<double*>(nullptr));
  }
  throw std::runtime_error("no such type: " + std::to_string(int(type)));
}

inline int64_t bytes(Type type) {
  return withType(type, [](auto* none) { return int64_t(sizeof(*none)); });
}

// n numbers, `stride` elements apart.
template <class C>
void load(Type type, const char* data, int64_t stride, int64_t n, C* out) {
  withType(type, [&](auto* none) {
    const auto* from = reinterpret_cast<decltype(none)>(const_cast<char*>(data));
    if constexpr (std::is_same_v<decltype(none), Bfloat16*>)
      for (int64_t i = 0; i < n; ++i) out[i] = C(fromBfloat16(from[i * stride]));
    else if (stride == 1)
      for (int64_t i = 0; i < n; ++i) out[i] = C(from[i]);
    else
      for (int64_t i = 0; i < n; ++i) out[i] = C(from[i * stride]);
  });
}

template <class C>
void store(Type type, char* data, int64_t stride, int64_t n, const C* in) {
  withType(type, [&](auto* none) {
    auto* to = reinterpret_cast<decltype(none)>(data);
    using T = std::remove_reference_t<decltype(*to)>;
    for (int64_t i = 0; i < n; ++i) {
      if constexpr (std::is_same_v<T, Bfloat16>) to[i * stride] = toBfloat16(double(in[i]));
      else if constexpr (std::is_same_v<T, bool>) to[i * stride] = in[i] != 0;
      else to[i * stride] = static_cast<T>(in[i]);
    }
  });
}

// What a kernel is called with: the first `outputs` tensors are written, the others are read.
struct Call {
  const Tensor* tensors;
  int count;
  int outputs;
  int outer;  // dimensions that the kernel is repeated over (blocks.h)
  const double* reals;

  bool isFloating() const {
    for (int i = 0; i < count; ++i)
      if (aten::isFloating(tensors[i].type)) return true;
    return false;
  }
};

}  // namespace aten

#endif  // BENCH_SUITES_BB_LIBRARY_TENSOR_H_

#include "tuner/inputs.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "base/in_parallel.h"

namespace amdahl {
namespace {

constexpr std::array<std::string_view, 11> kNames = {"normal",  "uniform", "offset", "large",       "heavy-tail", "equal",
                                                     "integer", "special", "needle", "alternating", "powers-of-two"};
constexpr int64_t kChunk = 1024;
constexpr int64_t kLeast = 1 << 18;  // elements that are worth a thread: 0.3 ms

// splitmix64's output function of a counter: independent of order, so chunks and vector lanes are free.
inline uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}
inline uint64_t bits_at(uint64_t seed, int64_t i) { return mix(seed + static_cast<uint64_t>(i + 1) * 0x9e3779b97f4a7c15ull); }

uint64_t stream(uint64_t seed, int source) { return mix(seed ^ mix(static_cast<uint64_t>(source) + 0x51ed2701)); }

// The 64-bit multiplies are three times faster with AVX-512 (vpmullq); weights of 154 MB are made in every fresh process. Not
// under ThreadSanitizer: the clones are chosen while the program is loaded, before that has begun.
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#define AMDAHL_WIDE __attribute__((target_clones("arch=skylake-avx512", "default")))
#else
#define AMDAHL_WIDE
#endif

// Sum of four 16-bit uniforms: mean 131070, deviation 37837.2.
AMDAHL_WIDE void normal_chunk(float* out, int64_t n, uint64_t seed, int64_t first, float mean, float deviation) {
  const float scale = deviation / 37837.227f;
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t b = bits_at(seed, first + i);
    const int32_t sum = static_cast<int32_t>((b & 0xffff) + (b >> 16 & 0xffff) + (b >> 32 & 0xffff) + (b >> 48));
    out[i] = mean + static_cast<float>(sum - 131070) * scale;
  }
}

AMDAHL_WIDE void uniform_chunk(float* out, int64_t n, uint64_t seed, int64_t first) {
  for (int64_t i = 0; i < n; ++i)
    out[i] = (static_cast<float>(static_cast<int32_t>(bits_at(seed, first + i) >> 41)) + 0.5f) * 0x1.0p-23f;
}

void ternary_chunk(float* out, int64_t n, uint64_t seed, int64_t first) {
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(static_cast<int>(bits_at(seed, first + i) % 3) - 1);
}

// Odd, with the highest bit set: all of them matter.
void integer_chunk(float* out, int64_t n, int bits, uint64_t seed, int64_t first) {
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t b = bits_at(seed, first + i);
    const auto magnitude = static_cast<float>((1 << (bits - 1)) + 1 + 2 * static_cast<int>(b % (uint64_t{1} << (bits - 2))));
    out[i] = (b >> 63) ? magnitude : -magnitude;
  }
}

void float_chunk(float* out, int64_t n, const Draw& draw, uint64_t seed, int source, int64_t first) {
  switch (draw.family) {
    case Family::kNormal: return normal_chunk(out, n, seed, first, 0, 1);
    case Family::kUniform: return uniform_chunk(out, n, seed, first);
    case Family::kOffset: return normal_chunk(out, n, seed, first, 1000, 1);
    case Family::kLarge: return normal_chunk(out, n, seed, first, 0, 3000);
    case Family::kHeavyTail:
      uniform_chunk(out, n, seed, first);
      for (int64_t i = 0; i < n; ++i) {
        const float sign = (bits_at(seed, first + i) & 1) ? 1.0f : -1.0f;
        out[i] = sign / std::sqrt(out[i]);
      }
      return;
    case Family::kEqual: {
      float value;
      normal_chunk(&value, 1, seed, 0, 0, 1);
      std::fill(out, out + n, value);
      return;
    }
    case Family::kInteger:
      return draw.exchanged || source % 2 == 1 ? ternary_chunk(out, n, seed, first) : integer_chunk(out, n, draw.integer_bits, seed, first);
    case Family::kSpecial: {
      normal_chunk(out, n, seed, first, 0, 1);
      constexpr float kInf = std::numeric_limits<float>::infinity();
      const std::array<float, 6> specials = {std::numeric_limits<float>::quiet_NaN(), kInf, -kInf, -0.0f, 1e-40f, -1e-40f};
      // About one in 512: rows of a reduction are mostly left clean.
      for (int64_t i = 0; i < n; ++i)
        if (const uint64_t b = mix(bits_at(seed, first + i)); (b & 511) == 0) out[i] = specials[(b >> 9) % 6];
      if (draw.infinities_as_nan)
        for (int64_t i = 0; i < n; ++i)
          if (std::isinf(out[i])) out[i] = specials[0];
      return;
    }
    case Family::kNeedle:
      for (int64_t i = 0; i < n; ++i) {
        const uint64_t b = mix(bits_at(seed, first + i));
        out[i] = (b & 63) ? 0.0f : std::ldexp((b >> 63) ? 1.0f : -1.0f, static_cast<int>(b >> 8 & 1023) % 10);
      }
      return;
    case Family::kAlternate:
      uniform_chunk(out, n, seed, first);
      for (int64_t i = 0; i < n; ++i) out[i] = ((first + i) & 1 ? -0.5f : 0.5f) * (1 + out[i]);
      return;
    case Family::kPowers:
      for (int64_t i = 0; i < n; ++i) {
        const uint64_t b = bits_at(seed, first + i);
        out[i] = std::ldexp((b >> 63) ? 1.0f : -1.0f, static_cast<int>(b % 25) - 12);
      }
      return;
  }
}

void store(std::byte* data, DType dtype, int64_t first, const float* values, int64_t n) {
  std::byte* out = data + static_cast<size_t>(first) * size_of(dtype);
  for (int64_t i = 0; i < n; ++i) {
    switch (dtype) {
      case DType::kF64: reinterpret_cast<double*>(out)[i] = values[i]; break;
      case DType::kF16: reinterpret_cast<uint16_t*>(out)[i] = f64_to_f16(values[i]); break;
      case DType::kBF16: reinterpret_cast<uint16_t*>(out)[i] = f32_to_bf16(values[i]); break;
      default: reinterpret_cast<float*>(out)[i] = values[i]; break;
    }
  }
}

template <typename Make>
void fill_floats(std::byte* data, DType dtype, int64_t n, Make make) {
  in_parallel(n, kChunk, kLeast, [&](int64_t begin, int64_t end) {
    std::array<float, kChunk> buffer;
    for (int64_t first = begin; first < end; first += kChunk) {
      const int64_t count = std::min(kChunk, end - first);
      if (dtype == DType::kF32) {
        make(reinterpret_cast<float*>(data) + first, count, first);
        continue;
      }
      make(buffer.data(), count, first);
      store(data, dtype, first, buffer.data(), count);
    }
  });
}

void fill_ints(std::byte* data, DType dtype, int64_t n, uint64_t seed, const InputRange& range) {
  const size_t width = size_of(dtype);
  const uint64_t span = range.hi > range.lo ? static_cast<uint64_t>(range.hi - range.lo) : 1;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t value = dtype == DType::kBool ? static_cast<int64_t>(bits_at(seed, i) >> 63)
                                                : range.lo + static_cast<int64_t>(bits_at(seed, i) % span);
    std::memcpy(data + static_cast<size_t>(i) * width, &value, width);  // little endian: the low bytes
  }
}

void nudge_int(std::byte* data, DType dtype, int64_t at, const InputRange& range) {
  const size_t width = size_of(dtype);
  int64_t value = 0;
  std::memcpy(&value, data + static_cast<size_t>(at) * width, width);
  value = dtype == DType::kBool ? 1 - (value & 1) : value == range.lo ? std::max(range.lo, range.hi - 1) : range.lo;
  std::memcpy(data + static_cast<size_t>(at) * width, &value, width);
}

uint64_t poison_bits(DType dtype, uint64_t seed, int64_t i) {
  const uint64_t b = bits_at(seed ^ 0xdeadull, i) | 1;
  switch (dtype) {
    case DType::kF32: return 0x7f800000u | (b & 0x803fffffu);  // quiet bit clear, payload not zero; as poison_f32
    case DType::kF64: return 0x7ff0000000000000u | (b & 0x8007ffffffffffffu);
    case DType::kF16: return 0x7c00u | (b & 0x81ffu);
    case DType::kBF16: return 0x7f80u | (b & 0x803fu);
    default: return b | 2;  // not a bool
  }
}

// The common type apart: outputs of millions of elements are poisoned and searched at every trial.
AMDAHL_WIDE void poison_f32(uint32_t* data, int64_t first, int64_t last, uint64_t seed) {
  for (int64_t i = first; i < last; ++i) data[i] = 0x7f800000u | (static_cast<uint32_t>(bits_at(seed ^ 0xdeadull, i) | 1) & 0x803fffffu);
}

AMDAHL_WIDE int64_t count_f32(const uint32_t* data, int64_t first, int64_t last, uint64_t seed) {
  int64_t count = 0;
  for (int64_t i = first; i < last; ++i)
    count += data[i] == (0x7f800000u | (static_cast<uint32_t>(bits_at(seed ^ 0xdeadull, i) | 1) & 0x803fffffu));
  return count;
}

}  // namespace

std::string_view name_of(Family family) { return kNames[static_cast<size_t>(family)]; }

void fill_input(std::byte* data, DType dtype, int64_t n, const Draw& draw, int source, const InputRange& range) {
  const uint64_t s = stream(draw.seed, source);
  // Never the first or the last element: those are what a careless key looks at.
  const int64_t nudged = !draw.nudged || n == 0 ? -1 : n < 3 ? n / 2 : 1 + static_cast<int64_t>(mix(s) % static_cast<uint64_t>(n - 2));
  if (!is_float(dtype)) {
    fill_ints(data, dtype, n, s, range);
    if (nudged >= 0) nudge_int(data, dtype, nudged, range);
    return;
  }
  fill_floats(data, dtype, n, [&](float* out, int64_t count, int64_t first) {
    float_chunk(out, count, draw, s, source, first);
    // Far enough to be seen through the bounds of its neighbours, near enough for exp() of it.
    if (nudged >= first && nudged < first + count) {
      float& value = out[nudged - first];
      value = draw.family == Family::kUniform ? 3.5f : value > 0 ? -7.25f : 7.25f;
    }
    if (draw.scale != 0)
      for (int64_t i = 0; i < count; ++i) out[i] = std::ldexp(out[i], draw.scale);
  });
}

void fill_weight(std::byte* data, DType dtype, int64_t n, double mean, double deviation, const Draw& draw, int source) {
  const uint64_t s = stream(draw.weights_seed ^ 0x77656967687473ull, source);
  fill_floats(data, dtype, n, [&](float* out, int64_t count, int64_t first) {
    if (draw.ternary && draw.exchanged) integer_chunk(out, count, draw.integer_bits, s, first);
    else if (draw.ternary) ternary_chunk(out, count, s, first);
    else normal_chunk(out, count, s, first, static_cast<float>(mean), static_cast<float>(deviation));
  });
}

void poison(std::byte* data, DType dtype, int64_t n, uint64_t seed) {
  if (dtype == DType::kF32)
    return in_parallel(n, 1, kLeast, [&](int64_t first, int64_t last) { poison_f32(reinterpret_cast<uint32_t*>(data), first, last, seed); });
  const size_t width = size_of(dtype);
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t bits = poison_bits(dtype, seed, i);
    std::memcpy(data + static_cast<size_t>(i) * width, &bits, width);
  }
}

int64_t count_poisoned(const std::byte* data, DType dtype, int64_t n, uint64_t seed) {
  if (!is_float(dtype)) return 0;
  if (dtype == DType::kF32) {
    std::atomic<int64_t> count = 0;
    in_parallel(n, 1, kLeast, [&](int64_t first, int64_t last) { count += count_f32(reinterpret_cast<const uint32_t*>(data), first, last, seed); });
    return count;
  }
  const size_t width = size_of(dtype);
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t bits = poison_bits(dtype, seed, i);
    count += std::memcmp(data + static_cast<size_t>(i) * width, &bits, width) == 0;
  }
  return count;
}

}  // namespace amdahl

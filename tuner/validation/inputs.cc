#include "tuner/validation/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <type_traits>

#include "base/error.h"
#include "base/in_parallel.h"

namespace amdahl {
namespace {

constexpr std::array<std::string_view, 14> kNames = {"normal",  "uniform", "offset",      "large",         "heavy-tail", "equal", "integer",
                                                     "special", "needle",  "alternating", "powers-of-two", "exponents",  "wide",  "limits"};
constexpr std::array<std::string_view, 6> kWeightNames = {"normal", "sparse", "constant", "wide", "denormal", "special"};
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

// Numbers are made in the type Real: double for tensors of f64, float for all others.

// Where a float type ends.
struct Limits {
  double largest, smallest_normal;
  int lowest_exponent, highest_exponent;  // of the smallest denormal and of the largest number
};

Limits limits_of(DType dtype) {
  if (dtype == DType::kF64) return {std::numeric_limits<double>::max(), std::numeric_limits<double>::min(), -1074, 1023};
  if (dtype == DType::kF16) return {65504.0, 0x1.0p-14, -24, 15};
  if (dtype == DType::kBF16) return {0x1.fep127, 0x1.0p-126, -133, 127};
  return {std::numeric_limits<float>::max(), std::numeric_limits<float>::min(), -149, 127};
}

// What a tensor must hold one of each of; the finite ones first, for kLimits.
constexpr int kFiniteSpecials = 8, kSpecials = 12;

double special(DType dtype, int number) {
  const Limits limits = limits_of(dtype);
  const double denormal = 0.25 * limits.smallest_normal;
  switch (number) {
    case 0: return -0.0;
    case 1: return 0.0;
    case 2: return denormal;
    case 3: return -denormal;
    case 4: return limits.largest;
    case 5: return -limits.largest;
    case 6: return limits.smallest_normal;
    case 7: return -limits.smallest_normal;
    case 8: return std::numeric_limits<double>::infinity();
    case 9: return -std::numeric_limits<double>::infinity();
    case 10: return std::numeric_limits<double>::quiet_NaN();
    default: return -std::numeric_limits<double>::quiet_NaN();  // what x86 makes of infinity less infinity
  }
}

bool is_largest(int64_t number) { return number == 4 || number == 5; }  // and 8, 9 are the infinities of the same sign

// NaN for what sums of other terms in another order may make infinite: infinities, and what is within a thousandth of them.
template <typename Real>
Real nonfinite(Real x, const Limits& limits) {
  return std::fabs(x) > 0x1.0p-10 * limits.largest ? std::numeric_limits<Real>::quiet_NaN() : x;
}

// How many elements of a tensor are set to one of `kinds` values: those of a small one are mostly left as they are.
int64_t places_for(int64_t n, int kinds) { return n == 0 ? 0 : std::clamp<int64_t>(n / 8, 1, kinds); }

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
  for (int64_t i = 0; i < n; ++i) out[i] = (static_cast<float>(static_cast<int32_t>(bits_at(seed, first + i) >> 41)) + 0.5f) * 0x1.0p-23f;
}

// Doubles have bits below those of the floats of the same seed: a sum of four uniforms has 65,536 times four steps.
void normal_chunk(double* out, int64_t n, uint64_t seed, int64_t first, double mean, double deviation) {
  const double scale = deviation / 37837.227;
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t b = bits_at(seed, first + i);
    const auto sum = static_cast<double>((b & 0xffff) + (b >> 16 & 0xffff) + (b >> 32 & 0xffff) + (b >> 48));
    const double within_a_step = static_cast<double>(mix(b) >> 11) * 0x1.0p-53;
    out[i] = mean + (sum - 131070.5 + within_a_step) * scale;
  }
}

void uniform_chunk(double* out, int64_t n, uint64_t seed, int64_t first) {
  for (int64_t i = 0; i < n; ++i) out[i] = (static_cast<double>(bits_at(seed, first + i) >> 12) + 0.5) * 0x1.0p-52;
}

template <typename Real>
void ternary_chunk(Real* out, int64_t n, uint64_t seed, int64_t first) {
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<Real>(static_cast<int>(bits_at(seed, first + i) % 3) - 1);
}

// Odd, with the highest bit set: all of them matter.
template <typename Real>
void integer_chunk(Real* out, int64_t n, int bits, uint64_t seed, int64_t first) {
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t b = bits_at(seed, first + i);
    const auto magnitude = static_cast<Real>((1 << (bits - 1)) + 1 + 2 * static_cast<int>(b % (uint64_t{1} << (bits - 2))));
    out[i] = (b >> 63) ? magnitude : -magnitude;
  }
}

// Either sign, exponents uniform in [lowest, highest], and a random mantissa.
template <typename Real>
void exponents_chunk(Real* out, int64_t n, int lowest, int highest, double largest, uint64_t seed, int64_t first) {
  const auto span = static_cast<uint64_t>(highest - lowest + 1);
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t b = bits_at(seed, first + i);
    Real mantissa = 1 + static_cast<Real>(b >> 40 & 0x7fffff) * Real{0x1.0p-23};
    if constexpr (sizeof(Real) == 8) mantissa += static_cast<Real>(mix(b) >> 35) * 0x1.0p-52;
    const Real value = std::min(std::ldexp(mantissa, lowest + static_cast<int>((b & 0xffffffff) % span)), static_cast<Real>(largest));
    out[i] = (b >> 63) ? value : -value;
  }
}

// Rows of a tensor, as an operator that reduces may see them: elements that differ in the position in one dimension alone, or in all from one on.
struct Rows {
  int64_t length = 1, inner = 1;  // elements of a row lie `inner` apart
  int64_t row_of(int64_t i) const { return i / (length * inner) * inner + i % inner; }
};

enum class Along { kLast, kAllFromOne, kAny };

Rows rows_along(Along along, const Shape& shape, uint64_t seed) {
  std::vector<int64_t> extents;
  for (int64_t extent : shape)
    if (extent > 1) extents.push_back(extent);
  if (extents.empty()) return {};
  const auto product_from = [&](size_t first) {
    return std::accumulate(extents.begin() + static_cast<std::ptrdiff_t>(first), extents.end(), int64_t{1}, std::multiplies<>());
  };
  const size_t last = extents.size() - 1;
  if (last == 0 || along == Along::kLast) return {extents[last], 1};
  if (along == Along::kAllFromOne) return {product_from(1 + mix(seed) % last), 1};
  const size_t one = mix(seed) % (last + 1);
  return {extents[one], product_from(one + 1)};
}

// Most operators reduce the last dimension. What is all in one row is cut in pieces every other time: it may be read element by element.
Rows rows_of_exponents(const Shape& shape, uint64_t seed) {
  const uint64_t b = bits_at(seed ^ 0x726f7773ull, 0);
  const Rows rows = rows_along(b % 4 < 2 ? Along::kLast : b % 4 == 2 ? Along::kAllFromOne : Along::kAny, shape, b);
  const int64_t n = numel(shape);
  return rows.length == n && (b & 16) ? Rows{std::max<int64_t>(1, n / 16), 1} : rows;
}

// Each of `kinds` kinds once in as many neighbouring rows, in another order in others.
int kind_of_row(uint64_t seed, int64_t row, int kinds) {
  const uint64_t b = bits_at(~seed, row / kinds);
  return static_cast<int>((static_cast<uint64_t>(row % kinds) * (2 * (b % 8) + 1) + (b >> 8)) % static_cast<uint64_t>(kinds));
}

// Sums, and sums of squares, of numbers of one size: where all are denormal or have hardly a square, say. More than half of the rows, as sums of squares of others
// overflow, and a draw of which less than half can be judged says nothing (validate.h).
template <typename Real>
void even_row(Real* out, int64_t n, const Limits& limits, int64_t row, uint64_t seed, int64_t first) {
  const uint64_t b = bits_at(seed ^ 0x65786f6eull, row);
  const auto all_of_one = [&](int lowest, int highest) {
    const int exponent = lowest + static_cast<int>((b >> 8) % static_cast<uint64_t>(highest - lowest + 1));
    exponents_chunk(out, n, exponent, exponent, limits.largest, seed, first);
    for (int64_t i = 0; (b & 1) && i < n; ++i) out[i] = std::fabs(out[i]);
  };
  switch (kind_of_row(seed, row, 8)) {
    case 0: return all_of_one(limits.lowest_exponent, std::ilogb(limits.smallest_normal) - 1);
    case 1:
    case 2: return all_of_one(-3 * limits.highest_exponent / 4, -limits.highest_exponent / 4);
    case 3: return all_of_one(limits.lowest_exponent, limits.highest_exponent - 12);  // of which thousands have a sum
    case 4: std::fill(out, out + n, Real{0}); return;
    default: return;
  }
}

template <typename Real>
void exponents_by_rows(Real* out, int64_t n, const Limits& limits, const Rows& rows, uint64_t seed, int64_t first) {
  exponents_chunk(out, n, limits.lowest_exponent, limits.highest_exponent, limits.largest, seed, first);
  for (int64_t i = 0, next = 0; i < n; i = next) {
    const int64_t row = rows.row_of(first + i);
    next = rows.inner > 1 ? i + 1 : std::min(n, (row + 1) * rows.length - first);
    even_row(out + i, next - i, limits, row, seed, first + i);
  }
}

template <typename Real>
void float_chunk(Real* out, int64_t n, DType dtype, const Draw& draw, const Rows& rows, uint64_t seed, int source, int64_t first) {
  const Limits limits = limits_of(dtype);
  switch (draw.distribution) {
    case Distribution::kNormal: return normal_chunk(out, n, seed, first, 0, 1);
    case Distribution::kUniform: return uniform_chunk(out, n, seed, first);
    case Distribution::kOffset: return normal_chunk(out, n, seed, first, 1000, 1);
    case Distribution::kLarge: return normal_chunk(out, n, seed, first, 0, 3000);
    case Distribution::kHeavyTail:
      uniform_chunk(out, n, seed, first);
      for (int64_t i = 0; i < n; ++i) {
        const Real sign = (bits_at(seed, first + i) & 1) ? 1 : -1;
        out[i] = sign / std::sqrt(out[i]);
      }
      return;
    case Distribution::kEqual: {
      Real value;
      normal_chunk(&value, 1, seed, 0, 0, 1);
      std::fill(out, out + n, value);
      return;
    }
    case Distribution::kInteger:
      return draw.roles_swapped || source % 2 == 1 ? ternary_chunk(out, n, seed, first) : integer_chunk(out, n, draw.integer_bits, seed, first);
    case Distribution::kSpecial: {
      normal_chunk(out, n, seed, first, 0, 1);
      // About one in 512: rows of a reduction are mostly left clean.
      for (int64_t i = 0; i < n; ++i)
        if (const uint64_t b = mix(bits_at(seed, first + i)); (b & 511) == 0)
          out[i] = static_cast<Real>(special(dtype, static_cast<int>((b >> 9) % kSpecials)));
      return;
    }
    case Distribution::kNeedle:
      for (int64_t i = 0; i < n; ++i) {
        const uint64_t b = mix(bits_at(seed, first + i));
        out[i] = (b & 63) ? Real{0} : std::ldexp((b >> 63) ? Real{1} : Real{-1}, static_cast<int>(b >> 8 & 1023) % 10);
      }
      return;
    case Distribution::kAlternate:
      uniform_chunk(out, n, seed, first);
      for (int64_t i = 0; i < n; ++i) out[i] = ((first + i) & 1 ? Real{-0.5} : Real{0.5}) * (1 + out[i]);
      return;
    case Distribution::kPowers:
      for (int64_t i = 0; i < n; ++i) {
        const uint64_t b = bits_at(seed, first + i);
        out[i] = std::ldexp((b >> 63) ? Real{1} : Real{-1}, static_cast<int>(b % 25) - 12);
      }
      return;
    case Distribution::kExponents: return exponents_by_rows(out, n, limits, rows, seed, first);
    case Distribution::kWide: return exponents_chunk(out, n, -limits.highest_exponent / 3, limits.highest_exponent / 3, limits.largest, seed, first);
    case Distribution::kLimits: return normal_chunk(out, n, seed, first, 0, 1);
  }
}

template <typename Real>
void weights_chunk(Real* out, int64_t n, DType dtype, Weights weights, uint64_t seed, int64_t first, Real mean, Real deviation) {
  if (weights == Weights::kConstant) {
    normal_chunk(out, 1, seed, 0, mean, deviation);
    std::fill(out + 1, out + n, out[0]);
    return;
  }
  normal_chunk(out, n, seed, first, mean, deviation);
  const auto change = [&](auto change_one) {
    for (int64_t i = 0; i < n; ++i) out[i] = change_one(out[i], mix(bits_at(seed, first + i)));
  };
  if (weights == Weights::kSparse) change([](Real w, uint64_t b) { return b % 8 ? Real{0} : w; });
  if (weights == Weights::kWide) change([](Real w, uint64_t b) { return std::ldexp(w, static_cast<int>(b % 29) - 24); });
  if (weights == Weights::kDenormal) {
    const Real reach = std::fabs(mean) + 4 * deviation, scale = reach > 0 ? static_cast<Real>(limits_of(dtype).smallest_normal) / reach : 0;
    change([=](Real w, uint64_t) { return w * scale; });
  }
}

template <typename Real>
void store(std::byte* data, DType dtype, int64_t first, const Real* values, int64_t n) {
  std::byte* out = data + static_cast<size_t>(first) * size_of(dtype);
  for (int64_t i = 0; i < n; ++i) {
    switch (dtype) {
      case DType::kF64: reinterpret_cast<double*>(out)[i] = values[i]; break;
      case DType::kF16: reinterpret_cast<uint16_t*>(out)[i] = f64_to_f16(values[i]); break;
      case DType::kBF16: reinterpret_cast<uint16_t*>(out)[i] = f32_to_bf16(static_cast<float>(values[i])); break;
      default: reinterpret_cast<float*>(out)[i] = static_cast<float>(values[i]); break;
    }
  }
}

// `make` fills a part, of doubles where the tensor's are.
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
      if (dtype == DType::kF64) {
        make(reinterpret_cast<double*>(data) + first, count, first);
        continue;
      }
      make(buffer.data(), count, first);
      store(data, dtype, first, buffer.data(), count);
    }
  });
}

// One of `kinds` specials in each of as many stretches as there are places, in another order for another seed.
void place_specials(std::byte* data, DType dtype, int64_t n, int kinds, const Draw& draw, uint64_t seed, int source) {
  const int64_t places = draw.turn == Draw::kNear ? std::min<int64_t>(n / 512, 1024) : places_for(n, kinds);  // rows of a reduction are mostly left clean
  for (int64_t p = 0; p < places; ++p) {
    const int64_t from = n * p / places, length = n * (p + 1) / places - from;
    const int64_t at = from + static_cast<int64_t>(bits_at(~seed, p) % static_cast<uint64_t>(length));
    const int64_t number = ((p + static_cast<int64_t>(seed % static_cast<uint64_t>(places))) % places + std::max(0, draw.turn) * places + source) % kinds;
    const double drawn = special(dtype, static_cast<int>(draw.turn == Draw::kNear && is_largest(number) ? number + kFiniteSpecials - 4 : number)),
                 value = draw.infinities_as_nan ? nonfinite(drawn, limits_of(dtype)) : drawn;
    store(data, dtype, at, &value, 1);
  }
}

// A tensor of one row is left: nothing else would be.
void hide_rows(std::byte* data, DType dtype, const Shape& shape, const Draw& draw, uint64_t seed) {
  const int64_t n = numel(shape);
  const Rows rows = rows_along(bits_at(seed, 0) % 4 ? Along::kLast : Along::kAllFromOne, shape, seed);
  const double hidden = draw.infinities_as_nan ? std::numeric_limits<double>::quiet_NaN() : -std::numeric_limits<double>::infinity();
  for (int64_t row = 0; rows.length < n && row < n / rows.length; ++row) {
    const int kind = kind_of_row(seed, row, 16);
    if (kind > 2) continue;
    // All of it; its beginning, as padding on the left leaves it; its end, as a causal mask does.
    const int64_t part =
        kind == 0 || rows.length < 2 ? rows.length : 1 + static_cast<int64_t>(bits_at(seed ^ 0x6d61736bull, row) % static_cast<uint64_t>(rows.length - 1));
    const int64_t first = row * rows.length + (kind == 2 ? rows.length - part : 0);
    for (int64_t i = 0; i < part; ++i) store(data, dtype, first + i, &hidden, 1);
  }
}

// Of all numbers of the type, as the distribution is of all floats: bits cut off at a random place, or kept; its limits; and what is beside zero.
int64_t any_integer(DType dtype, Distribution distribution, uint64_t b) {
  const int bits = static_cast<int>(8 * size_of(dtype));
  if (distribution != Distribution::kLarge && b % 8 == 0) {
    const std::array<uint64_t, 6> ends = {0, 1, ~uint64_t{0}, uint64_t{1} << (bits - 1), (uint64_t{1} << (bits - 1)) - 1, uint64_t{1} << (bits - 1) | 1};
    return static_cast<int64_t>(ends[(b >> 3) % ends.size()]);
  }
  const uint64_t whole = mix(b);
  return static_cast<int64_t>(
      distribution == Distribution::kLarge ? whole : static_cast<uint64_t>(static_cast<int64_t>(whole) >> (64 - 1 - (b >> 3) % static_cast<uint64_t>(bits))));
}

bool reaches_everywhere(Distribution distribution) {
  return distribution == Distribution::kLarge || distribution == Distribution::kExponents || distribution == Distribution::kWide ||
         distribution == Distribution::kSpecial || distribution == Distribution::kLimits;
}

// The first draws of a window, and those that are timed, are as a model's mostly are.
bool counts_from_the_end(Distribution distribution) {
  return distribution == Distribution::kHeavyTail || distribution == Distribution::kNeedle || reaches_everywhere(distribution);
}

void fill_ints(std::byte* data, DType dtype, int64_t n, const Draw& draw, uint64_t seed, const InputRange& range) {
  const size_t width = size_of(dtype);
  const int64_t lo = range.from_the_end && counts_from_the_end(draw.distribution) ? -range.hi : range.lo;
  const uint64_t span = range.hi > lo ? static_cast<uint64_t>(range.hi - lo) : 1;
  const bool any = range.is_number && dtype != DType::kBool && reaches_everywhere(draw.distribution);
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t b = bits_at(seed, i);
    const int64_t value = dtype == DType::kBool ? static_cast<int64_t>(b >> 63)
                          : any                 ? any_integer(dtype, draw.distribution, b)
                                                : lo + static_cast<int64_t>(b % span);
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
  for (int64_t i = first; i < last; ++i) count += data[i] == (0x7f800000u | (static_cast<uint32_t>(bits_at(seed ^ 0xdeadull, i) | 1) & 0x803fffffu));
  return count;
}

}  // namespace

std::string_view name_of(Distribution distribution) { return kNames[static_cast<size_t>(distribution)]; }
std::string_view name_of(Weights weights) { return kWeightNames[static_cast<size_t>(weights)]; }

bool reaches_limits(const Draw& draw) {
  return draw.distribution == Distribution::kSpecial || draw.distribution == Distribution::kLimits || draw.distribution == Distribution::kExponents ||
         draw.weights == Weights::kSpecial;
}

bool reaches_far(const Draw& draw) {
  return reaches_limits(draw) || draw.distribution == Distribution::kWide || draw.weights == Weights::kWide || draw.weights == Weights::kDenormal;
}

std::string how_weights_are_drawn(const Draw& draw) {
  return fmt::format("{} {} {} {} {} {}", draw.weights_seed, draw.ternary, draw.roles_swapped, draw.integer_bits, name_of(draw.weights),
                     draw.weights == Weights::kSpecial ? 2 * draw.turn + draw.infinities_as_nan : 0);
}

int turns(int64_t n) {
  const int64_t places = std::max<int64_t>(1, places_for(n, kSpecials));
  return static_cast<int>((kSpecials + places - 1) / places);
}

void fill_input(std::byte* data, DType dtype, const Shape& shape, const Draw& draw, int source, const InputRange& range) {
  const uint64_t s = stream(draw.seed, source);
  const int64_t n = numel(shape);
  // Never the first or the last element: those are what a careless key looks at.
  const int64_t perturbed = !draw.perturbed || n == 0 ? -1 : n < 3 ? n / 2 : 1 + static_cast<int64_t>(mix(s) % static_cast<uint64_t>(n - 2));
  if (!is_float(dtype)) {
    fill_ints(data, dtype, n, draw, s, range);
    if (perturbed >= 0) nudge_int(data, dtype, perturbed, range);
    return;
  }
  const Rows rows = rows_of_exponents(shape, s);
  fill_floats(data, dtype, n, [&](auto* out, int64_t count, int64_t first) {
    float_chunk(out, count, dtype, draw, rows, s, source, first);
    // Far enough to be seen through the bounds of its neighbours, near enough for exp() of it.
    if (perturbed >= first && perturbed < first + count) {
      auto& value = out[perturbed - first];
      value = draw.distribution == Distribution::kUniform ? 3.5f : value > 0 ? -7.25f : 7.25f;
    }
    if (draw.scale != 0)
      for (int64_t i = 0; i < count; ++i) out[i] = std::ldexp(out[i], draw.scale);
    if (draw.infinities_as_nan)
      for (int64_t i = 0; i < count; ++i) out[i] = nonfinite(out[i], limits_of(dtype));
  });
  if (draw.distribution == Distribution::kSpecial) place_specials(data, dtype, n, kSpecials, draw, s, source);
  if (draw.distribution == Distribution::kSpecial && source == 0 && draw.turn != Draw::kNear) hide_rows(data, dtype, shape, draw, s);
  if (draw.distribution == Distribution::kLimits) place_specials(data, dtype, n, kFiniteSpecials, draw, s, source);
}

// All bytes alike.
static void fill_weight_bytes(std::byte* data, DType dtype, int64_t n, const Draw& draw, uint64_t seed) {
  const auto byte_of = [dtype](uint64_t b) { return static_cast<std::byte>(any_integer(dtype, Distribution::kLarge, b)); };
  in_parallel(n, 1, kLeast, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const uint64_t b = bits_at(seed, i);
      const bool zero = draw.weights == Weights::kSparse && b % 8 != 0;
      data[i] = zero ? std::byte{} : byte_of(draw.weights == Weights::kConstant ? bits_at(seed, 0) : b);
    }
  });
}

void fill_weight(std::byte* data, DType dtype, int64_t n, double mean, double deviation, const Draw& draw, int source) {
  const uint64_t s = stream(draw.weights_seed ^ 0x77656967687473ull, source);
  if (!is_float(dtype)) return fill_weight_bytes(data, dtype, n, draw, s);
  fill_floats(data, dtype, n, [&](auto* out, int64_t count, int64_t first) {
    using Real = std::remove_reference_t<decltype(*out)>;
    if (draw.ternary && draw.roles_swapped) integer_chunk(out, count, draw.integer_bits, s, first);
    else if (draw.ternary) ternary_chunk(out, count, s, first);
    else weights_chunk(out, count, dtype, draw.weights, s, first, static_cast<Real>(mean), static_cast<Real>(deviation));
  });
  if (!draw.ternary && draw.weights == Weights::kSpecial) place_specials(data, dtype, n, kSpecials, draw, s, source);
}

void poison(std::byte* data, DType dtype, int64_t n, uint64_t seed) {
  in_parallel(n, 1, kLeast, [&](int64_t first, int64_t last) {
    if (dtype == DType::kF32) return poison_f32(reinterpret_cast<uint32_t*>(data), first, last, seed);
    const size_t width = size_of(dtype);
    for (int64_t i = first; i < last; ++i) {
      const uint64_t bits = poison_bits(dtype, seed, i);
      std::memcpy(data + static_cast<size_t>(i) * width, &bits, width);
    }
  });
}

int64_t count_poisoned(const std::byte* data, DType dtype, int64_t n, uint64_t seed) {
  if (!is_float(dtype)) return 0;
  std::atomic<int64_t> count = 0;
  in_parallel(n, 1, kLeast, [&](int64_t first, int64_t last) {
    if (dtype == DType::kF32) {
      count += count_f32(reinterpret_cast<const uint32_t*>(data), first, last, seed);
      return;
    }
    const size_t width = size_of(dtype);
    int64_t here = 0;
    for (int64_t i = first; i < last; ++i) {
      const uint64_t bits = poison_bits(dtype, seed, i);
      here += std::memcmp(data + static_cast<size_t>(i) * width, &bits, width) == 0;
    }
    count += here;
  });
  return count;
}

}  // namespace amdahl

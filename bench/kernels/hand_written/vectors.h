#pragma once
// Vectors as wide as the machine's registers. Addresses are multiples of a vector's size: rows are whole vectors (hand_written.h).

#include <bit>
#include <cstdint>
#include <utility>
#ifdef __AVX__
#include <immintrin.h>
#endif

namespace amdahl::hand_written {

#ifdef __AVX512F__
inline constexpr int kLanes = 16;
#else
inline constexpr int kLanes = 8;
#endif
typedef float Vec __attribute__((vector_size(4 * kLanes), may_alias));
typedef int32_t IntVec __attribute__((vector_size(4 * kLanes)));

inline Vec& at(float* p) { return *reinterpret_cast<Vec*>(p); }
inline const Vec& at(const float* p) { return *reinterpret_cast<const Vec*>(p); }
inline Vec all(float x) { return x - Vec{}; }
inline Vec larger(Vec a, Vec b) { return a > b ? a : b; }
inline Vec smaller(Vec a, Vec b) { return a < b ? a : b; }

// kStream: past the caches, so that the line that is overwritten is not read first.
template <bool kStream>
void put(float* p, Vec value) {
#if defined(__AVX512F__)
  if constexpr (kStream) return _mm512_stream_ps(p, value);
#elif defined(__AVX__)
  if constexpr (kStream) return _mm256_stream_ps(p, value);
#endif
  at(p) = value;
}

// Keeps two vectors in registers where the compiler would rather read them from memory at every use.
inline void hold(Vec& a, Vec& b) {
#ifdef __AVX__
  asm("" : "+v"(a), "+v"(b));
#endif
}

// 1 / x to 2 ulp, for x whose reciprocal is a normal number: an estimate and one step of Newton's, because a
// division takes as long as e^x on some machines.
inline Vec reciprocal(Vec x) {
#if defined(__AVX512F__)
  const Vec guess = _mm512_maskz_rcp14_ps(0xffff, x);  // without mask GCC 12 warns of its own header
#elif defined(__AVX__)
  const Vec guess = _mm256_rcp_ps(x);
#else
  const Vec guess = 1 / x;
#endif
  return guess * (2 - x * guess);
}

inline float sum_of(Vec v) {
  float sum = 0;
  for (int i = 0; i < kLanes; ++i) sum += v[i];
  return sum;
}

inline float largest_of(Vec v) {
  float largest = v[0];
  for (int i = 1; i < kLanes; ++i) largest = v[i] > largest ? v[i] : largest;
  return largest;
}

// Two rows that stand kBlock apart exchange what is kBlock lanes off the diagonal.
template <int kBlock, int... lane>
void exchange(Vec& upper, Vec& lower, std::integer_sequence<int, lane...>) {
  const Vec a = upper, b = lower;
  upper = __builtin_shufflevector(a, b, (lane & kBlock ? kLanes + lane - kBlock : lane)...);
  lower = __builtin_shufflevector(a, b, (lane & kBlock ? kLanes + lane : lane + kBlock)...);
}

template <int kBlock>
void exchange_blocks(Vec (&rows)[kLanes]) {
  for (int i = 0; i < kLanes; ++i)
    if (!(i & kBlock)) exchange<kBlock>(rows[i], rows[i + kBlock], std::make_integer_sequence<int, kLanes>());
  if constexpr (2 * kBlock < kLanes) exchange_blocks<2 * kBlock>(rows);
}

// to[j][i] = from[i][j] for kLanes rows of kLanes, which are `from_row` and `to_row` floats apart.
inline void transpose(const float* from, int64_t from_row, float* to, int64_t to_row) {
  Vec rows[kLanes];
  for (int i = 0; i < kLanes; ++i) rows[i] = at(from + i * from_row);
  exchange_blocks<1>(rows);
  for (int i = 0; i < kLanes; ++i) at(to + i * to_row) = rows[i];
}

// e^x for x <= 88 to 2 ulp; what is below -87 counts as -87 (1.6e-38). e^x = 2^n e^r with |r| <= ln(2)/2, n the whole number that adding
// 1.5 * 2^23 leaves in the low bits; ln(2) in two parts, so that r keeps its digits; e^r by the polynomial 1 + r + ... whose largest relative
// error is least (1.0e-7).
inline Vec exp(Vec x) {
  constexpr float kLog2E = 1.44269504f, kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f, kRound = 12582912.0f;
  x = larger(x, all(-87));
  const Vec shifted = x * kLog2E + kRound, n = shifted - kRound;
  const Vec r = (x - n * kLn2High) - n * kLn2Low;
  const Vec p = ((((8.312501e-03f * r + 4.189033e-02f) * r + 1.6667116e-01f) * r + 4.999923e-01f) * r + 1.0f) * r + 1.0f;
  return std::bit_cast<Vec>(std::bit_cast<IntVec>(p) + (std::bit_cast<IntVec>(shifted) << 23));
}

inline float exp(float x) { return exp(all(x))[0]; }

}  // namespace amdahl::hand_written

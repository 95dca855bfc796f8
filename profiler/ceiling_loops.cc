#include "profiler/ceiling_loops.h"

#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace amdahl {
namespace {

// What a loop computed must look used, or the compiler removes the loop.
volatile float sink;

// 12 independent chains: two FMA ports times a latency of 4-5 cycles need 8-10, and
// both factors still fit the 16 registers of the narrower forms.
constexpr int kChains = 12;

// One macro and not a template: a function template compiled for the base instruction set loses its wide vectors before
// it could be inlined into a function of a wider one.
#define ARITHMETIC_LOOP(NAME, LANES, ATTRIBUTES)                                                                                 \
  ATTRIBUTES void NAME(int64_t iterations) {                                                                                     \
    typedef float Vector __attribute__((vector_size(4 * LANES)));                                                                \
    Vector sum[kChains];                                                                                                         \
    for (int c = 0; c < kChains; ++c) sum[c] = Vector{} + static_cast<float>(c); /* or they are one */                           \
    const Vector a = Vector{} + 0.999f, b = Vector{} + 1e-3f;                                                                    \
    for (int64_t n = 0; n < iterations; ++n) _Pragma("GCC unroll 12") for (int c = 0; c < kChains; ++c) sum[c] = sum[c] * a + b; \
    float total = 0;                                                                                                             \
    for (int c = 0; c < kChains; ++c) total += sum[c][0];                                                                        \
    sink = total;                                                                                                                \
  }

// Loads of whole lines into eight running sums; the streams start equally far apart, as rows of a matrix do.
#define READ_LOOP(NAME, LANES, STREAMS, ATTRIBUTES)                                                            \
  ATTRIBUTES void NAME(float* data, int64_t bytes, int64_t passes) {                                           \
    typedef float Vector __attribute__((vector_size(4 * LANES), aligned(4)));                                  \
    constexpr int kPerStream = 8 / STREAMS;                                                                    \
    const int64_t stride = bytes / 4 / STREAMS / (kPerStream * LANES) * (kPerStream * LANES);                  \
    Vector sum[8] = {};                                                                                        \
    for (int64_t pass = 0; pass < passes; ++pass) {                                                            \
      asm volatile("" ::: "memory");                                                                           \
      for (int64_t i = 0; i < stride; i += kPerStream * LANES)                                                 \
        _Pragma("GCC unroll 8") for (int k = 0; k < 8; ++k) sum[k] +=                                          \
            *reinterpret_cast<const Vector*>(data + (k / kPerStream) * stride + i + (k % kPerStream) * LANES); \
    }                                                                                                          \
    float total = 0;                                                                                           \
    for (int k = 0; k < 8; ++k) total += sum[k][0];                                                            \
    sink = total;                                                                                              \
  }

#define TRIAD_LOOP(NAME, LANES, ATTRIBUTES)                                                                                                                \
  ATTRIBUTES void NAME(float* data, int64_t bytes, int64_t passes) {                                                                                       \
    typedef float Vector __attribute__((vector_size(4 * LANES), aligned(4)));                                                                              \
    const int64_t n = bytes / 4 / 3 / 1024 * 1024;                                                                                                         \
    for (int64_t pass = 0; pass < passes; ++pass) {                                                                                                        \
      asm volatile("" ::: "memory");                                                                                                                       \
      for (int64_t i = 0; i < n; i += LANES)                                                                                                               \
        *reinterpret_cast<Vector*>(data + i) = *reinterpret_cast<const Vector*>(data + n + i) + 0.5f * *reinterpret_cast<const Vector*>(data + 2 * n + i); \
    }                                                                                                                                                      \
    sink = data[0];                                                                                                                                        \
  }

#define SCALAR_LOOP(NAME, ATTRIBUTES)                                                                                            \
  ATTRIBUTES __attribute__((optimize("no-tree-vectorize", "no-tree-slp-vectorize"))) void NAME(int64_t iterations) {             \
    float sum[kChains];                                                                                                          \
    for (int c = 0; c < kChains; ++c) sum[c] = static_cast<float>(c);                                                            \
    const float a = 0.999f, b = 1e-3f;                                                                                           \
    for (int64_t n = 0; n < iterations; ++n) _Pragma("GCC unroll 12") for (int c = 0; c < kChains; ++c) sum[c] = sum[c] * a + b; \
    float total = 0;                                                                                                             \
    for (float s : sum) total += s;                                                                                              \
    sink = total;                                                                                                                \
  }

#define FMA __attribute__((target("fma")))
#define AVX2 __attribute__((target("avx2,fma")))
#define AVX512 __attribute__((target("avx512f,prefer-vector-width=512")))

SCALAR_LOOP(scalar_base, )
ARITHMETIC_LOOP(arithmetic_128, 4, )
READ_LOOP(read1_128, 4, 1, )
READ_LOOP(read4_128, 4, 4, )
TRIAD_LOOP(triad_128, 4, )

#if defined(__x86_64__)
SCALAR_LOOP(scalar_fma, FMA)
ARITHMETIC_LOOP(fma_128, 4, FMA)
ARITHMETIC_LOOP(fma_256, 8, AVX2)
READ_LOOP(read1_256, 8, 1, AVX2)
READ_LOOP(read4_256, 8, 4, AVX2)
TRIAD_LOOP(triad_256, 8, AVX2)

ARITHMETIC_LOOP(fma_512, 16, AVX512)
READ_LOOP(read1_512, 16, 1, AVX512)
READ_LOOP(read4_512, 16, 4, AVX512)
TRIAD_LOOP(triad_512, 16, AVX512)

__attribute__((target("avx512f,avx512bf16"))) void dot_bf16(int64_t iterations) {
  __m512 sum[kChains];
  for (int c = 0; c < kChains; ++c) sum[c] = _mm512_set1_ps(static_cast<float>(c));
  const __m512bh a = (__m512bh)_mm512_set1_epi32(0x3f803f80);
  for (int64_t n = 0; n < iterations; ++n) _Pragma("GCC unroll 12") for (int c = 0; c < kChains; ++c) sum[c] = _mm512_dpbf16_ps(sum[c], a, a);
  float total = 0;
  for (int c = 0; c < kChains; ++c) total += sum[c][0];
  sink = total;
}

#define DOT_BYTES(NAME, ATTRIBUTES, VECTOR, SET, ADD)                                                                               \
  ATTRIBUTES void NAME(int64_t iterations) {                                                                                        \
    VECTOR sum[kChains];                                                                                                            \
    for (int c = 0; c < kChains; ++c) sum[c] = SET(c);                                                                              \
    const VECTOR a = SET(0x01020304);                                                                                               \
    for (int64_t n = 0; n < iterations; ++n) _Pragma("GCC unroll 12") for (int c = 0; c < kChains; ++c) sum[c] = ADD(sum[c], a, a); \
    int64_t total = 0;                                                                                                              \
    for (int c = 0; c < kChains; ++c) total += sum[c][0];                                                                           \
    sink = static_cast<float>(total);                                                                                               \
  }
DOT_BYTES(dot_bytes_256, __attribute__((target("avx2,avxvnni"))), __m256i, _mm256_set1_epi32, _mm256_dpbusd_avx_epi32)
DOT_BYTES(dot_bytes_512, __attribute__((target("avx512f,avx512vnni"))), __m512i, _mm512_set1_epi32, _mm512_dpbusd_epi32)
#undef DOT_BYTES

// Four accumulators of 16x16 fp32 fed by two 16x32 bf16 tiles on each side: the blocking that hides the 52-cycle latency
// of a tile product issued every 16 cycles.
__attribute__((target("amx-tile,amx-bf16"))) void amx_bf16(int64_t iterations) {
  struct alignas(64) {
    uint8_t palette = 1, start_row = 0, reserved[14] = {};
    uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
  } config;
  asm volatile("" ::"r"(&config) : "memory");  // GCC 12 believes that loadconfig reads eight bytes
  _tile_loadconfig(&config);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  _tile_zero(4);
  _tile_zero(5);
  _tile_zero(6);
  _tile_zero(7);
  for (int64_t n = 0; n < iterations; ++n) {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_release();
}
#endif

}  // namespace

const std::vector<ArithmeticLoop>& arithmetic_loops() {
  static const std::vector<ArithmeticLoop> loops {
    {"scalar fp32", "", true, 2.0 * kChains, scalar_base}, {"128-bit fp32", "", true, 2.0 * kChains * 4, arithmetic_128},
#if defined(__x86_64__)
        {"scalar fp32", "fma", true, 2.0 * kChains, scalar_fma}, {"128-bit fp32", "fma", true, 2.0 * kChains * 4, fma_128},
        {"256-bit fp32", "fma", true, 2.0 * kChains * 8, fma_256}, {"512-bit fp32", "avx512f", true, 2.0 * kChains * 16, fma_512},
        {"512-bit bf16", "avx512_bf16", false, 2.0 * kChains * 32, dot_bf16}, {"AMX bf16", "amx_bf16", false, 4 * 2.0 * 16 * 16 * 32, amx_bf16},
        {"256-bit int8", "avx_vnni", false, 2.0 * kChains * 32, dot_bytes_256}, {"512-bit int8", "avx512_vnni", false, 2.0 * kChains * 64, dot_bytes_512},
#endif
  };
  return loops;
}

const std::vector<StreamLoop>& stream_loops() {
  static const std::vector<StreamLoop> loops {
    {"read, 1 stream", "", read1_128}, {"read, 4 streams", "", read4_128}, {"triad", "", triad_128},
#if defined(__x86_64__)
        {"read, 1 stream", "avx2", read1_256}, {"read, 4 streams", "avx2", read4_256}, {"triad", "avx2", triad_256}, {"read, 1 stream", "avx512f", read1_512},
        {"read, 4 streams", "avx512f", read4_512}, {"triad", "avx512f", triad_512},
#endif
  };
  return loops;
}

}  // namespace amdahl

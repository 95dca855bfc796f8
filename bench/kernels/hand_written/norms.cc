// LayerNorm and RMSNorm over the last axis: a row is read from memory once and stays in L1.

#include <cmath>

#include "bench/kernels/hand_written/hand_written.h"
#include "bench/kernels/hand_written/rows.h"
#include "bench/kernels/hand_written/vectors.h"

namespace amdahl::hand_written {
namespace {

constexpr int64_t kUnroll = 4, kStep = kUnroll * kLanes;
constexpr float kLayerEpsilon = 1e-5f, kRmsEpsilon = 1e-6f;  // of make_models.py

// The sum of f(x) over a row.
template <typename F>
float sum_over(const float* x, int64_t n, F f) {
  Vec sum[kUnroll] = {};
  for (int64_t j = 0; j < n; j += kStep)
    for (int u = 0; u < kUnroll; ++u) sum[u] += f(at(x + j + u * kLanes));
  return sum_of((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

template <bool kStream>
Run layer_norm_rows(const Rows& r, HugeArray scale, HugeArray shift) {
  return [=] {
    const float *const gain = scale.get(), *const bias = shift.get();
#pragma omp parallel for
    for (int64_t i = 0; i < r.rows; ++i) {
      const float* const x = r.x + i * r.columns;
      const float mean = sum_over(x, r.columns, [](Vec v) { return v; }) / static_cast<float>(r.columns);
      const float squares = sum_over(x, r.columns, [mean](Vec v) { return (v - mean) * (v - mean); });
      const float inverse = 1 / std::sqrt(squares / static_cast<float>(r.columns) + kLayerEpsilon);
      for (int64_t j = 0; j < r.columns; j += kLanes)
        put<kStream>(r.y + i * r.columns + j, (at(x + j) - mean) * inverse * at(gain + j) + at(bias + j));
    }
  };
}

template <bool kStream>
Run rms_norm_rows(const Rows& r, HugeArray scale) {
  return [=] {
    const float* const gain = scale.get();
#pragma omp parallel for
    for (int64_t i = 0; i < r.rows; ++i) {
      const float* const x = r.x + i * r.columns;
      const float* const next = i + 1 < r.rows ? x + r.columns : x;
      const float squares = sum_over(x, r.columns, [](Vec v) { return v * v; });
      const float inverse = 1 / std::sqrt(squares / static_cast<float>(r.columns) + kRmsEpsilon);
      for (int64_t j = 0; j < r.columns; j += kLanes) {
        if (j % 16 == 0) __builtin_prefetch(next + j);
        put<kStream>(r.y + i * r.columns + j, at(x + j) * inverse * at(gain + j));
      }
    }
  };
}

}  // namespace

std::vector<Run> layer_norm(const Operands& operands, int) {
  const Rows r = rows_of(operands, kStep);
  const HugeArray scale = copy_of(operands.constant("c0")), shift = copy_of(operands.constant("c1"));
  return {layer_norm_rows<false>(r, scale, shift), layer_norm_rows<true>(r, scale, shift)};
}

std::vector<Run> rms_norm(const Operands& operands, int) {
  const Rows r = rows_of(operands, kStep);
  const HugeArray scale = copy_of(operands.constant("c2"));
  return {rms_norm_rows<false>(r, scale), rms_norm_rows<true>(r, scale)};
}

}  // namespace amdahl::hand_written

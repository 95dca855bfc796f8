// Softmax over the last axis, one read and one write of memory.
//
// A row is cut in blocks that fit L1: a block's largest value is found, and e^(x - that) and its sum are made while the block is hot. Then the blocks'
// factors bring all to the row's largest value and its sum. The exponentials wait in y itself, whose lines arrive meanwhile, or, when y
// is streamed out, in a scratch row; the next row is asked for while this one is written.

#include <omp.h>

#include <algorithm>
#include <limits>

#include "bench/kernels/hand_written/hand_written.h"
#include "bench/kernels/hand_written/rows.h"
#include "bench/kernels/hand_written/vectors.h"

namespace amdahl::hand_written {
namespace {

constexpr int64_t kUnroll = 4, kStep = kUnroll * kLanes, kBlock = 1024;

float largest(const float* x, int64_t n) {
  Vec most[kUnroll];
  for (int u = 0; u < kUnroll; ++u) most[u] = at(x + u * kLanes);
  for (int64_t j = kStep; j < n; j += kStep)
    for (int u = 0; u < kUnroll; ++u) most[u] = larger(most[u], at(x + j + u * kLanes));
  return largest_of(larger(larger(most[0], most[1]), larger(most[2], most[3])));
}

// e = e^(x - shift); the sum.
float exponentials(const float* x, int64_t n, float shift, float* e) {
  Vec sum[kUnroll] = {};
  for (int64_t j = 0; j < n; j += kStep)
    for (int u = 0; u < kUnroll; ++u) sum[u] += at(e + j + u * kLanes) = exp(at(x + j + u * kLanes) - shift);
  return sum_of((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

template <bool kStream>
void scale(const float* e, int64_t n, float factor, float* y, const float* next) {
  for (int64_t j = 0; j < n; j += kStep) {
    for (int u = 0; u < kUnroll; ++u) {
      if (u % (16 / kLanes) == 0) __builtin_prefetch(next + j + u * kLanes);
      put<kStream>(y + j + u * kLanes, at(e + j + u * kLanes) * factor);
    }
  }
}

struct Block {
  float largest, sum;
};

// `e`: where the exponentials wait; `next`: the row that comes then.
template <bool kStream>
void softmax_row(const float* x, int64_t n, float* y, float* e, Block* blocks, const float* next) {
  float most = -std::numeric_limits<float>::max(), sum = 0;
  for (int64_t first = 0, b = 0; first < n; first += kBlock, ++b) {
    const int64_t length = std::min(kBlock, n - first);
    const float here = largest(x + first, length);
    blocks[b] = {here, exponentials(x + first, length, here, e + first)};
    most = std::max(most, here);
  }
  for (int64_t first = 0, b = 0; first < n; first += kBlock, ++b) sum += blocks[b].sum * exp(blocks[b].largest - most);
  for (int64_t first = 0, b = 0; first < n; first += kBlock, ++b)
    scale<kStream>(e + first, std::min(kBlock, n - first), exp(blocks[b].largest - most) / sum, y + first, next + first);
}

template <bool kStream>
Run softmax_rows(const Rows& r, int threads) {
  const int64_t scratch = r.columns + 128 * (r.columns / kBlock / 64 + 1);  // a thread's row and blocks, in whole vectors
  return [=, own = huge_array(static_cast<size_t>(threads * scratch))] {
#pragma omp parallel for
    for (int64_t i = 0; i < r.rows; ++i) {
      const float* const x = r.x + i * r.columns;
      float *const mine = own.get() + omp_get_thread_num() * scratch, *const y = r.y + i * r.columns;
      Block* const blocks = reinterpret_cast<Block*>(mine + r.columns);
      softmax_row<kStream>(x, r.columns, y, kStream ? mine : y, blocks, i + 1 < r.rows ? x + r.columns : x);
    }
  };
}

}  // namespace

std::vector<Run> softmax(const Operands& operands, int threads) {
  const Rows r = rows_of(operands, kStep);
  return {softmax_rows<false>(r, threads), softmax_rows<true>(r, threads)};
}

}  // namespace amdahl::hand_written

// Causal attention with online softmax: no matrix of scores, no tile beyond the diagonal.
//
// A task is a tile of two vectors of queries of one head, which lie in the lanes: Q^T of the tile is packed once; then for each block of keys
// S^T = K Q^T, its softmax, vertical in every lane, and O^T = O^T * correction + V^T P^T. Both products are the same small kernel: scalars of K
// or V, as they lie in memory, times rows of two vectors from L1.

#include <omp.h>

#include <algorithm>
#include <cmath>

#include "bench/kernels/hand_written/hand_written.h"
#include "bench/kernels/hand_written/rows.h"
#include "bench/kernels/hand_written/vectors.h"

namespace amdahl::hand_written {
namespace {

constexpr int64_t kQueries = 2 * kLanes;
constexpr int kTall = kLanes == 16 ? 8 : 6;  // rows of a product's tile: with two vectors each they fill the registers, or hide the latency
constexpr int64_t kKeys = 128;               // of a block: its scores, Q^T and O^T lie in L1
constexpr float kMasked = -1e30f;

// Rows of a product: out[r] (+)= sum over k of scalars[r * row_stride + k * k_stride] * vectors[k], where a row is kQueries floats.
template <int kRows, bool kAdd>
[[gnu::noinline]] void product_tile(const float* scalars, int64_t row_stride, int64_t k_stride, const float* vectors, int64_t depth, float* out) {
  Vec sum[kRows][2];
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < 2; ++v) sum[r][v] = kAdd ? at(out + r * kQueries + v * kLanes) : Vec{};
  for (int64_t k = 0; k < depth; ++k) {
    Vec left = at(vectors + k * kQueries), right = at(vectors + k * kQueries + kLanes);
    hold(left, right);
    for (int r = 0; r < kRows; ++r) {
      const float scalar = scalars[r * row_stride + k * k_stride];
      sum[r][0] += scalar * left;
      sum[r][1] += scalar * right;
    }
  }
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < 2; ++v) at(out + r * kQueries + v * kLanes) = sum[r][v];
}

// `rows` is a multiple of 8: tiles of 4 until the tall ones fit.
template <bool kAdd>
void product(const float* scalars, int64_t rows, int64_t row_stride, int64_t k_stride, const float* vectors, int64_t depth, float* out) {
  for (int64_t r = 0; r < rows;) {
    const bool tall = (rows - r) % kTall == 0;
    (tall ? product_tile<kTall, kAdd> : product_tile<4, kAdd>)(scalars + r * row_stride, row_stride, k_stride, vectors, depth, out + r * kQueries);
    r += tall ? kTall : 4;
  }
}

// Columns of a tile of queries.
struct Tile {
  float *queries, *scores, *out;  // Q^T: width x kQueries, S^T: kKeys x kQueries, O^T: width x kQueries
  Vec largest[2], sum[2];
};

constexpr int64_t tile_floats(int64_t width) { return (2 * width + kKeys) * kQueries; }

void start(Tile& tile, const float* q, int64_t width, float scale) {
  for (int64_t d = 0; d < width; d += kLanes)
    for (int v = 0; v < 2; ++v) transpose(q + v * kLanes * width + d, width, tile.queries + d * kQueries + v * kLanes, kQueries);
  for (int64_t i = 0; i < width * kQueries; i += kLanes) at(tile.queries + i) *= scale;
  std::fill_n(tile.out, width * kQueries, 0.0f);
  std::fill_n(tile.largest, 2, all(kMasked));
  std::fill_n(tile.sum, 2, all(0));
}

// Keys `first` .. `first + keys`, seen from query `query` on: later ones than a lane's query are not for it.
void mask(Tile& tile, int64_t first, int64_t keys, int64_t query) {
  for (int64_t j = std::max(first, query); j < first + keys; ++j)
    for (int64_t i = 0; i < std::min(j - query, kQueries); ++i) tile.scores[(j - first) * kQueries + i] = kMasked;
}

// Scores become weights; what was summed is brought to the new largest score.
void weigh(Tile& tile, int64_t keys, int64_t width) {
  for (int v = 0; v < 2; ++v) {
    float *const scores = tile.scores + v * kLanes, *const out = tile.out + v * kLanes;
    Vec most = tile.largest[v], sum = {};
    for (int64_t j = 0; j < keys; ++j) most = larger(most, at(scores + j * kQueries));
    for (int64_t j = 0; j < keys; ++j) sum += at(scores + j * kQueries) = exp(at(scores + j * kQueries) - most);
    const Vec correction = exp(tile.largest[v] - most);
    tile.sum[v] = tile.sum[v] * correction + sum;
    tile.largest[v] = most;
    for (int64_t d = 0; d < width; ++d) at(out + d * kQueries) *= correction;
  }
}

void finish(const Tile& tile, int64_t width, float* y) {
  for (int v = 0; v < 2; ++v) {
    const Vec inverse = 1 / tile.sum[v];
    for (int64_t d = 0; d < width; ++d) at(tile.out + d * kQueries + v * kLanes) *= inverse;
  }
  for (int64_t d = 0; d < width; d += kLanes)
    for (int v = 0; v < 2; ++v) transpose(tile.out + d * kQueries + v * kLanes, kQueries, y + v * kLanes * width + d, width);
}

struct Head {
  const float *q, *k, *v;
  float* y;
};

void attend(const Head& head, int64_t query, int64_t width, Tile& tile) {
  start(tile, head.q + query * width, width, 1 / std::sqrt(static_cast<float>(width)));
  for (int64_t first = 0; first < query + kQueries; first += kKeys) {
    const int64_t keys = std::min(kKeys, query + kQueries - first);
    product<false>(head.k + first * width, keys, width, 1, tile.queries, width, tile.scores);
    mask(tile, first, keys, query);
    weigh(tile, keys, width);
    product<true>(head.v + first * width, width, 1, width, tile.scores, keys, tile.out);
  }
  finish(tile, width, head.y + query * width);
}

}  // namespace

std::vector<Run> causal_attention(const Operands& operands, int threads) {
  const Shape& shape = operands.inputs.at(0).shape;
  const int64_t heads = shape.at(1), tokens = shape.at(2), width = shape.at(3);
  if (tokens % kQueries || width % kLanes) throw Error(ExitCode::kUnsupported, "tokens or width are not of whole tiles");
  const Head all = {operands.inputs[0].data.get(), operands.inputs[1].data.get(), operands.inputs[2].data.get(), operands.output.data.get()};
  return {[=, own = huge_array(static_cast<size_t>(threads * tile_floats(width)))] {
    // Long tasks first: the last ones fill what is left of the threads' time.
#pragma omp parallel for collapse(2) schedule(dynamic)
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t query = tokens - kQueries; query >= 0; query -= kQueries) {
        float* const mine = own.get() + omp_get_thread_num() * tile_floats(width);
        Tile tile = {mine, mine + width * kQueries, mine + (width + kKeys) * kQueries, {}, {}};
        const int64_t at = h * tokens * width;
        attend({all.q + at, all.k + at, all.v + at, all.y + at}, query, width, tile);
      }
  }};
}

}  // namespace amdahl::hand_written

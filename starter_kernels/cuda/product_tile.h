#pragma once
// The tiles of products that kernels/product_tile.h multiplies, and how they can be varied.

#include <cstdint>
#include <string>

#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"

namespace amdahl {

// TM x TN sums a thread, BLOCK_M x BLOCK_N threads.
struct ProductTile {
  int64_t tm, tn, block_m, block_n;
};
// One with which `matrices` outputs of m x n keep `units` multiprocessors busy, where there is that much.
ProductTile starter_tile(int64_t m, int64_t n, int64_t matrices, int64_t units);

// The macro ALPHA: what a sum of this type is multiplied with; of integers nothing is.
std::string alpha_text(double alpha, DType sum);

// In how many parts of at least `least_steps` the `k` steps of `blocks` tiles are shared, so that there are at most `most_blocks`.
int64_t starter_split(int64_t blocks, int64_t most_blocks, int64_t k, int64_t least_steps);

// The knobs TM, TN, BLOCK_M, BLOCK_N and BK; `sum`: the type in shared memory, which holds `buffers` times BK steps.
SearchSpace product_tile_space(const ProductTile& starter, DType sum, int64_t buffers = 1);
// Why tiles of these knobs do not fit a block's shared memory, or "".
std::string refused_tile(const Knobs& knobs, DType sum, int64_t buffers = 1);

// kernels/product_tile.h, where a thread has `adjacent` columns side by side: a divisor of TN, at most 16 bytes of sums.
std::string product_tile_text(int64_t adjacent);

}  // namespace amdahl

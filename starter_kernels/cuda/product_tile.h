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

// The knobs TM, TN, BLOCK_M, BLOCK_N and BK; `sum`: the type in shared memory.
SearchSpace product_tile_space(const ProductTile& starter, DType sum);
// Why tiles of these knobs do not fit a block's shared memory, or "".
std::string refused_tile(const Knobs& knobs, DType sum);

}  // namespace amdahl

#include "starter_kernels/cuda/product_tile.h"

#include <algorithm>

#include "starter_kernels/cuda/limits.h"

namespace amdahl {
namespace {

int64_t ceil_of(int64_t n, int64_t unit) { return (n + unit - 1) / unit; }

}  // namespace

ProductTile starter_tile(int64_t m, int64_t n, int64_t matrices, int64_t units) {
  ProductTile tile{8, 8, 16, 16};
  const auto tiles = [&] { return ceil_of(m, tile.tm * tile.block_m) * ceil_of(n, tile.tn * tile.block_n) * matrices; };
  // Rows and columns that an output does not have would be summed for nothing.
  while (tile.tm > 1 && tile.tm / 2 * tile.block_m >= m) tile.tm /= 2;
  while (tile.tn > 1 && tile.tn / 2 * tile.block_n >= n) tile.tn /= 2;
  while (tiles() < units && std::max(tile.tm, tile.tn) > 2) (tile.tm >= tile.tn ? tile.tm : tile.tn) /= 2;
  return tile;
}

SearchSpace product_tile_space(const ProductTile& starter, DType sum) {
  return {{{"TM", {1, 2, 4, 8}, starter.tm, "rows of the output a thread"},
           {"TN", {1, 2, 4, 8}, starter.tn, "columns of the output a thread"},
           {"BLOCK_M", {4, 8, 16, 32}, starter.block_m, "threads of a block along rows"},
           {"BLOCK_N", {16, 32}, starter.block_n, "threads of a block along columns"},
           {"BK", {8, 16, 32}, 16, "steps of the sum in shared memory"}},
          [sum](const Knobs& knobs) { return refused_tile(knobs, sum); },
          {}};
}

std::string refused_tile(const Knobs& k, DType sum) {
  const int64_t element = static_cast<int64_t>(size_of(sum));
  const int64_t shared = (k.at("TM") * k.at("BLOCK_M") + k.at("TN") * k.at("BLOCK_N") + 1) * k.at("BK") * element + 16 * k.at("BK");
  return refused_shared(shared, kStaticSharedBytes);
}

}  // namespace amdahl

#include "starter_kernels/cuda/product_tile.h"

#include <fmt/format.h>

#include <algorithm>

#include "starter_kernels/cuda/ceil_div.h"
#include "starter_kernels/cuda/cuda_text.h"
#include "starter_kernels/cuda/limits.h"
#include "starter_kernels/text/index_space.h"
#include "starter_kernels/text/number_text.h"

namespace amdahl {
ProductTile starter_tile(int64_t m, int64_t n, int64_t matrices, int64_t units) {
  ProductTile tile{8, 8, 16, 16};
  const auto tiles = [&] { return ceil_div(m, tile.tm * tile.block_m) * ceil_div(n, tile.tn * tile.block_n) * matrices; };
  // Rows and columns that an output does not have would be summed for nothing.
  while (tile.tm > 1 && tile.tm / 2 * tile.block_m >= m) tile.tm /= 2;
  while (tile.tn > 1 && tile.tn / 2 * tile.block_n >= n) tile.tn /= 2;
  while (tiles() < units && std::max(tile.tm, tile.tn) > 2) (tile.tm >= tile.tn ? tile.tm : tile.tn) /= 2;
  return tile;
}

std::string alpha_text(double alpha, DType sum) {
  if (alpha == 1) return "#define ALPHA\n";
  return fmt::format("#define ALPHA * {}\n", sum == DType::kF64 ? double_text(alpha) : float_text(alpha));
}

int64_t starter_split(int64_t blocks, int64_t most_blocks, int64_t k, int64_t least_steps) {
  int64_t split = 1;
  while (split < 16 && 2 * split * blocks <= most_blocks && k / (2 * split) >= least_steps) split *= 2;
  return split;
}

SearchSpace product_tile_space(const ProductTile& starter, DType sum, int64_t buffers) {
  return {{{"TM", {1, 2, 4, 8}, starter.tm, "rows of the output a thread"},
           {"TN", {1, 2, 4, 8}, starter.tn, "columns of the output a thread"},
           {"BLOCK_M", {4, 8, 16, 32}, starter.block_m, "threads of a block along rows"},
           {"BLOCK_N", {16, 32}, starter.block_n, "threads of a block along columns"},
           {"BK", {8, 16, 32}, size_of(sum) > 4 ? 8 : 16, "steps of the sum in shared memory"}},
          [=](const Knobs& knobs) { return refused_tile(knobs, sum, buffers); },
          {}};
}

std::string refused_tile(const Knobs& k, DType sum, int64_t buffers) {
  const int64_t element = static_cast<int64_t>(size_of(sum));
  constexpr int64_t kLongerBy = 16;  // each row
  const int64_t step = (k.at("TM") * k.at("BLOCK_M") + k.at("TN") * k.at("BLOCK_N")) * element + 2 * kLongerBy;
  return refused_shared(buffers * k.at("BK") * step, kStaticSharedBytes);
}

std::string product_tile_text(int64_t adjacent) {
  return join_text({cuda_sizes({{"ADJACENT", adjacent}}), std::string(cuda_text("shared_loop.h")), std::string(cuda_text("product_tile.h"))});
}

}  // namespace amdahl

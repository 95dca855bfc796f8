#include "starter_kernels/cpu/tile_cycles.h"

#include <algorithm>

namespace amdahl {
namespace {

double one_tile(int64_t rows, int64_t vectors) {
  if (rows == 0 || vectors == 0) return 0;
  return std::max({static_cast<double>(rows * vectors) / 2, static_cast<double>(rows + vectors) / 2, 4.0}) + 0.5;
}

}  // namespace

double tile_cycles(int64_t rows, int64_t vectors, int64_t tile_rows, int64_t tile_vectors) {
  const auto column = [&](int64_t v) { return static_cast<double>(rows / tile_rows) * one_tile(tile_rows, v) + one_tile(rows % tile_rows, v); };
  return static_cast<double>(vectors / tile_vectors) * column(tile_vectors) + column(vectors % tile_vectors);
}

}  // namespace amdahl

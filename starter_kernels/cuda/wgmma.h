#pragma once
// Multiplications of four warps together (wgmma), which read both operands in shared memory: what matrix products and convolutions have in common on cards of
// compute capability 9.0. A block has 64 rows a warpgroup and WGMMA_N columns; SPLIT_K blocks, a cluster, share the steps of K (kernels/hopper.h).

#include <cstdint>
#include <string>
#include <vector>

#include "base/device_info.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"

namespace amdahl {

inline constexpr int64_t kWgmmaLine = 64;  // steps of K of a stage

bool has_wgmma(const DeviceInfo& card);  // sm_90a

struct WgmmaTile {
  int64_t warpgroups = 2, n = 128;

  int64_t rows() const { return 64 * warpgroups; }
};
// For `matrices` outputs of m x n: tiles of which there are about as many as multiprocessors once two blocks share the steps of K.
WgmmaTile starter_wgmma_tile(int64_t m, int64_t n, int64_t matrices, int64_t units);
// How many blocks share K then.
int64_t starter_wgmma_split(const WgmmaTile& tile, int64_t m, int64_t n, int64_t k, int64_t matrices, int64_t units);

// WARPGROUPS, WGMMA_N of these values and WGMMA_STAGES.
void add_wgmma_tile_knobs(SearchSpace& space, const WgmmaTile& tile, const std::vector<int64_t>& columns);
// Why a block with these knobs and SPLIT_K cannot be launched, or "". `sums`: the tile's sums always pass through shared memory.
std::string refused_wgmma_tile(const Knobs& knobs, bool sums);
// HALF, CLUSTER, multiply_tiles() and the texts of mma.h and hopper.h.
std::string wgmma_tile_text(DType half, const Knobs& knobs);

}  // namespace amdahl

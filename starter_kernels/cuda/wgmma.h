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

inline constexpr int64_t kWgmmaLine = 64;                // steps of K of a stage
inline constexpr int64_t kWgmmaSharedBytes = 227 << 10;  // the most that a block asks for, compute capability 9.0

bool has_wgmma(const DeviceInfo& card);  // sm_90a

struct WgmmaTile {
  int64_t warpgroups = 2, n = 128;

  int64_t rows() const { return 64 * warpgroups; }
};
// Products of m x n over k steps, and the multiprocessors that share them.
struct WgmmaWork {
  int64_t m = 0, n = 0, k = 0, matrices = 1, units = 1;
};
// Where the knobs of a form begin.
struct WgmmaStarter {
  WgmmaTile tile;
  int64_t stages = 4, split = 1;
};
// The largest tile of which there are about as many blocks as multiprocessors, once `split` of them share the steps of K: each byte of an operand is read as
// often as tiles need it.
WgmmaStarter starter_wgmma(const WgmmaWork& work);

// WARPGROUPS, WGMMA_N of these values and WGMMA_STAGES.
void add_wgmma_tile_knobs(SearchSpace& space, const WgmmaStarter& starter, const std::vector<int64_t>& columns);
// Why a block with these knobs and SPLIT_K cannot be launched, or "".
std::string refused_wgmma_tile(const Knobs& knobs);
// HALF, CLUSTER, multiply_tiles() and the texts of mma.h and hopper.h. Behind WGMMA_N and SPLIT_K.
std::string wgmma_instructions_text(DType half, const Knobs& knobs);
// These and the text of cluster_sums.h. Behind WARPGROUPS, too.
std::string wgmma_tile_text(DType half, const Knobs& knobs);

}  // namespace amdahl

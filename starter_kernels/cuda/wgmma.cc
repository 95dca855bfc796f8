#include "starter_kernels/cuda/wgmma.h"

#include <fmt/format.h>

#include <algorithm>

#include "starter_kernels/cuda/ceil_div.h"
#include "starter_kernels/cuda/cuda_text.h"
#include "starter_kernels/cuda/limits.h"
#include "starter_kernels/cuda/product_tile.h"
#include "starter_kernels/text/index_space.h"

namespace amdahl {
namespace {

constexpr int64_t kMostBlocksOfCluster = 8;  // on every card that has clusters

int64_t blocks_of(const WgmmaTile& tile, const WgmmaWork& work) { return work.matrices * ceil_div(work.m, tile.rows()) * ceil_div(work.n, tile.n); }

// A part of less than two lines is not worth its sums' way.
constexpr int64_t kLeastOfPart = 2 * kWgmmaLine;

// One multiplication of 64 x N x 16 by four warps; the sums of a thread are N / 2 registers.
std::string multiplication_text(int64_t n) {
  std::string registers, operands;
  for (int64_t i = 0; i < n / 2; ++i) {
    registers += fmt::format("{}%{}", i == 0 ? "" : ", ", i);
    operands += fmt::format("{}\"+f\"(c[{}])", i == 0 ? "" : ", ", i);
  }
  return fmt::format(
      "// c += a b, 64 x {0} by 16 steps, of lines that begin where the descriptors say.\nstatic inline void multiply_tiles(float (&c)[{1}], "
      "uint64_t a, uint64_t b) {{\n  asm volatile(\"{{\\n.reg .pred add;\\nsetp.ne.b32 add, 1, 0;\\nwgmma.mma_async.sync.aligned.m64n{0}k16.f32.\" HALF \".\" "
      "HALF \" {{{2}}}, %{1}, %{3}, add, 1, 1, 0, 0;\\n}}\"\n               : {4} : \"l\"(a), \"l\"(b));\n}}\n",
      n, n / 2, registers, n / 2 + 1, operands);
}

}  // namespace

bool has_wgmma(const DeviceInfo& card) { return std::find(card.features.begin(), card.features.end(), "sm_90a") != card.features.end(); }

WgmmaStarter starter_wgmma(const WgmmaWork& work) {
  WgmmaTile tile{work.m <= 64 ? 1 : 2, 128};
  if (blocks_of(tile, work) < work.units) tile.n = 64;
  const int64_t most_parts = std::clamp(work.k / kLeastOfPart, int64_t{1}, kMostBlocksOfCluster);
  while (10 * blocks_of(tile, work) * most_parts < 7 * work.units && (tile.warpgroups > 1 || tile.n > 32)) {
    if (tile.warpgroups > 1) tile.warpgroups = 1;
    else tile.n = 32;
  }
  // Of small tiles two blocks fit a multiprocessor's memory with four stages, and the second kernel has its first weights before the first ends: GPT-2's
  // products of 2304 and 3072 columns took 7.0 us of six stages, 6.6 of four (H100). Of large ones no two fit, and more bytes on their way are the better: its
  // head of 50257 columns took 52 and 46.
  return {tile, tile.n > 64 ? 6 : 4, std::min(kMostBlocksOfCluster, starter_split(blocks_of(tile, work), work.units, work.k, kLeastOfPart))};
}

void add_wgmma_tile_knobs(SearchSpace& space, const WgmmaStarter& starter, const std::vector<int64_t>& columns) {
  const std::vector<Knob> knobs{
      {"WARPGROUPS", {1, 2}, starter.tile.warpgroups, "four warps with 64 rows of the output each, of a block"},
      {"WGMMA_N", columns, starter.tile.n, "columns of the output a block"},
      {"WGMMA_STAGES", {2, 3, 4, 5, 6, 8}, starter.stages, "64 steps of K each, in shared memory"},
  };
  space.knobs.insert(space.knobs.end(), knobs.begin(), knobs.end());
}

std::string refused_wgmma_tile(const Knobs& k) {
  if (k.at("WGMMA_STAGES") < 3) return "one step is multiplied and one given back";
  if ((k.at("SPLIT_K") & (k.at("SPLIT_K") - 1)) != 0) return "blocks of a cluster share a tile's sums by halves";
  if (k.at("SPLIT_K") > kMostBlocksOfCluster) return fmt::format("a cluster has {} blocks at most", kMostBlocksOfCluster);
  const int64_t rows = 64 * k.at("WARPGROUPS"), columns = k.at("WGMMA_N"), stages = k.at("WGMMA_STAGES");
  const int64_t held = stages * (rows + columns) * kWgmmaLine * 2, summed = rows * (columns + 8) * 4;
  return refused_shared(std::max(held, summed) + stages * 8 + 1024, kWgmmaSharedBytes);
}

std::string wgmma_tile_text(DType half, const Knobs& knobs) {
  return join_text({wgmma_instructions_text(half, knobs), std::string(cuda_text("cluster_sums.h"))});
}

std::string wgmma_instructions_text(DType half, const Knobs& knobs) {
  return join_text({fmt::format("#define HALF \"{}\"", half == DType::kBF16 ? "bf16" : "f16"),
                    fmt::format("#define CLUSTER{}", knobs.at("SPLIT_K") > 1 ? " __cluster_dims__(1, SPLIT_K, 1)" : ""), std::string(cuda_text("mma.h")),
                    std::string(cuda_text("hopper.h")), multiplication_text(knobs.at("WGMMA_N"))});
}

}  // namespace amdahl

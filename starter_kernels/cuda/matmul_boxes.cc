#include "starter_kernels/cuda/matmul_boxes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "starter_kernels/cuda/adjacent_epilogue.h"
#include "starter_kernels/cuda/ceil_div.h"
#include "starter_kernels/cuda/cuda_text.h"
#include "starter_kernels/cuda/limits.h"
#include "starter_kernels/cuda/matmul_wgmma.h"
#include "starter_kernels/cuda/product_tile.h"
#include "starter_kernels/cuda/wgmma.h"
#include "starter_kernels/kinds/accesses.h"
#include "starter_kernels/kinds/matmul.h"
#include "starter_kernels/text/index_space.h"
#include "starter_kernels/text/program_text.h"

namespace amdahl {
namespace {

constexpr int64_t kUnitShared = 228 << 10;         // of a multiprocessor, compute capability 9.0; a block takes 1 KiB more than it asks for
constexpr int64_t kBoxBytes = 16;                  // what a box's lines begin at multiples of
constexpr int64_t kAdjacent = 2;                   // columns of a thread that lie side by side
constexpr int64_t kSplits[] = {1, 2, 3, 4, 6, 8};  // blocks of a cluster

struct BoxesTile {
  int64_t warpgroups, n, split;

  int64_t rows() const { return 64 * warpgroups; }
  int64_t stage_bytes() const { return (rows() + n) * kWgmmaLine * 2; }
  // Sums that come from other blocks of the cluster.
  int64_t slot_bytes() const { return (split - 1) * (rows() * n / split) * 4; }
  int64_t result_bytes(int64_t size) const { return rows() * (n / split + 8) * size; }
  int64_t shared_bytes(int64_t stages, int64_t size) const {
    return stages * stage_bytes() + slot_bytes() + result_bytes(size) + 8 + (2 * stages + 1) * 8 + 1024;
  }
};

int64_t size_of_result(const Problem& problem) { return static_cast<int64_t>(size_of(problem.out[0].dtype)); }

// What a block takes, as bytes that come from L2: those of another block of the cluster count four times, each block that takes part 16 KiB, and results 128
// bytes a column, or 1024 where there are too many for the epilogue's operands to come early (kernels/pushed_sums.h). More blocks than fit the card at a time take
// turns, or overlap; and all of them together wait for L2 twice as long as each does. Of 206 tiles of 19 products and convolutions on an H200 the cheapest by this was 5%
// slower than the best in the geometric mean, 30% at most.
double cost_of(const BoxesTile& tile, const MatmulSizes& s, int64_t units, bool two_fit) {
  constexpr int64_t kEarlyColumns = 96, kUnitsOfLargestClusters = 96;  // of 132: eight to a cluster leave the rest of a GPC idle
  const int64_t blocks = ceil_div(s.m, tile.rows()) * ceil_div(s.n, tile.n) * tile.split;
  const int64_t loaded = ceil_div(ceil_div(s.k, kWgmmaLine), tile.split) * tile.stage_bytes(), columns = tile.n / tile.split;
  const int64_t one = loaded + 4 * tile.slot_bytes() + 16384 * tile.split + (columns > kEarlyColumns ? 1024 : 128) * columns;
  const int64_t usable = tile.split == 8 && !two_fit ? std::min(units, kUnitsOfLargestClusters) : units;
  const double in_turns = static_cast<double>(blocks) / static_cast<double>(usable);
  const double turns = two_fit ? std::max(1.0, 0.25 + 0.75 * in_turns) : std::ceil(in_turns);
  return turns * static_cast<double>(one) + 2.0 * static_cast<double>(blocks) / static_cast<double>(units) * static_cast<double>(loaded);
}

// Whether two blocks fit a multiprocessor: in its shared memory, and in its registers, of which a thread's sums and what the epilogue reads for them take most.
bool two_fit(const BoxesTile& tile, int64_t stages, int64_t size) {
  constexpr int64_t kRegisters = 64 << 10, kOtherRegisters = 40;
  const int64_t threads = 128 * tile.warpgroups + 32, registers = kOtherRegisters + tile.n / 2 + tile.n / 2 / tile.split;
  return tile.shared_bytes(stages, size) + 1024 <= kUnitShared / 2 && 2 * threads * registers <= kRegisters;
}

}  // namespace

bool has_boxes_form(const Problem& problem, const DeviceInfo& card) {
  const Access &a = problem.in[0], &c = problem.out[0];
  if (!has_wgmma_form(problem, card) || MatmulSizes::of(problem).batch != 1) return false;
  const int64_t row = a.strides[a.strides.size() - 2], size = static_cast<int64_t>(size_of(a.dtype));
  return c.strides.back() == 1 && row > 0 && row * size % kBoxBytes == 0 && a.offset * size % kBoxBytes == 0 && c.shape.back() > 1;
}

WgmmaStarter starter_boxes(const Problem& problem, const DeviceInfo& card) {
  const MatmulSizes s = MatmulSizes::of(problem);
  BoxesTile best{1, 64, 1};
  double least = std::numeric_limits<double>::max();
  const int64_t all_lines = ceil_div(s.k, kWgmmaLine), size = size_of_result(problem);
  for (const int64_t warpgroups : {1, 2})
    for (const int64_t n : {16, 32, 64, 96, 128, 192, 256})
      for (const int64_t split : kSplits) {
        const BoxesTile tile{warpgroups, n, split};
        // Sums of 64 x 256 are 128 registers of a thread: two warpgroups share what they read of B.
        if (n / 8 % split != 0 || split > all_lines || (warpgroups == 1 && n > 128) || (n > 16 && n >= 2 * s.n)) continue;
        if (n > 128 && all_lines / split < 8) continue;  // few products for so many results
        if (const double cost = cost_of(tile, s, std::max(card.units, 1), two_fit(tile, 3, size)); cost < least) least = cost, best = tile;
      }
  // As many stages as leave room for a second block, whose first steps then come while the first ends.
  const int64_t lines = ceil_div(all_lines, best.split);
  int64_t stages = 2;
  for (const int64_t more : {3, 4, 5, 6, 8})
    if (more <= std::max<int64_t>(lines, 2) && best.shared_bytes(more, size) + 1024 <= (two_fit(best, 3, size) ? kUnitShared / 2 : kWgmmaSharedBytes))
      stages = more;
  return {{best.warpgroups, best.n}, stages, best.split};
}

std::string refused_boxes(const Problem& problem, const Knobs& k) {
  const MatmulSizes s = MatmulSizes::of(problem);
  const BoxesTile tile{k.at("WARPGROUPS"), k.at("WGMMA_N"), k.at("SPLIT_K")};
  if (tile.split > *std::rbegin(kSplits)) return fmt::format("a cluster has {} blocks at most", *std::rbegin(kSplits));
  if (tile.n / 8 % tile.split != 0) return fmt::format("{} columns are not {} times eight or a multiple", tile.n, tile.split);
  if (tile.split > ceil_div(s.k, kWgmmaLine)) return "blocks would have no step of K";
  return refused_shared(tile.shared_bytes(k.at("WGMMA_STAGES"), size_of_result(problem)), kWgmmaSharedBytes);
}

std::string boxes_text(const Problem& product, const Knobs& knobs, const DeviceInfo& card, const std::string& operands) {
  const Access &a = product.in[0], &c = product.out[0];
  const MatmulSizes s = MatmulSizes::of(product);
  std::string sizes = cuda_sizes({{"BATCH", s.batch},
                                  {"M", s.m},
                                  {"N", s.n},
                                  {"K", s.k},
                                  {"C_ROW", c.strides[c.strides.size() - 2]},
                                  {"C_OFFSET", c.offset},
                                  {"UNITS", std::max(card.units, 1)},
                                  {"UNIT_SHARED", kUnitShared}});
  for (const char* name : {"WARPGROUPS", "WGMMA_N", "WGMMA_STAGES", "SPLIT_K"}) sizes += cuda_sizes({{name, knobs.at(name)}});
  return join_text({cuda_opening(product), sizes, alpha_text(MatmulParams::of(product).alpha, DType::kF32),
                    fmt::format("typedef float sum_t;\ntypedef {} out_t;\n", c_type(c.dtype)), cuda_epilogue(product, 2),
                    std::string(cuda_text("shared_loop.h")), wgmma_instructions_text(a.dtype, knobs), std::string(cuda_text("vector.h")),
                    adjacent_epilogue_text(product, 2, Shape(c.shape.begin(), c.shape.end() - 2), kAdjacent), std::string(cuda_text("pushed_sums.h")),
                    std::string(cuda_text("matmul_order.h")), operands, std::string(cuda_text("matmul_boxes.cu"))});
}

std::string boxes_of_matrix_text(const Problem& problem) {
  const Access &a = problem.in[0], &b = problem.in[1];
  const size_t rank = a.strides.size();
  return join_text(
      {cuda_sizes(
           {{"A_ROW", a.strides[rank - 2]}, {"A_OFFSET", a.offset}, {"B_ROW", b.strides[rank - 2]}, {"B_COLUMN", b.strides[rank - 1]}, {"B_OFFSET", b.offset}}),
       std::string(cuda_text("boxes_of_matrix.h"))});
}

}  // namespace amdahl

#include "starter_kernels/cuda/matmul_mma.h"

#include <fmt/format.h>

#include <algorithm>

#include "starter_kernels/cuda/ceil_div.h"
#include "starter_kernels/cuda/cuda_text.h"
#include "starter_kernels/cuda/limits.h"
#include "starter_kernels/cuda/product_tile.h"
#include "starter_kernels/kinds/accesses.h"
#include "starter_kernels/kinds/matmul.h"
#include "starter_kernels/text/index_space.h"

namespace amdahl {
namespace {

int64_t row_stride(const Access& a) { return a.strides[a.strides.size() - 2]; }
int64_t column_stride(const Access& a) { return a.strides.back(); }
bool is_row_major(const Access& a) { return column_stride(a) == 1; }

// Numbers that one copy takes where the operand's base lies as evenly: lines of memory begin that many apart.
int64_t vector_of(const Access& a) {
  const int64_t stride = is_row_major(a) ? row_stride(a) : column_stride(a);
  int64_t vector = 8;
  while (stride % vector != 0) vector /= 2;
  return vector;
}

struct Tile {
  int64_t warps_m = 2, warps_n = 2, warp_m = 64, warp_n = 64;

  int64_t blocks(const MatmulSizes& s) const { return s.batch * ceil_div(s.m, warps_m * warp_m) * ceil_div(s.n, warps_n * warp_n); }
};

// A tile that is no longer than the output, and of which there are enough.
Tile starter_mma_tile(const MatmulSizes& s, int64_t units) {
  Tile tile;
  if (s.m <= 32) tile = {1, 4, s.m <= 16 ? 16 : 32, 32};
  else if (s.m <= 64 || tile.blocks(s) < units) tile = {2, 2, 32, 32};
  while (tile.warp_n > 16 && tile.warps_n * tile.warp_n / 2 >= s.n) tile.warp_n /= 2;
  return tile;
}

}  // namespace

bool has_mma_form(const Problem& problem) {
  const Access &a = problem.in[0], &b = problem.in[1];
  const auto adjacent = [](const Access& x) { return is_row_major(x) || row_stride(x) == 1; };
  return is_half(a.dtype) && b.dtype == a.dtype && adjacent(a) && adjacent(b) && declared_algorithm(problem).empty();
}

void add_mma_knobs(SearchSpace& space, const Problem& problem, const DeviceInfo& card) {
  const MatmulSizes s = MatmulSizes::of(problem);
  const Tile tile = starter_mma_tile(s, std::max(card.units, 1));
  const std::vector<Knob> knobs{
      {"WARPS_M", {1, 2, 4}, tile.warps_m, "warps of a block along M"},
      {"WARPS_N", {1, 2, 4}, tile.warps_n, "warps of a block along N"},
      {"WARP_M", {16, 32, 64}, tile.warp_m, "rows of C a warp"},
      {"WARP_N", {16, 32, 64}, tile.warp_n, "columns of C a warp"},
      {"MMA_K", {16, 32, 64}, 32, "steps of K of a stage in shared memory"},
      {"STAGES", {2, 3, 4}, 3, "stages, of which one is multiplied"},
  };
  space.knobs.insert(space.knobs.end(), knobs.begin(), knobs.end());
}

int64_t starter_mma_split(const Problem& problem, const DeviceInfo& card) {
  const MatmulSizes s = MatmulSizes::of(problem);
  const int64_t units = std::max(card.units, 1);
  return starter_split(starter_mma_tile(s, units).blocks(s), 2 * units, s.k, 512);
}

std::string refused_mma(const Problem& problem, const Knobs& k) {
  const auto bytes = [&](const Access& x, bool along_k, int64_t size) {
    const int64_t depth = k.at("MMA_K");
    return 2 * (along_k == is_row_major(x) ? size * (depth + 8) : depth * (size + 8));
  };
  const int64_t shared =
      k.at("STAGES") * (bytes(problem.in[0], true, k.at("WARPS_M") * k.at("WARP_M")) + bytes(problem.in[1], false, k.at("WARPS_N") * k.at("WARP_N")));
  return refused_shared(shared, kDynamicSharedBytes);
}

std::string mma_text(const Problem& problem) {
  return join_text({cuda_sizes({{"A_VECTOR", vector_of(problem.in[0])}, {"B_VECTOR", vector_of(problem.in[1])}}),
                    fmt::format("#define HALF \"{}\"", problem.in[0].dtype == DType::kBF16 ? "bf16" : "f16"), std::string(cuda_text("shared_loop.h")),
                    std::string(cuda_text("mma.h")), std::string(cuda_text("matmul_order.h")), std::string(cuda_text("matmul_mma.cu"))});
}

}  // namespace amdahl

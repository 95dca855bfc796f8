#include "starter_kernels/cuda/matmul_held.h"

#include <fmt/format.h>

#include <algorithm>

#include "starter_kernels/cuda/ceil_div.h"
#include "starter_kernels/cuda/cuda_text.h"
#include "starter_kernels/cuda/matmul_rows.h"
#include "starter_kernels/kinds/matmul.h"
#include "starter_kernels/text/index_space.h"

namespace amdahl {
namespace {

constexpr int64_t kMostHeldRows = 8;  // columns of a multiplication
constexpr int64_t kHeldGroup = 32;    // steps of K
constexpr int64_t kHeldGroups = 6;    // 48 registers of a thread

}  // namespace

bool has_held_form(const Problem& problem) {
  const Access &a = problem.in[0], &b = problem.in[1];
  const MatmulSizes s = MatmulSizes::of(problem);
  const int64_t row = a.strides[a.strides.size() - 2];
  return has_rows_form(problem) && s.m <= kMostHeldRows && s.n > 0 && s.k > 0 && s.k % 8 == 0 && is_half(a.dtype) && b.dtype == a.dtype && b.constant &&
         a.strides.back() == 1 && (s.m == 1 || row % 8 == 0) && a.offset % 8 == 0;
}

void add_held_knobs(SearchSpace& space) {
  space.knobs.push_back({"HELD", {2, 4, 6, 8, 12}, kHeldGroups, "groups of 32 steps of K of which a warp has B in registers"});
}

// As many as hold all of K; eight take 1.28 us where four take 1.50 (1 x 768 by 768 x 768, H200).
int64_t starter_held_warps(const Problem& problem) {
  const int64_t groups = ceil_div(MatmulSizes::of(problem).k, kHeldGroup);
  int64_t warps = 8;
  while (warps < 16 && groups > warps * kHeldGroups) warps *= 2;
  return warps;
}

std::string refused_held(const Knobs& k) { return k.at("SPLIT_K") > 1 ? "the warps of a block share the steps of K" : ""; }

std::string held_text(const Problem& problem) {
  return join_text({cuda_sizes({{"A_OFFSET", problem.in[0].offset}}), fmt::format("#define HALF \"{}\"", problem.in[0].dtype == DType::kBF16 ? "bf16" : "f16"),
                    std::string(cuda_text("shared_loop.h")), std::string(cuda_text("vector.h")), std::string(cuda_text("mma.h")),
                    std::string(cuda_text("matmul_held.cu"))});
}

}  // namespace amdahl

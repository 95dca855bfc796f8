#include "starter_kernels/cuda/matmul_wgmma.h"

#include <algorithm>

#include "starter_kernels/cuda/cuda_text.h"
#include "starter_kernels/cuda/matmul_boxes.h"
#include "starter_kernels/cuda/wgmma.h"
#include "starter_kernels/kinds/accesses.h"
#include "starter_kernels/kinds/matmul.h"
#include "starter_kernels/text/index_space.h"

namespace amdahl {
namespace {

WgmmaWork work_of(const Problem& problem, const DeviceInfo& card) {
  const MatmulSizes s = MatmulSizes::of(problem);
  return {s.m, s.n, s.k, s.batch, std::max(card.units, 1)};
}

}  // namespace

bool has_wgmma_form(const Problem& problem, const DeviceInfo& card) {
  const Access &a = problem.in[0], &b = problem.in[1];
  const MatmulSizes s = MatmulSizes::of(problem);
  const bool one_b = std::all_of(b.strides.begin(), b.strides.end() - 2, [](int64_t stride) { return stride == 0; });
  return has_wgmma(card) && is_half(a.dtype) && b.dtype == a.dtype && a.strides.back() == 1 && b.constant && one_b && s.m > 0 && s.n > 0 && s.k > 0 &&
         declared_algorithm(problem).empty();
}

void add_wgmma_knobs(SearchSpace& space, const Problem& problem, const DeviceInfo& card) {
  WgmmaTile tile = starter_wgmma_tile(work_of(problem, card));
  int64_t stages = starter_wgmma_stages(tile);
  if (has_boxes_form(problem, card)) {
    const BoxesStarter boxes = starter_boxes(problem, card);
    tile = {boxes.warpgroups, boxes.n};
    stages = boxes.stages;
  }
  add_wgmma_tile_knobs(space, tile, stages, {16, 32, 48, 64, 96, 128, 192, 256});
}

int64_t starter_wgmma_split(const Problem& problem, const DeviceInfo& card) { return starter_wgmma_split(work_of(problem, card)); }

std::string wgmma_text(const Problem& problem, const Knobs& knobs) {
  return join_text({std::string(cuda_text("shared_loop.h")), wgmma_tile_text(problem.in[0].dtype, knobs), std::string(cuda_text("matmul_order.h")),
                    std::string(cuda_text("matmul_wgmma.cu"))});
}

}  // namespace amdahl

#include "starter_kernels/cuda/matmul_wgmma.h"

#include <algorithm>

#include "starter_kernels/cuda/cuda_text.h"
#include "starter_kernels/kinds/accesses.h"
#include "starter_kernels/kinds/matmul.h"
#include "starter_kernels/text/index_space.h"

namespace amdahl {
bool has_wgmma_form(const Problem& problem, const DeviceInfo& card) {
  const Access &a = problem.in[0], &b = problem.in[1];
  const MatmulSizes s = MatmulSizes::of(problem);
  const bool one_b = std::all_of(b.strides.begin(), b.strides.end() - 2, [](int64_t stride) { return stride == 0; });
  return has_wgmma(card) && is_half(a.dtype) && b.dtype == a.dtype && a.strides.back() == 1 && b.constant && one_b && s.m > 0 && s.n > 0 && s.k > 0 &&
         declared_algorithm(problem).empty();
}

WgmmaStarter starter_wgmma(const Problem& problem, const DeviceInfo& card) {
  const MatmulSizes s = MatmulSizes::of(problem);
  return starter_wgmma({s.m, s.n, s.k, s.batch, std::max(card.units, 1)});
}

std::string wgmma_text(const Problem& problem, const Knobs& knobs) {
  return join_text({std::string(cuda_text("shared_loop.h")), wgmma_tile_text(problem.in[0].dtype, knobs), std::string(cuda_text("matmul_order.h")),
                    std::string(cuda_text("matmul_wgmma.cu"))});
}

}  // namespace amdahl

// How an NVIDIA card computes the layernorm kind (starter_kernels/kinds/layernorm.cc).

#include "starter_kernels/cuda/cuda_kernels.h"
#include "starter_kernels/cuda/cuda_text.h"
#include "starter_kernels/cuda/normalization.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"
#include "starter_kernels/kinds/target.h"

namespace amdahl {
namespace {

class LayerNormOnCuda final : public KernelImplementation {
 public:
  std::string_view kind() const override { return kind::kLayerNorm; }

  SearchSpace space(const Problem& problem, const DeviceInfo& card) const override {
    return cuda_normalization_space(problem, card, {1, 2, 3}, "how often a row is read; 1: kept in registers, 2: mean and squares together");
  }

  std::string source(const Variant& variant, const DeviceInfo&) const override { return cuda_normalization_source(variant, cuda_text("layernorm.cu")); }
};

}  // namespace

const KernelImplementation* layernorm_on_cuda() {
  static const LayerNormOnCuda implementation;
  return &implementation;
}

}  // namespace amdahl

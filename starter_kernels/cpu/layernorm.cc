// How a CPU computes the layernorm kind (starter_kernels/kinds/layernorm.cc).

#include "base/device_info.h"
#include "starter_kernels/cpu/cpu_kernels.h"
#include "starter_kernels/cpu/cpu_text.h"
#include "starter_kernels/cpu/normalization.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"
#include "starter_kernels/kinds/target.h"

namespace amdahl {
namespace {

class LayerNormOnCpu final : public KernelImplementation {
 public:
  std::string_view kind() const override { return kind::kLayerNorm; }

  SearchSpace space(const Problem& problem, const DeviceInfo& device) const override { return normalization_space(problem, device, true); }

  std::string source(const Variant& variant, const DeviceInfo&) const override { return normalization_source(variant, cpu_text("layernorm.cpp")); }
};

}  // namespace

const KernelImplementation* layernorm_on_cpu() {
  static const LayerNormOnCpu implementation;
  return &implementation;
}

}  // namespace amdahl

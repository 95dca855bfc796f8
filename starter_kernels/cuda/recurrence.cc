// How an NVIDIA card computes the recurrence kind (starter_kernels/kinds/recurrence.cc).

#include "starter_kernels/kinds/recurrence.h"

#include <fmt/format.h>

#include "starter_kernels/cuda/cuda_kernels.h"
#include "starter_kernels/cuda/cuda_text.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"
#include "starter_kernels/kinds/target.h"
#include "starter_kernels/text/index_space.h"
#include "starter_kernels/text/recurrence_text.h"

namespace amdahl {
namespace {

class RecurrenceOnCuda final : public KernelImplementation {
 public:
  std::string_view kind() const override { return kind::kRecurrence; }

  SearchSpace space(const Problem&, const DeviceInfo&) const override {
    return {{{"THREADS", {64, 128, 256, 512, 1024}, 256, "threads of a block, which has all units of a row"}}, [](const Knobs&) { return std::string(); }, {}};
  }

  std::string source(const Variant& variant, const DeviceInfo&) const override {
    const Problem& problem = variant.problem;
    std::string sizes = "enum : long long {\n";
    for (const auto& [name, value] : recurrence_sizes(problem)) sizes += fmt::format("  {} = {},\n", name, value);
    return join_text({cuda_opening(problem), sizes + "};", cuda_sizes({{"THREADS", variant.knobs.at("THREADS")}}), recurrence_functions_text(problem),
                      std::string(cuda_text("recurrence.cu"))});
  }
};

}  // namespace

const KernelImplementation* recurrence_on_cuda() {
  static const RecurrenceOnCuda implementation;
  return &implementation;
}

}  // namespace amdahl

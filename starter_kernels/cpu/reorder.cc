// How a CPU computes the reorder kind (starter_kernels/kinds/reorder.cc).

#include <fmt/format.h>

#include "base/device_info.h"
#include "base/error.h"
#include "starter_kernels/cpu/cpu_kernels.h"
#include "starter_kernels/cpu/cpu_text.h"
#include "starter_kernels/kinds/formats.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"
#include "starter_kernels/kinds/target.h"

namespace amdahl {
namespace {

class ReorderOnCpu final : public KernelImplementation {
 public:
  std::string_view kind() const override { return kind::kReorder; }

  SearchSpace space(const Problem&, const DeviceInfo&) const override {
    return {{}, [](const Knobs&) { return std::string(); }};
  }

  std::string source(const Variant& variant, const DeviceInfo&) const override {
    const Problem& problem = variant.problem;
    const int64_t in = channel_block(format_of_input(problem, 0)), out = channel_block(format_of_output(problem, 0));
    if ((in == 0) == (out == 0) || problem.in[0].dtype != DType::kF32)
      throw Error(ExitCode::kInternal, "reorder: f32, with one operand row-major and the other in channel blocks");
    const Shape& shape = problem.in[0].shape;
    return fmt::format(
               "#include <stddef.h>\n#include <stdint.h>\n\nconstexpr int THREADS = {};\n"
               "constexpr int64_t N = {}, C = {}, P = {}, BLOCK = {};\nconstexpr bool TO_BLOCKS = {};\n\n",
               problem.threads, shape.at(0), shape.at(1), numel({shape.begin() + 2, shape.end()}), in + out, out > 0) +
           std::string(cpu_text("reorder.cpp"));
  }
};

}  // namespace

const KernelImplementation* reorder_on_cpu() {
  static const ReorderOnCpu implementation;
  return &implementation;
}

}  // namespace amdahl

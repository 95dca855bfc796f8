// How a CPU computes the pool kind (starter_kernels/kinds/pool.cc).

#include "starter_kernels/kinds/pool.h"

#include <fmt/format.h>

#include "base/device_info.h"
#include "base/error.h"
#include "starter_kernels/cpu/cpu_kernels.h"
#include "starter_kernels/cpu/cpu_text.h"
#include "starter_kernels/cpu/window_constants.h"
#include "starter_kernels/kinds/formats.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"
#include "starter_kernels/kinds/sliding_window.h"
#include "starter_kernels/kinds/target.h"
#include "starter_kernels/text/program_text.h"

namespace amdahl {
namespace {

// Constants of the channel-blocked text; nothing for row-major operands.
std::string blocks_of(const Problem& problem) {
  const int64_t block = channel_block(format_of_input(problem, 0));
  if (block == 0) return "";
  return fmt::format("constexpr int64_t BLOCK = {};\nconstexpr bool OUT_BLOCKED = {};\n\n", block, !format_of_output(problem, 0).empty());
}

class PoolOnCpu final : public KernelImplementation {
 public:
  std::string_view kind() const override { return kind::kPool; }

  SearchSpace space(const Problem& problem, const DeviceInfo&) const override {
    const bool in = channel_block(format_of_input(problem, 0)) > 0, out = channel_block(format_of_output(problem, 0)) > 0;
    const bool global = PoolParams::of(problem).global;
    const bool known = in ? problem.in[0].dtype == DType::kF32 && problem.in[0].shape.size() == 4 && (out || global) : !out;
    return {{}, [known](const Knobs&) { return std::string(known ? "" : "no text takes these formats"); }};
  }

  std::string source(const Variant& variant, const DeviceInfo& device) const override {
    const Problem& problem = variant.problem;
    if (const std::string refusal = space(problem, device).refuse(variant.knobs); !refusal.empty()) throw Error(ExitCode::kInternal, "pool: " + refusal);
    const PoolParams params = PoolParams::of(problem);
    const DType dtype = problem.in[0].dtype;
    const bool wide = dtype == DType::kF64;
    const std::string type = c_type(dtype);
    const char* accumulator = wide ? "double" : is_float(dtype) ? "float" : type.c_str();
    const char* empty = !params.max ? "0" : is_float(dtype) ? "-INFINITY" : dtype == DType::kI8 ? "INT8_MIN" : "0";
    return fmt::format(
               "#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n\n{}"
               "constexpr int THREADS = {};\ntypedef {} T;\ntypedef {} OUT;\ntypedef {} ACC;\n"
               "constexpr bool IS_MAX = {}, COUNT_PAD = {}, GLOBAL = {};\nconstexpr ACC EMPTY = {};\n\n",
               window_constants(SlidingWindow::of(problem)), problem.threads, type, type, accumulator, params.max, params.count_pad, params.global, empty) +
           blocks_of(problem) + std::string(cpu_text(channel_block(format_of_input(problem, 0)) ? "pool_blocked.cpp" : "pool.cpp"));
  }
};

}  // namespace

const KernelImplementation* pool_on_cpu() {
  static const PoolOnCpu implementation;
  return &implementation;
}

}  // namespace amdahl

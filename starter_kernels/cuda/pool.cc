// How an NVIDIA card computes the pool kind (starter_kernels/kinds/pool.cc).

#include "starter_kernels/kinds/pool.h"

#include <fmt/format.h>

#include <algorithm>

#include "starter_kernels/cuda/cuda_kernels.h"
#include "starter_kernels/cuda/cuda_text.h"
#include "starter_kernels/kinds/accesses.h"
#include "starter_kernels/kinds/formats.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/sliding_window.h"
#include "starter_kernels/text/index_space.h"
#include "starter_kernels/text/program_text.h"
#include "starter_kernels/text/window_text.h"

namespace amdahl {
namespace {

std::string types_text(const Problem& problem, const PoolParams& params) {
  const DType x = problem.in[0].dtype, out = problem.out[0].dtype, sum = accumulator_of(x);
  const std::string empty = !params.max ? "0" : is_float(x) ? "-__builtin_inff()" : x == DType::kI8 ? "-128" : "0";
  return fmt::format(
      "typedef {} x_t;\ntypedef {} out_t;\ntypedef {} sum_t;\n#define EMPTY sum_t({})\nenum : bool {{ IS_MAX = {}, COUNT_PAD = {} }};\n"
      "static inline sum_t load_x(x_t x) {{ return {}; }}\nstatic inline out_t store_out(sum_t y) {{ return {}; }}\n",
      c_type(x), c_type(out), register_type(sum), empty, params.max, params.count_pad, load_text(x, "x"), store_text(out, "y"));
}

class PoolOnCuda final : public KernelImplementation {
 public:
  std::string_view kind() const override { return kind::kPool; }

  SearchSpace space(const Problem& problem, const DeviceInfo&) const override {
    SearchSpace space;
    if (PoolParams::of(problem).global) {
      const int64_t starter = SlidingWindow::of(problem).in_pixels() > 1024 ? 256 : 32;
      space.knobs = {{"THREADS", {32, 64, 128, 256}, starter, "threads that share a plane"},
                     {"PLANES", {1, 2, 4, 8}, 256 / starter > 4 ? 4 : 1, "planes of a block"}};
    } else {
      space.knobs = {{"THREADS", {64, 128, 256, 512}, 256, "threads of a block"},
                     {"EACH", {1, 2, 4}, 1, "outputs of a thread, THREADS apart: as many loads are in flight"}};
    }
    const bool blocks = in_channel_blocks(problem);
    space.refuse = [=](const Knobs& k) -> std::string {
      if (blocks) return "a card has no form for channel blocks";
      const int64_t threads = k.at("THREADS") * (k.count("PLANES") ? k.at("PLANES") : 1);
      return threads > 1024 ? fmt::format("a block of {} threads: 1024 are the most", threads) : "";
    };
    return space;
  }

  std::string source(const Variant& variant, const DeviceInfo&) const override {
    const Problem& problem = variant.problem;
    const PoolParams params = PoolParams::of(problem);
    std::string knobs;
    for (const auto& [name, value] : variant.knobs) knobs += cuda_sizes({{name, value}});
    return join_text({cuda_opening(problem), knobs, window_text(SlidingWindow::of(problem), "enum : long long { ", " };"), types_text(problem, params),
                      std::string(cuda_text("pool_common.h")), std::string(cuda_text(params.global ? "pool_global.cu" : "pool.cu"))});
  }
};

}  // namespace

const KernelImplementation* pool_on_cuda() {
  static const PoolOnCuda implementation;
  return &implementation;
}

}  // namespace amdahl

// How an NVIDIA card computes the pool kind (starter_kernels/kinds/pool.cc).

#include "starter_kernels/kinds/pool.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/device_info.h"
#include "starter_kernels/cuda/ceil_div.h"
#include "starter_kernels/cuda/channels_last.h"
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

int64_t vector_of(const Problem& problem) {
  return adjacent_channels(problem.in[0].shape[1], std::max(size_of(problem.in[0].dtype), size_of(problem.out[0].dtype)));
}

std::string last_sizes(const Problem& problem) {
  return join_text({cuda_sizes({{"VECTOR", vector_of(problem)}}), fmt::format("typedef {} index_t;", index_type({&problem.in[0], &problem.out[0]})),
                    std::string(cuda_text("vector.h"))});
}

// Blocks of few channels, as long as there are fewer than multiprocessors and 32 bytes are adjacent; as many threads of a channel as there are pixels.
std::vector<Knob> global_last_knobs(const Problem& problem, int64_t units) {
  const SlidingWindow g = SlidingWindow::of(problem);
  const int64_t vector = vector_of(problem), bytes = vector * static_cast<int64_t>(size_of(problem.in[0].dtype)), vectors = g.channels / vector;
  int64_t group = 32, lanes = 8;
  while (group > 1 && (group / 2 >= vectors || (group * bytes > 32 && g.n * ceil_div(vectors, group) < units))) group /= 2;
  while (lanes * group < 32 || (lanes * group < 256 && lanes < g.in_pixels()) || (lanes * group < 1024 && 8 * lanes < g.in_pixels())) lanes *= 2;
  return {{"LANES", {8, 16, 32, 64, 128, 256, 512, 1024}, lanes, "threads that share a channel's pixels"},
          {"GROUP", {1, 2, 4, 8, 16, 32}, group, "vectors of adjacent channels of a block"}};
}

std::vector<Knob> last_knobs(const Problem& problem, int64_t units) {
  return {{"THREADS", {32, 64, 128, 256, 512}, starter_threads(numel(problem.out[0].shape) / vector_of(problem), units), "threads of a block"},
          {"EACH", {1, 2, 4}, 1, "output pixels of a thread, THREADS apart: as many loads are in flight"}};
}

std::vector<Knob> row_major_knobs(const Problem& problem) {
  if (!PoolParams::of(problem).global)
    return {{"THREADS", {64, 128, 256, 512}, 256, "threads of a block"},
            {"EACH", {1, 2, 4}, 1, "outputs of a thread, THREADS apart: as many loads are in flight"}};
  const int64_t starter = SlidingWindow::of(problem).in_pixels() > 1024 ? 256 : 32;
  return {{"THREADS", {32, 64, 128, 256}, starter, "threads that share a plane"}, {"PLANES", {1, 2, 4, 8}, 256 / starter > 4 ? 4 : 1, "planes of a block"}};
}

// One output pixel lies alike in both formats.
std::string refused_operands(const Problem& problem) {
  const std::string why = refused_formats(problem, 0);
  if (!why.empty() || !channels_last(problem)) return why;
  if (format_of_input(problem, 0) != kChannelsLast) return "a pooling over channels last reads them";
  const bool one_pixel = SlidingWindow::of(problem).out_pixels() == 1;
  return one_pixel || format_of_output(problem, 0) == kChannelsLast ? "" : "a pooling over channels last writes them, where it has more than one pixel";
}

class PoolOnCuda final : public KernelImplementation {
 public:
  std::string_view kind() const override { return kind::kPool; }

  SearchSpace space(const Problem& problem, const DeviceInfo& card) const override {
    if (const std::string why = refused_operands(problem); !why.empty()) return {{}, [=](const Knobs&) { return why; }};
    SearchSpace space;
    const int64_t units = std::max(card.units, 1);
    if (!channels_last(problem)) space.knobs = row_major_knobs(problem);
    else space.knobs = PoolParams::of(problem).global ? global_last_knobs(problem, units) : last_knobs(problem, units);
    space.refuse = [](const Knobs& k) -> std::string {
      int64_t threads = 1;
      for (const char* name : {"THREADS", "PLANES", "LANES", "GROUP"})
        if (const auto knob = k.find(name); knob != k.end()) threads *= knob->second;
      if (threads < 32) return fmt::format("a block of {} threads: a warp has 32", threads);
      return threads > 1024 ? fmt::format("a block of {} threads: 1024 are the most", threads) : "";
    };
    return space;
  }

  std::string source(const Variant& variant, const DeviceInfo&) const override {
    const Problem& problem = variant.problem;
    const PoolParams params = PoolParams::of(problem);
    std::string text;
    for (const auto& [name, value] : variant.knobs) text += cuda_sizes({{name, value}});
    text = join_text({cuda_opening(problem), text, window_text(SlidingWindow::of(problem), "enum : long long { ", " };"), types_text(problem, params),
                      std::string(cuda_text("pool_common.h"))});
    const bool last = channels_last(problem);
    if (last) text += last_sizes(problem);
    if (params.global) return join_text({text, std::string(cuda_text(last ? "pool_global_last.cu" : "pool_global.cu"))});
    return join_text({text, std::string(cuda_text("pool_windows.h")), std::string(cuda_text(last ? "pool_last.cu" : "pool.cu"))});
  }
};

}  // namespace

const KernelImplementation* pool_on_cuda() {
  static const PoolOnCuda implementation;
  return &implementation;
}

}  // namespace amdahl

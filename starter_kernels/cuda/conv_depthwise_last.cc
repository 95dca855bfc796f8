#include "starter_kernels/cuda/conv_depthwise_last.h"

#include <fmt/format.h>

#include <algorithm>

#include "starter_kernels/cuda/adjacent_epilogue.h"
#include "starter_kernels/cuda/ceil_div.h"
#include "starter_kernels/cuda/channels_last.h"
#include "starter_kernels/cuda/conv_text.h"
#include "starter_kernels/cuda/cuda_text.h"
#include "starter_kernels/kinds/accesses.h"
#include "starter_kernels/kinds/conv.h"
#include "starter_kernels/kinds/formats.h"
#include "starter_kernels/kinds/sliding_window.h"
#include "starter_kernels/text/index_space.h"
#include "starter_kernels/text/program_text.h"
#include "starter_kernels/text/window_text.h"

namespace amdahl {
namespace {

constexpr size_t kExtra = 2;       // in[0] is x, in[1] is w
constexpr int64_t kMostTaps = 64;  // all of a thread's are written out

// All of them of one input channel, or as many of each.
int64_t vector_of(const Problem& problem) {
  const SlidingWindow g = SlidingWindow::of(problem);
  const int64_t multiplier = g.out_channels / g.groups;
  int64_t vector = adjacent_channels(g.out_channels, std::max({size_of(problem.in[0].dtype), size_of(problem.in[1].dtype), size_of(problem.out[0].dtype)}));
  while (vector % multiplier != 0 && multiplier % vector != 0) vector /= 2;
  return vector;
}

int64_t threads_of(const Problem& problem, int64_t positions) {
  const SlidingWindow g = SlidingWindow::of(problem);
  return g.n * g.out[1] * ceil_div(g.out[2], positions) * (g.out_channels / vector_of(problem));
}

// What adjacent positions both see is loaded once; four warps a multiprocessor are worth more, and so are registers that large windows and strides take.
int64_t starter_positions(const Problem& problem, int64_t units) {
  const SlidingWindow g = SlidingWindow::of(problem);
  int64_t positions = g.taps() <= 9 && g.stride[2] == 1 ? 4 : 2;
  while (positions > 1 && threads_of(problem, positions) < 128 * units) positions /= 2;
  return positions;
}

std::string types_text(const Problem& problem) {
  const DType x = problem.in[0].dtype, w = problem.in[1].dtype;
  return fmt::format(
      "typedef {} sum_t;\ntypedef {} x_t;\ntypedef {} w_t;\ntypedef {} out_t;\ntypedef {} index_t;\n"
      "static inline sum_t load_x(x_t x) {{ return {}; }}\nstatic inline sum_t load_w(w_t w) {{ return {}; }}\n",
      register_type(accumulator_of(x)), c_type(x), c_type(w), c_type(problem.out[0].dtype), index_type({&problem.in[0], &problem.in[1], &problem.out[0]}),
      load_text(x, "x"), load_text(w, "w"));
}

}  // namespace

bool has_depthwise_last_form(const Problem& problem) {
  if (!channels_last(problem) || !refused_formats(problem, kExtra).empty()) return false;
  const SlidingWindow g = SlidingWindow::of(problem);
  const Access &x = problem.in[0], &w = problem.in[1];
  const bool formats = format_of_input(problem, 0) == kChannelsLast && format_of_input(problem, 1).empty() && format_of_output(problem, 0) == kChannelsLast;
  const bool plain = !ConvParams::of(problem).transposed && declared_algorithm(problem).empty() && x.is_dense() && w.is_dense() && w.constant;
  return formats && plain && g.is_depthwise() && g.taps() <= kMostTaps && !g.empty();
}

SearchSpace depthwise_last_space(const Problem& problem, const DeviceInfo& card) {
  const int64_t units = std::max(card.units, 1), positions = starter_positions(problem, units);
  SearchSpace space;
  space.knobs = {{"FORM", {kConvDepthwiseLastForm}, kConvDepthwiseLastForm, "5 depthwise over channels last"},
                 {"THREADS", {32, 64, 128, 256}, starter_threads(threads_of(problem, positions), units), "threads of a block"},
                 {"TN", {1, 2, 4}, positions, "adjacent output positions a thread"}};
  space.refuse = [](const Knobs& k) -> std::string { return k.at("FORM") == kConvDepthwiseLastForm ? "" : "this form has no text for channels last"; };
  return space;
}

std::string depthwise_last_text(const Problem& problem, const Knobs& knobs) {
  const SlidingWindow g = SlidingWindow::of(problem);
  const Problem stored = stored_channels_last(problem, kExtra);
  const std::string extents = cuda_sizes({{"M", g.out_pixels()}, {"N", g.out_channels}});  // as adjacent_epilogue.h names them
  return join_text({window_text(g, "enum : long long { ", " };"),
                    cuda_sizes({{"THREADS", knobs.at("THREADS")}, {"TN", knobs.at("TN")}, {"VECTOR", vector_of(problem)}}), types_text(problem),
                    std::string(cuda_text("vector.h")), cuda_epilogue(stored, kExtra),
                    fmt::format("namespace rows {{\n{}{}}}", extents, adjacent_epilogue_text(stored, kExtra, {g.n}, vector_of(problem))),
                    std::string(cuda_text("conv_depthwise_last.cu"))});
}

}  // namespace amdahl

#include "starter_kernels/cpu/normalization.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/device_info.h"
#include "starter_kernels/cpu/cpu_text.h"
#include "starter_kernels/cpu/prelude.h"
#include "starter_kernels/cpu/row_tasks.h"
#include "starter_kernels/kinds/normalization.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"
#include "starter_kernels/text/index_space.h"
#include "starter_kernels/text/normalization_text.h"
#include "starter_kernels/text/number_text.h"
#include "starter_kernels/text/program_text.h"
#include "starter_kernels/text/row_space.h"
#include "starter_kernels/text/row_spaces.h"

namespace amdahl {
namespace {

// Rows lie in in[0] as one run of reals each: nothing has to be made before they are summed.
bool lies_as_reals(const Problem& problem, const RowSpace& space) {
  return !has_prologue(problem) && problem.in[0].dtype == row_type(problem) && space.outer == 1 && space.is_contiguous(0);
}

// `static inline const real* direct(in, o)`: row o where it lies.
std::string direct_text(const RowSpace& space, bool direct) {
  if (!direct) return "static inline const real* direct(const void* const*, int64_t) { return nullptr; }\n";
  return place_text(space, "place_of_row", 0) +
         "static inline const real* direct(const void* const* in, int64_t o) { return (const real*)in[0] + place_of_row(o, 0, 0, 0); }\n";
}

// `static inline void write_input(out, x, o, r)` and `write_statistics(out, o, mean, inverse)`; empty where not wanted.
std::string extra_outputs_text(const Problem& problem, const RowSpace& space) {
  const NormalizationParams params = NormalizationParams::of(problem);
  const size_t inputs = problem.in.size();
  size_t next = 1;
  std::string text = "static inline void write_input(void* const* out, const real* x, int64_t o, int64_t r) {\n";
  std::string places;
  if (params.keep_input) {
    const DType type = problem.out[next].dtype;
    places += place_text(space, "place_of_input", inputs + next);
    text += fmt::format("  {0}* y = ({0}*)out[{1}];\n#pragma omp simd\n  for (int64_t j = 0; j < J; ++j) y[place_of_input(o, r, j, 0)] = {2};\n", c_type(type),
                        next, store_text(type, "x[j]"));
    ++next;
  }
  text += "}\nstatic inline void write_statistics(void* const* out, int64_t o, real mean, real inverse) {\n";
  for (const auto& [kept, value] : {std::pair{params.keep_mean, "mean"}, std::pair{params.keep_inverse, "inverse"}}) {
    if (!kept) continue;
    const DType type = problem.out[next].dtype;
    places += place_text(space, fmt::format("place_of_{}", value), inputs + next);
    text += fmt::format("  (({}*)out[{}])[place_of_{}(o, 0, 0, 0)] = {};\n", c_type(type), next, value, store_text(type, value));
    ++next;
  }
  return places + text + "}\n";
}

}  // namespace

SearchSpace normalization_space(const Problem& problem, const DeviceInfo& device, bool welford) {
  const RowSpace space = normalization_rows(problem, false);
  SearchSpace s;
  s.knobs = {rows_knob(problem, space.rows, static_cast<double>(space.outer * space.along) * 0.4), vector_bits_knob(device)};
  if (welford) s.knobs.push_back({"WELFORD", {0, 1}, 0, "1: moments of blocks, merged: one walk over memory"});
  if (space.is_contiguous(problem.in.size()) && size_of(problem.out[0].dtype) <= size_of(row_type(problem)))
    s.knobs.push_back({"STREAM", {0, 1}, 0, "1: the result bypasses the caches"});
  if (lies_as_reals(problem, space) && space.is_contiguous(problem.in.size()))
    s.knobs.push_back({"OVERLAP", {0, 1}, 0, "1: a row is summed while the one before it is written"});
  s.refuse = [](const Knobs& knobs) {
    const auto on = [&](const char* name) { return knobs.count(name) && knobs.at(name) != 0; };
    return std::string(on("WELFORD") && on("OVERLAP") ? "a row of which moments of blocks are wanted is not summed before" : "");
  };
  return s;
}

std::string normalization_source(const Variant& variant, std::string_view body) {
  const Problem& problem = variant.problem;
  const RowSpace space = normalization_rows(problem, false);
  const auto knob = [&](const char* name) { return variant.knobs.count(name) ? variant.knobs.at(name) : 0; };
  const NormalizationParams params = NormalizationParams::of(problem);
  const NormalizationInputs inputs = NormalizationInputs::of(problem);
  const bool direct = lies_as_reals(problem, space);
  const std::string choices =
      fmt::format("constexpr bool WELFORD = {}, OVERLAP = {}, DIRECT = {}, RESULT_IS_RUN = {};\nconstexpr int64_t VECTOR_BITS = {};\n#define STREAM {}\n",
                  knob("WELFORD") != 0, knob("OVERLAP") != 0, direct, space.is_contiguous(problem.in.size()), variant.knobs.at("VECTOR_BITS"), knob("STREAM"));
  return join_text({opening_text(variant), space.sizes_text(), input_text(problem, space), choices, direct_text(space, direct),
                    fmt::format("constexpr real EPSILON = (real){};\n", double_text(params.epsilon)) + divisor_text(params.divisor),
                    tasks_text(problem, variant.knobs, space.rows, direct ? 0 : space.outer * space.along, row_type(problem)), streaming_text(variant.knobs),
                    operand_text(problem, space, "scale", inputs.scale, static_cast<size_t>(std::max(inputs.scale, 0)), "1"),
                    operand_text(problem, space, "shift", inputs.shift, static_cast<size_t>(std::max(inputs.shift, 0)), "0"),
                    finish_text(problem, space, inputs.epilogue, inputs.epilogue), place_text(space, "place", problem.in.size()),
                    extra_outputs_text(problem, space), std::string(cpu_text("rows.h")), std::string(cpu_text("row_vectors.h")), std::string(body)});
}

}  // namespace amdahl

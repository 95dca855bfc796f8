#include "starter_kernels/cuda/normalization.h"

#include <fmt/format.h>

#include <algorithm>

#include "starter_kernels/cuda/cuda_rows.h"
#include "starter_kernels/cuda/cuda_text.h"
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

std::string epsilon_text(const Problem& problem, double epsilon) {
  return fmt::format("#define EPSILON {}\n", row_type(problem) == DType::kF64 ? double_text(epsilon) : float_text(epsilon));
}

std::string parameter_text(const Problem& problem, const RowSpace& rows, const char* name, int number, const char* absent) {
  return operand_text(problem, rows, name, number, static_cast<size_t>(std::max(number, 0)), absent);
}

// `write_input(out, x, o, r, j, k)` of every element and `write_statistics(out, mean, inverse, o, k)` of every row; empty where not wanted.
std::string extra_outputs_text(const Problem& problem, const RowSpace& rows) {
  const NormalizationParams params = NormalizationParams::of(problem);
  size_t next = 1;
  std::string places;
  const auto store = [&](const std::string& name, const char* value, const char* indices) {
    const DType type = problem.out[next].dtype;
    places += place_text(rows, "place_of_" + name, problem.in.size() + next);
    return fmt::format("  (({}*)out[{}])[place_of_{}({})] = {};\n", c_type(type), next++, name, indices, store_text(type, value));
  };
  std::string text = "static inline void write_input(void* const* out, real x, int64_t o, int64_t r, int64_t j, int64_t k) {\n";
  if (params.keep_input) text += store("input", "x", "o, r, j, k");
  text += "}\nstatic inline void write_statistics(void* const* out, real mean, real inverse, int64_t o, int64_t k) {\n";
  if (params.keep_mean) text += store("mean", "mean", "o, 0, 0, k");
  if (params.keep_inverse) text += store("inverse", "inverse", "o, 0, 0, k");
  return places + text + "}\n";
}

}  // namespace

SearchSpace cuda_normalization_space(const Problem& problem, std::vector<int64_t> reads, std::string meaning) {
  const RowSpace rows = normalization_rows(problem, true);
  SearchSpace space;
  space.knobs = line_knobs(rows);
  space.knobs.push_back(reads_knob(rows, std::move(reads), std::move(meaning)));
  space.refuse = [rows, real = row_type(problem)](const Knobs& k) { return refused_reads(rows, k, real); };
  return space;
}

std::string cuda_normalization_source(const Variant& variant, std::string_view body) {
  const Problem& problem = variant.problem;
  const RowSpace rows = normalization_rows(problem, true);
  const NormalizationParams params = NormalizationParams::of(problem);
  const NormalizationInputs inputs = NormalizationInputs::of(problem);
  return join_text({cuda_opening(problem), reading_sizes(rows, variant.knobs), input_text(problem, rows), epsilon_text(problem, params.epsilon),
                    divisor_text(params.divisor), parameter_text(problem, rows, "scale", inputs.scale, "1"),
                    parameter_text(problem, rows, "shift", inputs.shift, "0"), finish_text(problem, rows, inputs.epilogue, inputs.epilogue),
                    place_text(rows, "place", problem.in.size()), extra_outputs_text(problem, rows), std::string(cuda_text("rows.h")), std::string(body)});
}

}  // namespace amdahl

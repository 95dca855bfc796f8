#include "starter_kernels/cuda/normalization.h"

#include <fmt/format.h>

#include "starter_kernels/cuda/cuda_rows.h"
#include "starter_kernels/cuda/cuda_text.h"
#include "starter_kernels/cuda/row_pieces.h"
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

// `write_statistics(out, mean, inverse, o, k)` of every row; empty where they are not wanted.
std::string statistics_text(const Problem& problem, const RowSpace& rows) {
  const NormalizationParams params = NormalizationParams::of(problem);
  size_t next = params.keep_input ? 2 : 1;
  std::string places, stores;
  const auto store = [&](const std::string& name) {
    const DType type = problem.out[next].dtype;
    places += place_text(rows, "place_of_" + name, problem.in.size() + next);
    stores += fmt::format("  (({}*)out[{}])[place_of_{}(o, 0, 0, k)] = {};\n", c_type(type), next++, name, store_text(type, name));
  };
  if (params.keep_mean) store("mean");
  if (params.keep_inverse) store("inverse");
  return places + "static inline void write_statistics(void* const* out, real mean, real inverse, int64_t o, int64_t k) {\n" + stores + "}\n";
}

RowPieces pieces_of(const Problem& problem, const RowSpace& rows) {
  const NormalizationInputs inputs = NormalizationInputs::of(problem);
  return {problem, rows, {{"scale", inputs.scale, "1"}, {"shift", inputs.shift, "0"}}, inputs.epilogue, NormalizationParams::of(problem).keep_input};
}

}  // namespace

SearchSpace cuda_normalization_space(const Problem& problem, const DeviceInfo& card, std::vector<int64_t> reads, std::string meaning) {
  const RowSpace rows = normalization_rows(problem, true);
  SearchSpace space;
  space.knobs = reading_knobs(rows, RowPieces::widest(problem, rows), card.units, std::move(reads), std::move(meaning));
  space.refuse = [rows, real = row_type(problem)](const Knobs& k) { return refused_reads(rows, k, real); };
  return space;
}

std::string cuda_normalization_source(const Variant& variant, std::string_view body) {
  const Problem& problem = variant.problem;
  const RowSpace rows = normalization_rows(problem, true);
  const NormalizationParams params = NormalizationParams::of(problem);
  return join_text({cuda_opening(problem), pieces_of(problem, rows).text(variant.knobs), epsilon_text(problem, params.epsilon), divisor_text(params.divisor),
                    statistics_text(problem, rows), std::string(cuda_text("rows.h")), std::string(cuda_text("row_pieces.h")), std::string(body)});
}

}  // namespace amdahl

// How an NVIDIA card computes the cross_entropy kind (starter_kernels/kinds/cross_entropy.cc).

#include "starter_kernels/kinds/cross_entropy.h"

#include <fmt/format.h>

#include <algorithm>

#include "starter_kernels/cuda/cuda_kernels.h"
#include "starter_kernels/cuda/cuda_rows.h"
#include "starter_kernels/cuda/cuda_text.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"
#include "starter_kernels/kinds/target.h"
#include "starter_kernels/text/index_space.h"
#include "starter_kernels/text/program_text.h"
#include "starter_kernels/text/row_space.h"

namespace amdahl {
namespace {

// Scores and log-probabilities, both [N, C, positions …].
RowSpace rows_of(const Problem& problem) {
  std::vector<bool> reduced(problem.in[0].shape.size(), false);
  reduced.at(1) = true;
  return RowSpace(problem.in[0].shape, reduced, {problem.in[0]});
}

std::string functions_text(const Problem& problem) {
  const DType type = problem.in[0].dtype;
  const bool weighted = CrossEntropyParams::of(problem).weighted;
  return fmt::format("typedef {} score_t;\ntypedef {} label_t;\nSCALAR score_t store(float x) {{ return {}; }}\n", c_type(type), c_type(problem.in[1].dtype),
                     store_text(type, "x")) +
         fmt::format("static inline float weight(const void* const* in, int64_t c) {{ return {}; }}\n",
                     weighted ? "(float)" + load_text(problem.in[2].dtype, fmt::format("((const {}*)in[2])[c]", c_type(problem.in[2].dtype))) : "1");
}

class CrossEntropyOnCuda final : public KernelImplementation {
 public:
  std::string_view kind() const override { return kind::kCrossEntropy; }

  SearchSpace space(const Problem& problem, const DeviceInfo&) const override {
    const RowSpace rows = rows_of(problem);
    SearchSpace space;
    space.knobs = line_knobs(rows);
    space.knobs.push_back({"UNROLL", {1, 2, 4, 8}, 4, "scores of a thread in flight"});
    space.refuse = [rows](const Knobs& k) { return refused_lines(rows, k); };
    return space;
  }

  std::string source(const Variant& variant, const DeviceInfo&) const override {
    const Problem& problem = variant.problem;
    const RowSpace rows = rows_of(problem);
    const CrossEntropyParams params = CrossEntropyParams::of(problem);
    return join_text({cuda_opening(problem), line_sizes(rows, variant.knobs, variant.knobs.at("UNROLL")),
                      cuda_sizes({{"LOGARITHMS", params.logarithms},
                                  {"IGNORES", params.ignore_index.has_value()},
                                  {"IGNORED", params.ignore_index.value_or(0)},
                                  {"LOG_PROBABILITIES", problem.out.size() > 1},
                                  {"REDUCTION", static_cast<char>(params.reduction)}}),
                      fmt::format("#define ADDS {}\n", static_cast<int>(params.reduction != CrossEntropyParams::Reduction::kNone)), input_text(problem, rows),
                      functions_text(problem), place_text(rows, "place", 0), std::string(cuda_text("rows.h")), std::string(cuda_text("cross_entropy.cu"))});
  }
};

}  // namespace

const KernelImplementation* cross_entropy_on_cuda() {
  static const CrossEntropyOnCuda implementation;
  return &implementation;
}

}  // namespace amdahl

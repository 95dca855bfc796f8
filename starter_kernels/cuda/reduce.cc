// How an NVIDIA card computes the reduce kind (starter_kernels/kinds/reduce.cc).

#include "starter_kernels/kinds/reduce.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/device_info.h"
#include "starter_kernels/cuda/cuda_kernels.h"
#include "starter_kernels/cuda/cuda_rows.h"
#include "starter_kernels/cuda/cuda_text.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"
#include "starter_kernels/kinds/target.h"
#include "starter_kernels/text/fold_text.h"
#include "starter_kernels/text/index_space.h"
#include "starter_kernels/text/program_text.h"
#include "starter_kernels/text/row_space.h"
#include "starter_kernels/text/row_spaces.h"

namespace amdahl {
namespace {

std::string fold_text(const Problem& problem, const RowSpace& rows) {
  const ReduceParams params = ReduceParams::of(problem);
  const Fold& fold = fold_of(params);
  const DType type = fold_type(problem);
  const char* lowest = is_float(type) ? "(-(acc_t)__builtin_inff())" : type == DType::kU64 ? "((acc_t)0)" : "(-INT64_MAX - 1)";
  const char* highest = is_float(type) ? "((acc_t)__builtin_inff())" : type == DType::kU64 ? "(~(acc_t)0)" : "INT64_MAX";
  return fmt::format(
             "typedef {} acc_t;\n#define LOWEST {}\n#define HIGHEST {}\n#define COUNT ((acc_t){})\n#define START ((acc_t){})\n"
             "enum : bool {{ SHIFTED = {} }};\n",
             register_type(type), lowest, highest, fold_count(problem, rows.outer * rows.along), fold.start, params.is_shifted()) +
         fold_functions_text(fold);
}

// As many parts of few lines as fill the card, each with some elements a thread.
Knob pieces_knob(const RowSpace& rows, const std::vector<Knob>& lines, int64_t multiprocessors) {
  Knob knob{"PIECES", {1, 4, 16, 64, 256}, 1, "parts of a line, a block each, merged at the end"};
  const int64_t lanes = lines[0].starter, blocks = std::max<int64_t>(1, rows.rows * rows.columns / lines[1].starter);
  for (int64_t pieces : knob.values)
    if (blocks < multiprocessors && blocks * pieces <= 4 * multiprocessors && rows.outer * rows.along >= 8 * lanes * pieces) knob.starter = pieces;
  return knob;
}

class ReduceOnCuda final : public KernelImplementation {
 public:
  std::string_view kind() const override { return kind::kReduce; }

  SearchSpace space(const Problem& problem, const DeviceInfo& device) const override {
    const RowSpace rows = reduce_rows(problem);
    SearchSpace space;
    space.knobs = line_knobs(rows);
    const Knob pieces = pieces_knob(rows, space.knobs, device.units);
    space.knobs.push_back({"UNROLL", {1, 2, 4, 8}, 4, "elements of a thread in flight"});
    // Every piece would need the maximum of the whole line first.
    if (!ReduceParams::of(problem).is_shifted()) space.knobs.push_back(pieces);
    space.refuse = [rows](const Knobs& k) { return refused_lines(rows, k); };
    return space;
  }

  std::string source(const Variant& variant, const DeviceInfo&) const override {
    const Problem& problem = variant.problem;
    const RowSpace rows = reduce_rows(problem);
    const Knobs& k = variant.knobs;
    const int64_t pieces = k.count("PIECES") ? k.at("PIECES") : 1;
    const size_t base = prologue_inputs(problem);
    return join_text({cuda_opening(problem), line_sizes(rows, k, k.at("UNROLL")), cuda_sizes({{"PIECES", pieces}}),
                      fmt::format("#define CUT {}\n", static_cast<int>(pieces > 1)), input_text(problem, rows), fold_text(problem, rows),
                      finish_text(problem, rows, base, base), place_text(rows, "place", problem.in.size()), std::string(cuda_text("rows.h")),
                      std::string(cuda_text("reduce.cu"))});
  }
};

}  // namespace

const KernelImplementation* reduce_on_cuda() {
  static const ReduceOnCuda implementation;
  return &implementation;
}

}  // namespace amdahl

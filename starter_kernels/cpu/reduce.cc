// How a CPU computes the reduce kind (starter_kernels/kinds/reduce.cc).

#include "starter_kernels/kinds/reduce.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/device_info.h"
#include "starter_kernels/cpu/cpu_kernels.h"
#include "starter_kernels/cpu/cpu_text.h"
#include "starter_kernels/cpu/prelude.h"
#include "starter_kernels/cpu/row_tasks.h"
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

std::string fold_text(const Problem& problem, const RowSpace& space) {
  const ReduceParams params = ReduceParams::of(problem);
  const Fold& fold = fold_of(params);
  const DType type = fold_type(problem);
  const bool floating = is_float(type), is_unsigned = type == DType::kU64;
  std::string text = fmt::format("typedef {} acc_t;\n", floating ? "real" : register_type(type));
  text += floating      ? "constexpr acc_t LOWEST = -(acc_t)__builtin_inff(), HIGHEST = (acc_t)__builtin_inff();\n"
          : is_unsigned ? "constexpr acc_t LOWEST = 0, HIGHEST = UINT64_MAX;\n"
                        : "constexpr acc_t LOWEST = INT64_MIN, HIGHEST = INT64_MAX;\n";
  text += fmt::format("constexpr acc_t COUNT = (acc_t){}, START = (acc_t){};\n", fold_count(problem, space.outer * space.along), fold.start);
  text += fmt::format("constexpr bool SHIFTED = {};\n", params.is_shifted());
  text += fold_functions_text(fold);
  if (!params.is_shifted()) return text + "static inline acc_t shift_of(const void* const*, int64_t, int64_t) { return START; }\n";
  // The maximum of a row: 0 when it is -inf, so that exp(x - shift) is 0 and not NaN; an infinite one is kept out too.
  return text + R"(static inline acc_t shift_of(const void* const* in, int64_t o, int64_t k) {
  const Held here = held(in);
  acc_t m = LOWEST;
  for (int64_t r = 0; r < R; ++r)
#pragma omp simd reduction(max : m)
    for (int64_t j = 0; j < J; ++j) {
      const acc_t x = input(here.at, o, r, j, k);
      m = x > m ? x : m;
    }
  return m == LOWEST || m == HIGHEST ? 0 : m;
}
)";
}

// Elements are cheap to fold: about 0.15 ns each, 1.5 ns with an exponential.
bool is_small(const Problem& problem) {
  return problem.threads == 1 || static_cast<double>(numel(problem.in[0].shape)) * (ReduceParams::of(problem).is_shifted() ? 10 : 1) < 100e3;
}

class ReduceOnCpu final : public KernelImplementation {
 public:
  std::string_view kind() const override { return kind::kReduce; }

  SearchSpace space(const Problem& problem, const DeviceInfo& device) const override {
    const RowSpace space = reduce_rows(problem);
    SearchSpace s;
    s.knobs = {vector_bits_knob(device)};
    if (space.columns == 1) {
      s.knobs.push_back(rows_knob(problem, space.rows, static_cast<double>(space.outer * space.along) * (ReduceParams::of(problem).is_shifted() ? 1.5 : 0.15)));
      s.knobs.push_back({"STREAMS", {1, 2, 4}, space.along >= 512 ? 4 : 1, "read streams"});
      s.knobs.push_back({"UNROLL", {1, 2, 4}, space.along >= 512 && !device.has("avx512f") ? 2 : 1, "vectors of a stream at a time: whole cache lines"});
    }
    if (!ReduceParams::of(problem).is_shifted()) {
      // Cut rows only when there are fewer of them than threads.
      const int64_t rows = space.columns > 1 ? space.rows * ((space.columns + 255) / 256) : space.rows;
      const bool cut = !is_small(problem) && rows < problem.threads;
      Knob pieces{"PIECES", {1}, cut ? problem.threads : 1, "parts of a row, merged at the end"};
      for (int64_t p : {int64_t{2}, int64_t{4}, int64_t{problem.threads}})
        if (p > pieces.values.back() && problem.threads > 1) pieces.values.push_back(p);
      s.knobs.push_back(pieces);
    }
    s.refuse = [](const Knobs&) { return std::string(); };
    return s;
  }

  std::string source(const Variant& variant, const DeviceInfo&) const override {
    const Problem& problem = variant.problem;
    const RowSpace space = reduce_rows(problem);
    const auto knob = [&](const char* name, int64_t otherwise) { return variant.knobs.count(name) ? variant.knobs.at(name) : otherwise; };
    const int64_t wanted = knob("ROWS_PER_TASK", 0), pieces = knob("PIECES", 1);
    const int64_t rows_per_task = std::max<int64_t>(1, pieces > 1 ? 1 : wanted > 0 ? wanted : (space.rows + problem.threads - 1) / problem.threads);
    const std::string choices = fmt::format(
        "constexpr int64_t VECTOR_BITS = {}, STREAMS = {}, UNROLL = {}, PIECES = {}, ROWS_PER_TASK = {}, TASKS = {};\nconstexpr bool PARALLEL = {};\n",
        knob("VECTOR_BITS", 256), knob("STREAMS", 1), knob("UNROLL", 1), pieces, rows_per_task, (space.rows + rows_per_task - 1) / rows_per_task,
        pieces > 1 || (space.columns > 1 ? !is_small(problem) : rows_per_task < space.rows));
    const size_t base = prologue_inputs(problem);
    return join_text({opening_text(variant), space.sizes_text(), choices, input_text(problem, space), fold_text(problem, space),
                      finish_text(problem, space, base, base), place_text(space, "place", problem.in.size()), std::string(cpu_text("reduce.cpp"))});
  }
};

}  // namespace

const KernelImplementation* reduce_on_cpu() {
  static const ReduceOnCpu implementation;
  return &implementation;
}

}  // namespace amdahl

// How a CPU computes the rotary_embedding kind (starter_kernels/kinds/rotary_embedding.cc).

#include "starter_kernels/kinds/rotary_embedding.h"

#include <fmt/format.h>

#include "base/device_info.h"
#include "starter_kernels/cpu/cpu_kernels.h"
#include "starter_kernels/cpu/cpu_text.h"
#include "starter_kernels/cpu/prelude.h"
#include "starter_kernels/cpu/row_tasks.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"
#include "starter_kernels/kinds/target.h"
#include "starter_kernels/text/index_space.h"
#include "starter_kernels/text/program_text.h"
#include "starter_kernels/text/rotary_text.h"

namespace amdahl {
namespace {

// A table whose rows, one a position, lie apart: what is between them need not be in the caches.
bool has_gaps(const Access& table, int64_t half) {
  return table.constant && table.strides[0] == 0 && table.strides[1] == 0 && (table.strides[2] != half || table.strides[3] != 1);
}

bool packs_tables(const Problem& problem, const RotaryEmbeddingParams& params) {
  const int64_t half = params.rotated / 2;
  return !params.full_cache && has_gaps(problem.in[1], half) && has_gaps(problem.in[2], half);
}

class RotaryEmbeddingOnCpu final : public KernelImplementation {
 public:
  std::string_view kind() const override { return kind::kRotaryEmbedding; }

  SearchSpace space(const Problem& problem, const DeviceInfo& device) const override {
    const Shape& s = problem.out[0].shape;
    SearchSpace space;
    space.knobs = {rows_knob(problem, s[0] * s[1] * s[2], static_cast<double>(s[3]) * 0.3), vector_bits_knob(device)};
    space.refuse = [](const Knobs&) { return std::string(); };
    return space;
  }

  std::string source(const Variant& variant, const DeviceInfo&) const override {
    const Problem& problem = variant.problem;
    const Access &x = problem.in[0], &cos = problem.in[1], &sin = problem.in[2], &y = problem.out[0];
    const RotaryEmbeddingParams params = RotaryEmbeddingParams::of(problem);
    std::string text = fmt::format(
        "typedef {} value_t;\ntypedef {} cache_t;\n"
        "constexpr int64_t HEADS = {}, POSITIONS = {}, HEAD_SIZE = {}, ROTATED = {}, HALF = ROTATED / 2;\n"
        "constexpr int64_t X_STEP = {}, Y_STEP = {}, COS_STEP = {}, SIN_STEP = {};\nconstexpr bool INTERLEAVED = {}, FULL_CACHE = {};\n",
        c_type(x.dtype), c_type(cos.dtype), y.shape[1], y.shape[2], y.shape[3], params.rotated, x.strides[3], y.strides[3], cos.strides[3], sin.strides[3],
        params.interleaved, params.full_cache);
    const int64_t table_rows = params.ids == RotaryEmbeddingParams::Ids::kInOrder ? y.shape[2] : params.cache_rows;
    text += fmt::format("constexpr bool HEADS_INSIDE = {}, PACKED = {};\nconstexpr int64_t TABLE_ROWS = {};\n", has_heads_inside(problem),
                        packs_tables(problem, params), table_rows);
    return join_text({opening_text(variant), text, rotary_functions_text(problem),
                      tasks_text(problem, variant.knobs, y.shape[0] * y.shape[1] * y.shape[2], 0, DType::kF32), std::string(cpu_text("sizes.h")),
                      std::string(cpu_text("rotary_embedding.cpp"))});
  }
};

}  // namespace

const KernelImplementation* rotary_embedding_on_cpu() {
  static const RotaryEmbeddingOnCpu implementation;
  return &implementation;
}

}  // namespace amdahl

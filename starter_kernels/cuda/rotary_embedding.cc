// How an NVIDIA card computes the rotary_embedding kind (starter_kernels/kinds/rotary_embedding.cc).

#include "starter_kernels/kinds/rotary_embedding.h"

#include <fmt/format.h>

#include <algorithm>

#include "starter_kernels/cuda/cuda_kernels.h"
#include "starter_kernels/cuda/cuda_text.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"
#include "starter_kernels/kinds/target.h"
#include "starter_kernels/text/index_space.h"
#include "starter_kernels/text/program_text.h"
#include "starter_kernels/text/rotary_text.h"

namespace amdahl {
namespace {

class RotaryEmbeddingOnCuda final : public KernelImplementation {
 public:
  std::string_view kind() const override { return kind::kRotaryEmbedding; }

  SearchSpace space(const Problem&, const DeviceInfo&) const override {
    return {{{"THREADS", {64, 128, 256, 512}, 256, "threads of a block"},
             {"EACH", {1, 2, 4, 8}, 1, "pairs of a thread, THREADS apart: as many loads are in flight"}},
            [](const Knobs&) { return std::string(); },
            {}};
  }

  std::string source(const Variant& variant, const DeviceInfo&) const override {
    const Problem& problem = variant.problem;
    const Access &x = problem.in[0], &cos = problem.in[1], &sin = problem.in[2], &y = problem.out[0];
    const RotaryEmbeddingParams params = RotaryEmbeddingParams::of(problem);
    return join_text({cuda_opening(problem),
                      cuda_sizes({{"BATCH", y.shape[0]},
                                  {"HEADS", y.shape[1]},
                                  {"POSITIONS", y.shape[2]},
                                  {"HEAD_SIZE", y.shape[3]},
                                  {"ROTATED", params.rotated},
                                  {"X_STEP", x.strides[3]},
                                  {"Y_STEP", y.strides[3]},
                                  {"COS_STEP", cos.strides[3]},
                                  {"SIN_STEP", sin.strides[3]},
                                  {"INTERLEAVED", params.interleaved},
                                  {"FULL_CACHE", params.full_cache},
                                  {"HEADS_INSIDE", has_heads_inside(problem)},
                                  {"THREADS", variant.knobs.at("THREADS")},
                                  {"EACH", variant.knobs.at("EACH")}}),
                      fmt::format("typedef {} value_t;\ntypedef {} cache_t;\n", c_type(x.dtype), c_type(cos.dtype)), rotary_functions_text(problem),
                      std::string(cuda_text("rotary_embedding.cu"))});
  }
};

}  // namespace

const KernelImplementation* rotary_embedding_on_cuda() {
  static const RotaryEmbeddingOnCuda implementation;
  return &implementation;
}

}  // namespace amdahl

// How an NVIDIA card computes the fused_mlp kind (starter_kernels/kinds/fused_mlp.cc).

#include "starter_kernels/kinds/fused_mlp.h"

#include <fmt/format.h>

#include <algorithm>

#include "starter_kernels/cuda/cuda_kernels.h"
#include "starter_kernels/cuda/cuda_text.h"
#include "starter_kernels/cuda/product_tile.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/text/index_space.h"
#include "starter_kernels/text/program_text.h"

namespace amdahl {
namespace {

std::string operand_text(const std::string& name, const Access& a) {
  return cuda_sizes({{name + "_OFFSET", a.offset}, {name + "_ROW", a.strides[0]}, {name + "_COLUMN", a.strides[1]}});
}

// `float activation(product, up, in, m, h)`, whose own operands begin at in[first].
std::string activation_text(const Problem& problem, const FusedMlpParams& params, size_t first) {
  const size_t products = params.gated ? 2 : 1, extras = static_cast<size_t>(params.activation.inputs) - products;
  std::string arguments = params.gated ? "product, up" : "product";
  for (size_t i = first; i < first + extras; ++i) arguments += ", " + emit_load(problem.in[i], fmt::format("in[{}]", i), {"m", "h"});
  return emit_program(params.activation, "activation_program") +
         fmt::format(
             "static inline float activation(float product, float up, const void* const* in, int64_t m, int64_t h) {{\n"
             "  return activation_program({});\n}}\n",
             arguments);
}

class FusedMlpOnCuda final : public KernelImplementation {
 public:
  std::string_view kind() const override { return kind::kFusedMlp; }

  SearchSpace space(const Problem& problem, const DeviceInfo& card) const override {
    const MlpSizes s(problem);
    return product_tile_space(starter_tile(s.m, std::min(s.h, s.n), 1, std::max(card.units, 1)), DType::kF32);
  }

  std::string source(const Variant& variant, const DeviceInfo&) const override {
    const Problem& p = variant.problem;
    const MlpSizes s(p);
    const FusedMlpParams params = FusedMlpParams::of(p);
    const size_t first_extra = params.gated ? 4 : 3, products = params.gated ? 2 : 1;
    std::string text =
        join_text({cuda_opening(p), cuda_sizes({{"M", s.m}, {"K", s.k}, {"H", s.h}, {"N", s.n}, {"GATED", params.gated}}), "typedef float sum_t;"});
    text += operand_text("X", p.in[0]) + operand_text("W1", p.in[1]) + operand_text("W2", p.in[2]) + operand_text("W_UP", p.in[params.gated ? 3 : 1]);
    text += operand_text("Y", p.out[0]) + activation_text(p, params, first_extra);
    text += cuda_epilogue(p, first_extra + static_cast<size_t>(params.activation.inputs) - products);
    for (const auto& [name, value] : variant.knobs) text += cuda_sizes({{name, value}});
    return join_text({text, product_tile_text(1), std::string(cuda_text("fused_mlp.cu"))});
  }
};

}  // namespace

const KernelImplementation* fused_mlp_on_cuda() {
  static const FusedMlpOnCuda implementation;
  return &implementation;
}

}  // namespace amdahl

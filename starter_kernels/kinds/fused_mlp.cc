// fused_mlp: Y = act(X W1 + b1) W2 + b2, or gated (SwiGLU): Y = (act(X W1) * (X W_up)) W2; float32, constant weights.
//
// in[0] = X [M, K], in[1] = W1 [K, H], in[2] = W2 [H, N], gated: in[3] = W_up [K, H]; out[0] = Y [M, N]. Then the other inputs of
// the activation, over [M, H]; then the extras of the epilogue, over [M, N]. No single node is this kind: rewrites make it.

#include "starter_kernels/kinds/fused_mlp.h"

#include "graph/graph.h"
#include "starter_kernels/kinds/accesses.h"
#include "starter_kernels/kinds/kernel_kind.h"
#include "starter_kernels/kinds/kernel_kinds.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/param_json.h"
#include "starter_kernels/kinds/problem.h"

namespace amdahl {
namespace {

class FusedMlp : public KernelKind {
 public:
  std::string_view name() const override { return kind::kFusedMlp; }
  std::string_view summary() const override { return "two matrix products with an activation between, gated or not"; }
  Traits traits() const override { return {.family = Traits::Family::kProducts}; }

  Work work(const Problem& problem) const override {
    const MlpSizes s(problem);
    Work work;
    work.flops = 2.0 * static_cast<double>(s.m) * static_cast<double>(s.h) * static_cast<double>(s.k * (s.gated ? 2 : 1) + s.n);
    for (const Access& a : problem.in) work.bytes += operand_bytes(a);
    work.bytes += operand_bytes(problem.out[0]);
    return work;
  }

  std::optional<Lowering> lower(const Graph&, const Node&, int) const override { return std::nullopt; }
  std::vector<Graph> examples() const override { return {}; }
};

}  // namespace

FusedMlpParams FusedMlpParams::of(const Problem& problem) {
  return {problem.params.at("activation").get<PointwiseProgram>(), problem.params.value("gated", false)};
}

void FusedMlpParams::write(Problem& problem) const {
  problem.params["activation"] = activation;
  put_param(problem.params, "gated", gated, true);
}

const KernelKind* fused_mlp_kind() {
  static const FusedMlp kind;
  return &kind;
}

}  // namespace amdahl

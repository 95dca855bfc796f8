// A residual sum is added while the normalisation after it reads its row, and stored for the next block on the way: the sum
// is written once and not read back.
#include <algorithm>

#include "playbook/fusion.h"
#include "playbook/playbook.h"
#include "starter_kernels/kinds/accesses.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/normalization.h"

namespace amdahl {
namespace {

// What is normalised is what is kept: a sum of half floats that overflows is kept as an infinity, and its row has no mean.
void round_as_kept(Problem& problem, DType kept) {
  PointwiseProgram sum = *prologue_of(problem);
  PointwiseOp round;
  round.op = "cast";
  round.type = kept;
  round.args = {sum.results.at(0)};
  sum.ops.push_back(std::move(round));
  sum.results = {sum.inputs + static_cast<int>(sum.ops.size()) - 1};
  set_prologue(problem, sum);
}

class FuseResidualNorm final : public Rewrite {
 public:
  int tier() const override { return 4; }
  std::string_view name() const override { return "fuse_residual_norm"; }
  std::string_view target() const override { return "layernorm, rmsnorm"; }
  std::string_view precondition() const override { return "the input is a pointwise result that others read too"; }
  bool structural() const override { return true; }

  std::optional<Match> offer(const RewriteContext& context, int anchor, std::string* refusal) const override {
    const auto refused = [&](std::string reason) {
      if (refusal) *refusal = std::move(reason);
      return std::nullopt;
    };
    const Step& norm = context.plan.steps[static_cast<size_t>(anchor)];
    const Problem& problem = norm.variant.problem;
    if (problem.kind != kind::kLayerNorm && problem.kind != kind::kRmsNorm) return refused("for layernorm and rmsnorm");
    if (has_prologue(problem)) return refused("it has a prologue already");
    const Operand& sum = norm.inputs[0];
    const auto writer = context.writer.find(sum);
    if (writer == context.writer.end()) return refused("the input comes from outside");
    const Access view = problem.in[0];
    if (std::count(view.strides.begin(), view.strides.end(), 0) > std::count(view.shape.begin(), view.shape.end(), 1)) return refused("the input is broadcast");
    const Step& producer = context.plan.steps[static_cast<size_t>(writer->second)];
    if (numel(view.shape) != numel(producer.variant.problem.out[0].shape)) return refused("only a part of the sum is normalised");
    std::string reason;
    auto fused = absorb_producer(norm, producer, &reason);
    if (!fused) return refused(reason);
    Problem& p = fused->variant.problem;
    NormalizationParams params = NormalizationParams::of(p);
    params.keep_input = true;
    params.write(p);
    Access kept = view;
    kept.constant = false;
    if (is_half(kept.dtype)) round_as_kept(p, kept.dtype);
    p.out.insert(p.out.begin() + 1, kept);
    fused->outputs.insert(fused->outputs.begin() + 1, sum);
    Match match = match_of(context, {writer->second, anchor}, std::move(*fused));
    open_all_knobs(context, match);
    return match;
  }
};

}  // namespace

const Rewrite* fuse_residual_norm() {
  static const FuseResidualNorm rewrite;
  return &rewrite;
}

}  // namespace amdahl

// Pointwise producers (scale, mask, residual sum) computed while a row is read, in place of a tensor in memory.
#include "playbook/fusion.h"
#include "playbook/playbook.h"
#include "starter_kernels/kinds/kind_names.h"

namespace amdahl {
namespace {

class FusePrologue final : public Rewrite {
 public:
  int tier() const override { return 3; }
  std::string_view name() const override { return "fuse_prologue"; }
  std::string_view target() const override { return "softmax, layernorm, rmsnorm, reduce"; }
  std::string_view precondition() const override { return "pointwise producers that only this step reads"; }
  bool structural() const override { return true; }

  std::optional<Match> offer(const RewriteContext& context, int anchor, std::string* refusal) const override {
    const Problem& problem = context.plan.steps[static_cast<size_t>(anchor)].variant.problem;
    if (problem.kind == kind::kPointwise || !traits_of(problem).has_expression) {
      if (refusal) *refusal = "this kind has no prologue";
      return std::nullopt;
    }
    GrownStep grown = grow_backwards(context, anchor);
    if (grown.steps.size() < 2) {
      if (refusal) *refusal = "no producer can be absorbed";
      return std::nullopt;
    }
    Match match = match_of(context, grown.steps, std::move(grown.step));
    open_all_knobs(context, match);
    return match;
  }
};

}  // namespace

const Rewrite* fuse_prologue() {
  static const FusePrologue rewrite;
  return &rewrite;
}

}  // namespace amdahl

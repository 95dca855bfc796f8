// Pointwise steps that only feed each other become one: each intermediate tensor saved is a write and a read of memory.
#include "playbook/fusion.h"
#include "playbook/playbook.h"
#include "starter_kernels/kinds/kind_names.h"

namespace amdahl {
namespace {

class FusePointwiseChain final : public Rewrite {
 public:
  int tier() const override { return 3; }
  std::string_view name() const override { return "fuse_pointwise_chain"; }
  std::string_view target() const override { return "pointwise"; }
  std::string_view precondition() const override { return "pointwise producers that only this step reads"; }
  bool structural() const override { return true; }

  std::optional<Match> offer(const RewriteContext& context, int anchor, std::string* refusal) const override {
    const auto refused = [&](const char* reason) {
      if (refusal) *refusal = reason;
      return std::nullopt;
    };
    const Step& step = context.plan.steps[static_cast<size_t>(anchor)];
    if (step.variant.problem.kind != kind::kPointwise) return refused("for pointwise steps");
    // The whole chain at once, from its last step.
    if (const int next = context.sole_consumer(anchor); next >= 0) {
      const Step& reader = context.plan.steps[static_cast<size_t>(next)];
      if (reader.variant.problem.kind == kind::kPointwise && absorb_producer(reader, step, nullptr)) return refused("the chain goes on in its reader");
    }
    GrownStep grown = grow_backwards(context, anchor);
    if (grown.steps.size() < 2) return refused("no producer can be absorbed");
    Match match = match_of(context, grown.steps, std::move(grown.step));
    open_all_knobs(context, match);
    return match;
  }
};

}  // namespace

const Rewrite* fuse_pointwise_chain() {
  static const FusePointwiseChain rewrite;
  return &rewrite;
}

}  // namespace amdahl

// What is done to each element of a result (bias, activation, residual, scale) is done before the result is stored.
#include <algorithm>

#include "playbook/fusion.h"
#include "playbook/playbook.h"
#include "starter_kernels/kinds/kind_names.h"

namespace amdahl {
namespace {

// Behind a nonlinear function a product may err twice as much as its starter, where alone it has a bound of its own: sums of longer runs
// of K than the starter's, which tuning the product had left it with, may be refused there.
void open_shorter_sums(const RewriteContext& context, Match& match) {
  const Variant& variant = match.replacement[0].variant;
  const auto now = variant.knobs.find("KC");
  if (now == variant.knobs.end()) return;
  for (const Knob& knob : context.target.space(variant.problem).knobs) {
    if (knob.name != now->first || now->second <= knob.starter) continue;
    std::vector<int64_t> values;
    for (int64_t v : knob.values)
      if (v == now->second || (v <= knob.starter && 2 * v >= knob.starter)) values.push_back(v);
    match.search.push_back({0, knob.name, std::move(values)});
  }
}

class FuseEpilogue final : public Rewrite {
 public:
  int tier() const override { return 3; }
  std::string_view name() const override { return "fuse_epilogue"; }
  std::string_view target() const override { return "matmul, conv, pool, softmax, layernorm, rmsnorm, reduce"; }
  std::string_view precondition() const override { return "the result is only read by pointwise steps that join in one"; }
  bool structural() const override { return true; }

  std::optional<Match> offer(const RewriteContext& context, int anchor, std::string* refusal) const override {
    const auto refused = [&](std::string reason) {
      if (refusal) *refusal = std::move(reason);
      return std::nullopt;
    };
    const Step& step = context.plan.steps[static_cast<size_t>(anchor)];
    if (!traits_of(step.variant.problem).has_epilogue) return refused("this kind has no epilogue");
    if (step.outputs.size() != 1 || context.is_graph_output(step.outputs[0])) return refused("the result itself is needed");
    const auto readers = context.readers.find(step.outputs[0]);
    if (readers == context.readers.end()) return refused("nobody reads the result");

    // Candidates: the last reader and what follows it, one pointwise step after the other; the furthest that works is taken.
    std::vector<int> candidates;
    for (int s = readers->second.back(); s >= 0 && candidates.size() < 24; s = context.sole_consumer(s)) {
      if (context.plan.steps[static_cast<size_t>(s)].variant.problem.kind != kind::kPointwise) break;
      candidates.push_back(s);
    }
    if (candidates.empty()) return refused("the reader is not pointwise");
    std::string reason = "the result is also read elsewhere";
    for (size_t c = candidates.size(); c-- > 0;) {
      GrownStep grown = grow_backwards(context, candidates[c]);
      const bool all_inside = std::all_of(readers->second.begin(), readers->second.end(), [&](int r) { return grown.steps.count(r) > 0; });
      if (!all_inside) continue;
      auto fused = absorb_consumer(step, grown.step, &reason);
      if (!fused) continue;
      grown.steps.insert(anchor);
      Match match = match_of(context, grown.steps, std::move(*fused));
      open_shorter_sums(context, match);
      return match;
    }
    return refused(reason);
  }
};

}  // namespace

const Rewrite* fuse_epilogue() {
  static const FuseEpilogue rewrite;
  return &rewrite;
}

}  // namespace amdahl

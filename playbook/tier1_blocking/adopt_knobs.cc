// Takes over knobs, flags and compiler of the step that is most like this one and no longer stands as it started.
#include "playbook/playbook.h"
#include "playbook/tuned_donor.h"

namespace amdahl {
namespace {

class AdoptKnobs final : public Rewrite {
 public:
  int tier() const override { return 1; }
  std::string_view name() const override { return "adopt_knobs"; }
  std::string_view target() const override { return "every kind with knobs"; }
  std::string_view precondition() const override { return "another step of the kind has been tuned already"; }

  std::optional<Match> offer(const RewriteContext& context, int anchor, std::string* refusal) const override {
    const Step& step = context.plan.steps[static_cast<size_t>(anchor)];
    if (!step.variant.source_override.empty()) return refuse(refusal, "the kernel's text was edited: knobs no longer make it");
    const std::optional<Variant> best = as_nearest_tuned(context, step.variant);
    if (!best) return refuse(refusal, "no other step of its kind has been tuned to something else");
    Match match;
    match.window.steps = {anchor};
    match.replacement = {step};
    match.replacement[0].variant = *best;
    return match;
  }

 private:
  static std::nullopt_t refuse(std::string* refusal, std::string_view reason) {
    if (refusal) *refusal = reason;
    return std::nullopt;
  }
};

}  // namespace

const Rewrite* adopt_knobs() {
  static const AdoptKnobs rewrite;
  return &rewrite;
}

}  // namespace amdahl

// Seven products of halves instead of eight: where tiles run near the peak of the FMA units already, the one way to take less time is to
// multiply less. Rounds more than a sum, by what the oracle derives for it; declared, so that the judge applies that to this step alone.
#include "playbook/playbook.h"
#include "starter_kernels/matmul_strassen.h"

namespace amdahl {
namespace {

class UseStrassen final : public Rewrite {
 public:
  int tier() const override { return 6; }
  std::string_view name() const override { return "use_strassen"; }
  std::string_view target() const override { return "matmul"; }
  std::string_view precondition() const override { return "fp32, B is one constant matrix, 32 rows, 128 columns and steps; declares its error bound"; }
  bool structural() const override { return true; }

  std::optional<Match> match(const RewriteContext& context, int anchor, std::string* refusal) const override {
    const auto refuse = [&](std::string reason) {
      if (refusal) *refusal = std::move(reason);
      return std::nullopt;
    };
    const Step& step = context.plan.steps[static_cast<size_t>(anchor)];
    const Problem& problem = step.variant.problem;
    if (problem.kind != "matmul") return refuse("not a matmul");
    if (!step.variant.source_override.empty()) return refuse("the kernel's text was edited");
    if (problem.params.contains("declared")) return refuse("has an arithmetic of its own already");
    if (std::string why = refused_in_halves(problem); !why.empty()) return refuse(std::move(why));

    Match match;
    match.window.steps = {anchor};
    match.replacement = {step};
    Variant& variant = match.replacement[0].variant;
    variant.problem.params["declared"] = "strassen";
    const SearchSpace space = strassen_space(variant.problem, context.machine);
    variant.knobs = space.starters();
    for (const Knob& knob : space.knobs)
      if (knob.values.size() > 1) match.search.push_back({0, knob.name, knob.values});
    return match;
  }
};

}  // namespace

const Rewrite* use_strassen() {
  static const UseStrassen rewrite;
  return &rewrite;
}

}  // namespace amdahl

// Seven products of halves instead of eight, or 49 of quarters instead of 64: where tiles run near the peak of the FMA units already, the one
// way to take less time is to multiply less. Rounds more than a sum, by what the oracle derives for it; declared, so that the judge applies that
// to this step alone.
#include "playbook/playbook.h"
#include "starter_kernels/matmul_strassen.h"

namespace amdahl {
namespace {

class UseStrassen final : public Rewrite {
 public:
  explicit UseStrassen(int levels) : levels_(levels) {}
  int tier() const override { return 6; }
  std::string_view name() const override { return levels_ == 1 ? "use_strassen" : "use_strassen_twice"; }
  std::string_view target() const override { return "matmul"; }
  std::string_view precondition() const override {
    return levels_ == 1 ? "fp32, B is one constant matrix, 32 rows, 128 columns and steps; declares its error bound"
                        : "as use_strassen, or after it: 64 rows, 256 columns and steps; declares its error bound";
  }
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
    if (problem.params.contains("declared") && (levels_ == 1 || strassen_levels(problem) != 1)) return refuse("has an arithmetic of its own already");
    if (std::string why = refused_in_halves(problem, levels_); !why.empty()) return refuse(std::move(why));

    Match match;
    match.window.steps = {anchor};
    match.replacement = {step};
    Variant& variant = match.replacement[0].variant;
    variant.problem.params["declared"] = levels_ == 1 ? "strassen" : "strassen2";
    const SearchSpace space = strassen_space(variant.problem, context.machine);
    variant.knobs = space.starters();
    for (const Knob& knob : space.knobs)
      if (knob.values.size() > 1) match.search.push_back({0, knob.name, knob.values});
    return match;
  }

 private:
  int levels_;
};

}  // namespace

const Rewrite* use_strassen() {
  static const UseStrassen rewrite(1);
  return &rewrite;
}

const Rewrite* use_strassen_twice() {
  static const UseStrassen rewrite(2);
  return &rewrite;
}

}  // namespace amdahl

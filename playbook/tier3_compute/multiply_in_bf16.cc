// Operands of a product rounded to bfloat16, sums in fp32, on AMX or AVX512_BF16: several times the rate of fp32 or twice it (amdahl doctor), and
// half the bytes of weights, for numbers of 8 significant bits. Only where the user allows it; declared, so that the judge applies the bound of
// that rounding to this step and the gate the user's limit to the model.
#include <fmt/format.h>

#include "playbook/playbook.h"
#include "starter_kernels/cpu/matmul_bf16.h"
#include "starter_kernels/kinds/kind_names.h"

namespace amdahl {
namespace {

class MultiplyInBf16 final : public Rewrite {
 public:
  int tier() const override { return 3; }
  std::string_view name() const override { return "multiply_in_bf16"; }
  std::string_view backend() const override { return "cpu"; }
  std::string_view target() const override { return "matmul"; }
  std::string_view precondition() const override { return "--allow bf16; AMX or AVX512_BF16; fp32, B is one constant matrix"; }
  std::string_view wants_allowed() const override { return "bf16"; }
  bool structural() const override { return true; }
  Odds odds(std::string_view backend) const override { return {0.9, Rewrite::odds(backend).share}; }

  std::optional<Match> offer(const RewriteContext& context, int anchor, std::string* refusal) const override {
    const auto refuse = [&](std::string reason) {
      if (refusal) *refusal = std::move(reason);
      return std::nullopt;
    };
    const Step& step = context.plan.steps[static_cast<size_t>(anchor)];
    if (step.variant.problem.kind != kind::kMatmul) return refuse("not a matmul");
    if (!step.variant.source_override.empty()) return refuse("the kernel's text was edited");
    if (multiplies_in_bf16(step.variant.problem)) return refuse("is in bfloat16 already");
    if (std::string why = refused_in_bf16(step.variant.problem, context.target.device); !why.empty()) return refuse(std::move(why));

    Match match;
    match.window.steps = {anchor};
    match.replacement = {step};
    Variant& variant = match.replacement[0].variant;
    declare_algorithm(variant.problem, "bf16");
    const SearchSpace space = context.target.space(variant.problem);
    variant.knobs = space.starters();
    for (const Knob& knob : space.knobs)
      if (knob.values.size() > 1) match.search.push_back({0, knob.name, knob.values});
    return match;
  }
};

}  // namespace

const Rewrite* multiply_in_bf16() {
  static const MultiplyInBf16 rewrite;
  return &rewrite;
}

std::string refused_in_bf16(const Target& target) {
  const std::string_view backend = multiply_in_bf16()->backend();
  return target.backend == backend ? refused_in_bf16(target.device) : fmt::format("such products are kernels of the {}", backend);
}

}  // namespace amdahl

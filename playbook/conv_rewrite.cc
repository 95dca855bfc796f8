#include "playbook/conv_rewrite.h"

#include <fmt/format.h>

#include <algorithm>

namespace amdahl {

std::optional<Match> ConvRewrite::match(const RewriteContext& context, int anchor, std::string* refusal) const {
  const auto refused = [&](std::string reason) {
    if (refusal) *refusal = std::move(reason);
    return std::nullopt;
  };
  const Step& step = context.plan.steps[static_cast<size_t>(anchor)];
  if (step.variant.problem.kind != "conv") return refused("not a convolution");
  if (!step.variant.source_override.empty()) return refused("the kernel's text was edited: knobs no longer make it");
  Match match;
  match.window.steps = {anchor};
  match.replacement = {step};
  Variant& variant = match.replacement[0].variant;
  if (!definition_.declared.empty()) variant.problem.params["declared"] = definition_.declared;

  const SearchSpace space = kernel_kind("conv").space(variant.problem, context.machine);
  bool changed = definition_.set.empty();
  for (const auto& [name, value] : definition_.set) {
    const Knob* knob = space.find(name);
    if (!knob || !std::count(knob->values.begin(), knob->values.end(), value))
      return refused(fmt::format("{}={} is not possible for this convolution", name, value));
    changed |= std::exchange(variant.knobs[name], value) != value;
  }
  if (!changed) return refused("in place already");
  const auto open = definition_.open.find(variant.knobs.at("ALGORITHM"));
  if (open != definition_.open.end())
    for (std::string_view name : open->second)
      if (const Knob* knob = space.find(name); knob && knob->values.size() > 1)
        match.search.push_back({0, knob->name, knob->values});
  if (definition_.set.empty() && match.search.empty()) return refused("nothing to choose for this algorithm");
  if (const std::string reason = space.refuse(variant.knobs); !reason.empty()) return refused(reason);
  return match;
}

}  // namespace amdahl

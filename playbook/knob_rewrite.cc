#include "playbook/knob_rewrite.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace amdahl {

std::string KnobRewrite::apply(const SearchSpace& space, Variant& variant) const {
  bool changed = false;
  for (const auto& [name, value] : definition_.set) {
    const Knob* knob = space.find(name);
    if (!knob) return fmt::format("this kind has no knob {}", name);
    if (!std::count(knob->values.begin(), knob->values.end(), value)) return fmt::format("{}={} is not possible for this problem on this machine", name, value);
    changed |= std::exchange(variant.knobs[name], value) != value;
  }
  for (const std::string& flag : definition_.flags) {
    if (std::count(variant.flags.begin(), variant.flags.end(), flag)) continue;
    variant.flags.push_back(flag);
    changed = true;
  }
  const bool changes = !definition_.set.empty() || !definition_.flags.empty();
  if (changes && !changed) return "in place already";
  return space.refuse ? space.refuse(variant.knobs) : "";
}

std::optional<Match> KnobRewrite::offer(const RewriteContext& context, int anchor, std::string* refusal) const {
  const Step& step = context.plan.steps[static_cast<size_t>(anchor)];
  const auto refused = [&](std::string reason) {
    if (refusal) *refusal = std::move(reason);
    return std::nullopt;
  };
  const std::string& kind = step.variant.problem.kind;
  if (!definition_.kinds.empty() && !std::count(definition_.kinds.begin(), definition_.kinds.end(), kind))
    return refused(fmt::format("for {}, this is {}", fmt::join(definition_.kinds, ", "), kind));
  if (!step.variant.source_override.empty()) return refused("the kernel's text was edited: knobs no longer make it");
  if (definition_.refuse)
    if (std::string reason = definition_.refuse(context, step); !reason.empty()) return refused(std::move(reason));

  for (const auto& [name, values] : definition_.where) {
    const auto knob = step.variant.knobs.find(name);
    if (knob == step.variant.knobs.end() || !std::count(values.begin(), values.end(), knob->second))
      return refused(fmt::format("for {}={}", name, fmt::join(values, " or ")));
  }
  const SearchSpace space = context.target.space(step.variant.problem);
  Match match;
  match.window.steps = {anchor};
  match.replacement = {step};
  if (std::string reason = apply(space, match.replacement[0].variant); !reason.empty()) return refused(std::move(reason));
  for (std::string_view name : definition_.open)
    if (const Knob* knob = space.find(name); knob && knob->values.size() > 1) match.search.push_back({0, knob->name, knob->values});
  if (!definition_.open.empty() && definition_.set.empty() && match.search.empty())
    return refused(fmt::format("no choice of {} for this problem", fmt::join(definition_.open, ", ")));
  return match;
}

}  // namespace amdahl

#include "playbook/conv_rewrite.h"

#include <fmt/format.h>

#include <algorithm>

#include "starter_kernels/kinds/kind_names.h"

namespace amdahl {
namespace {

// Every combination of the open knobs from number `from` on, for the one that counts fewest cycles.
void begin_where_least_counts(const SearchSpace& space, const Match& match, size_t from, Knobs& best) {
  if (!space.cycles) return;
  if (from == match.search.size()) return;
  const Match::OpenKnob& open = match.search[from];
  Knobs least = best;
  bool any = false;
  for (int64_t value : open.values) {
    Knobs with = best;
    with[open.name] = value;
    begin_where_least_counts(space, match, from + 1, with);
    if (!space.refuse(with).empty()) continue;
    if (any && space.cycles(with) >= space.cycles(least)) continue;
    least = with;
    any = true;
  }
  best = least;
}

}  // namespace

std::optional<Match> ConvRewrite::offer(const RewriteContext& context, int anchor, std::string* refusal) const {
  const auto refused = [&](std::string reason) {
    if (refusal) *refusal = std::move(reason);
    return std::nullopt;
  };
  const Step& step = context.plan.steps[static_cast<size_t>(anchor)];
  if (step.variant.problem.kind != kind::kConv) return refused("not a convolution");
  if (!step.variant.source_override.empty()) return refused("the kernel's text was edited: knobs no longer make it");
  Match match;
  match.window.steps = {anchor};
  match.replacement = {step};
  Variant& variant = match.replacement[0].variant;
  if (!definition_.declared.empty()) declare_algorithm(variant.problem, definition_.declared);

  const SearchSpace space = context.target.space(variant.problem);
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
      if (const Knob* knob = space.find(name); knob && knob->values.size() > 1) match.search.push_back({0, knob->name, knob->values});
  if (definition_.set.empty() && match.search.empty()) return refused("nothing to choose for this algorithm");
  // Another algorithm wants other blocks than the one before: 28 tiles at a time are half of 49, and all but none of 16.
  if (!definition_.set.empty()) begin_where_least_counts(space, match, 0, variant.knobs);
  if (const std::string reason = space.refuse(variant.knobs); !reason.empty()) return refused(reason);
  return match;
}

}  // namespace amdahl

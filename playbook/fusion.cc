#include "playbook/fusion.h"

#include <algorithm>

namespace amdahl {

GrownStep grow_backwards(const RewriteContext& context, int anchor) {
  GrownStep grown{context.plan.steps[static_cast<size_t>(anchor)], {anchor}};
  if (!traits_of(grown.step.variant.problem).has_expression) return grown;
  bool changed = true;
  std::set<Operand> tried;
  while (changed) {
    changed = false;
    for (const Operand& operand : expression_of(grown.step).from) {
      const auto writer = context.writer.find(operand);
      if (writer == context.writer.end() || context.is_graph_output(operand)) continue;
      const std::vector<int>& readers = context.readers.at(operand);
      if (!std::all_of(readers.begin(), readers.end(), [&](int r) { return grown.steps.count(r) > 0; })) continue;
      if (!tried.insert(operand).second) continue;
      const auto step = absorb_producer(grown.step, context.plan.steps[static_cast<size_t>(writer->second)], nullptr);
      if (!step) continue;
      grown.step = *step;
      grown.steps.insert(writer->second);
      changed = true;
      break;
    }
  }
  return grown;
}

void repair_knobs(const RewriteContext& context, Step& step) {
  Variant& variant = step.variant;
  const SearchSpace space = context.target.space(variant.problem);
  Knobs knobs;
  for (const Knob& knob : space.knobs) {
    const auto it = variant.knobs.find(knob.name);
    const bool offered = it != variant.knobs.end() && std::count(knob.values.begin(), knob.values.end(), it->second);
    knobs[knob.name] = offered ? it->second : knob.starter;
  }
  if (space.refuse && !space.refuse(knobs).empty()) knobs = space.starters();
  variant.knobs = std::move(knobs);
}

void open_all_knobs(const RewriteContext& context, Match& match) {
  const Variant& variant = match.replacement[0].variant;
  for (const Knob& knob : context.target.space(variant.problem).knobs)
    if (knob.values.size() > 1) match.search.push_back({0, knob.name, knob.values});
}

Match match_of(const RewriteContext& context, const std::set<int>& steps, Step fused) {
  repair_knobs(context, fused);
  Match match;
  match.window.steps.assign(steps.begin(), steps.end());
  match.replacement = {std::move(fused)};
  return match;
}

}  // namespace amdahl

#include "tuner/search/same_blocks.h"

#include "plan/algorithm.h"
#include "playbook/tuned_donor.h"

namespace amdahl {
namespace {

// nullopt when its kind refuses the combination.
std::optional<Variant> in_blocks_of(const Variant& form, const Variant& incumbent, const Target& target) {
  const SearchSpace space = target.space(incumbent.problem);
  Variant control = incumbent;
  control.knobs = adopted(space, incumbent.knobs, form.knobs);
  for (const char* choice : kAlgorithmKnobs)
    if (const auto own = incumbent.knobs.find(choice); own != incumbent.knobs.end()) control.knobs[choice] = own->second;
  control.flags = form.flags;
  control.compiler = form.compiler;
  if (space.refuse && !space.refuse(control.knobs).empty()) return std::nullopt;
  return control;
}

}  // namespace

std::optional<std::vector<Step>> in_blocks_of(const std::vector<Step>& form, const std::vector<Step>& incumbent, const Target& target) {
  if (form.size() != incumbent.size() || algorithm_of(form) == algorithm_of(incumbent)) return std::nullopt;
  std::vector<Step> control = incumbent;
  bool changed = false;
  for (size_t i = 0; i < form.size(); ++i) {
    const Variant &of = form[i].variant, &own = incumbent[i].variant;
    if (of.problem.kind != own.problem.kind || !own.source_override.empty() || !of.source_override.empty()) return std::nullopt;
    if (form[i].inputs != incumbent[i].inputs || form[i].outputs != incumbent[i].outputs) return std::nullopt;  // another layout
    const std::optional<Variant> variant = in_blocks_of(of, own, target);
    if (!variant) return std::nullopt;
    changed |= variant->id() != own.id();
    control[i].variant = *variant;
  }
  if (!changed) return std::nullopt;
  return control;
}

}  // namespace amdahl

#pragma once
// Broken texts that must be rejected: a starter's text with one passage replaced. It must build, and be rejected on at least one of its kind's cases.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/plan/made_plans.h"

// A kind's rows in a list of lists (mutants/all.inc).
#define AMDAHL_KIND(kind) \
  {                       \
#kind, {
#define AMDAHL_END \
  }                \
  }

namespace amdahl::testing {

struct Mutation {
  std::string_view name, find, put;  // of std::string, the two lists took the compiler 10 s longer
  Knobs knobs = {};                  // for a passage that the starter does not run
};

// The plan with these knobs in the kind's steps; nullopt where a step has no such knob or refuses the values.
inline std::optional<Plan> with_knobs_of_kind(Plan plan, const std::string& form, const Knobs& knobs, const Target& target) {
  const std::string kind = kind_of(form);
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    const Variant& variant = plan.steps[s].variant;
    if (variant.problem.kind != kind) continue;
    for (const auto& [name, value] : knobs)
      if (!variant.knobs.count(name)) return std::nullopt;
    const auto varied = with_knobs(plan, s, knobs, target);
    if (!varied) return std::nullopt;
    plan = *varied;
  }
  return plan;
}

inline void replace_all(std::string& text, std::string_view find, std::string_view put) {
  for (size_t at = text.find(find); at != std::string::npos; at = text.find(find, at + put.size())) text.replace(at, find.size(), put);
}

// The plan with the passage replaced in the kind's steps; nullopt when none has it.
inline std::optional<Plan> mutated(const Plan& honest, const std::string& form, const Mutation& mutation, const Target& target) {
  const std::string kind = kind_of(form);
  auto plan = with_knobs_of_kind(honest, form, mutation.knobs, target);
  if (!plan) return std::nullopt;
  bool changed = false;
  for (Step& step : plan->steps) {
    if (step.variant.problem.kind != kind) continue;
    const std::string text = target.source(step.variant);
    step.variant.source_override = text;
    replace_all(step.variant.source_override, mutation.find, mutation.put);
    changed |= step.variant.source_override != text;
  }
  return changed ? plan : std::nullopt;
}

// What becomes of a mutant: "" when a case rejects it, with that case as it was before the passage was replaced.
struct Fate {
  std::string alive = "its text is in no source";
  std::optional<Case> honest;
};

// Case by case, so that those that still live are compiled together and most die in the first.
inline std::vector<Fate> fates_of(const std::string& form, const std::vector<Mutation>& mutations, const std::vector<Case>& cases, const KernelBench& bench,
                                  Plan (*prepared)(Plan)) {
  std::vector<Fate> fates(mutations.size());
  for (const Case& honest : cases) {
    std::vector<size_t> numbers;
    std::vector<Case> mutants;
    for (size_t m = 0; m < mutations.size(); ++m)
      if (!fates[m].alive.empty())
        if (const auto plan = mutated(honest.plan, form, mutations[m], bench.target())) {
          numbers.push_back(m);
          mutants.push_back({std::string(mutations[m].name), honest.graph, prepared(*plan), honest.seed});
        }
    compile_ahead(mutants, bench);
    for (size_t i = 0; i < mutants.size(); ++i) {
      const Judgement j = judge(mutants[i], bench);
      Fate& fate = fates[numbers[i]];
      fate.alive = !j.built ? j.reason : j.within ? "it lives" : "";
      if (!fate.alive.empty()) continue;
      fate.honest = honest;
      fate.honest->plan = with_knobs_of_kind(honest.plan, form, mutations[numbers[i]].knobs, bench.target()).value();
    }
  }
  return fates;
}

}  // namespace amdahl::testing

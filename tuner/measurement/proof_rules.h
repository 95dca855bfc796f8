#pragma once
// What a proof asks depends on what is measured. A product computes, and hardly minds where its code lies; a loop over rows
// ends every few hundred instructions, and whether that end is predicted depends on addresses: builds of the same layer
// normalisation differ by 2% where builds of a product differ by 0.2%. One rule for all would be blind or credulous.

#include <map>
#include <string_view>
#include <vector>

#include "plan/plan.h"
#include "tuner/measurement/decision.h"

namespace amdahl {

enum class NoiseFamily { kProducts, kElements, kRows };

std::string_view to_string(NoiseFamily family);         // "products", "elements", "rows"
NoiseFamily noise_family_named(std::string_view name);  // throws std::out_of_range

// Products where a step multiplies matrices (matmul, conv, attention, fused_mlp, inverted_residual), else rows where one folds rows, else elements.
NoiseFamily noise_family(const std::vector<Step>& steps);

struct ProofRule {
  DecisionRule rule;
  double hopeful_gain = 0.01;  // of a window, log: below it a proof on this machine is not likely to pass
};

// By family; one that is missing goes by `fallback`.
struct ProofRules {
  ProofRule fallback;
  std::map<NoiseFamily, ProofRule> by_family;

  const ProofRule& of(NoiseFamily family) const;
  const ProofRule& of(const std::vector<Step>& steps) const { return of(noise_family(steps)); }
};
void to_json(Json& j, const ProofRules& rules);
void from_json(const Json& j, ProofRules& rules);

}  // namespace amdahl

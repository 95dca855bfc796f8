#include "tuner/measurement/proof_rules.h"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace amdahl {
namespace {

constexpr std::array kFamilies{NoiseFamily::kProducts, NoiseFamily::kElements, NoiseFamily::kRows};

bool has(const std::vector<Step>& steps, Traits::Family family) {
  return std::any_of(steps.begin(), steps.end(), [&](const Step& s) { return traits_of(s.variant.problem).family == family; });
}

}  // namespace

std::string_view to_string(NoiseFamily family) {
  switch (family) {
    case NoiseFamily::kProducts: return "products";
    case NoiseFamily::kElements: return "elements";
    case NoiseFamily::kRows: return "rows";
  }
  return "elements";
}

NoiseFamily noise_family_named(std::string_view name) {
  for (NoiseFamily family : kFamilies)
    if (to_string(family) == name) return family;
  throw std::out_of_range("no family of kernels is called " + std::string(name));
}

NoiseFamily noise_family(const std::vector<Step>& steps) {
  if (has(steps, Traits::Family::kProducts)) return NoiseFamily::kProducts;
  return has(steps, Traits::Family::kRows) ? NoiseFamily::kRows : NoiseFamily::kElements;
}

const ProofRule& ProofRules::of(NoiseFamily family) const {
  const auto it = by_family.find(family);
  return it == by_family.end() ? fallback : it->second;
}

namespace {

Json json_of(const ProofRule& p) {
  return {{"delta", p.rule.delta},         {"wealth", p.rule.wealth},
          {"max_pairs", p.rule.max_pairs}, {"futility_pairs", p.rule.futility_pairs},
          {"builds", p.rule.builds},       {"confirm_after", p.rule.confirm_after},
          {"hopeful_gain", p.hopeful_gain}};
}

ProofRule rule_of(const Json& j) {
  ProofRule p;
  j.at("delta").get_to(p.rule.delta);
  j.at("wealth").get_to(p.rule.wealth);
  j.at("max_pairs").get_to(p.rule.max_pairs);
  j.at("futility_pairs").get_to(p.rule.futility_pairs);
  p.rule.builds = j.value("builds", p.rule.builds);
  p.rule.confirm_after = j.value("confirm_after", p.rule.confirm_after);
  p.hopeful_gain = j.value("hopeful_gain", p.hopeful_gain);
  return p;
}

}  // namespace

void to_json(Json& j, const ProofRules& rules) {
  j = json_of(rules.fallback);
  for (const auto& [family, rule] : rules.by_family) j["families"][std::string(to_string(family))] = json_of(rule);
}

void from_json(const Json& j, ProofRules& rules) {
  rules = {rule_of(j), {}};
  if (j.contains("families"))
    for (const auto& [name, rule] : j["families"].items()) rules.by_family[noise_family_named(name)] = rule_of(rule);
}

}  // namespace amdahl

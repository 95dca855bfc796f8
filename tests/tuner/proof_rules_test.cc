// Which rule a window is proven by.

#include "tuner/measurement/proof_rules.h"

#include <gtest/gtest.h>

namespace amdahl {
namespace {

Step step_of(const char* kind) {
  Step s;
  s.variant.problem.kind = kind;
  return s;
}

TEST(ProofRules, AWindowBelongsToItsHeaviestKind) {
  EXPECT_EQ(noise_family({step_of("layernorm"), step_of("matmul")}), NoiseFamily::kProducts);
  EXPECT_EQ(noise_family({step_of("pointwise"), step_of("softmax"), step_of("movement")}), NoiseFamily::kRows);
  EXPECT_EQ(noise_family({step_of("pointwise")}), NoiseFamily::kElements);
  EXPECT_EQ(noise_family({}), NoiseFamily::kElements);
}

TEST(ProofRules, AFamilyWithoutARuleGoesByTheFallback) {
  ProofRules rules;
  rules.fallback.rule.delta = 0.02;
  rules.by_family[NoiseFamily::kRows].rule.delta = 0.03;
  EXPECT_EQ(rules.of({step_of("reduce")}).rule.delta, 0.03);
  EXPECT_EQ(rules.of({step_of("conv")}).rule.delta, 0.02);
}

TEST(ProofRules, SurviveTheSession) {
  ProofRules rules;
  rules.fallback = {{0.02, 50, 30, 6, 3, 60}, 0.04};
  rules.by_family[NoiseFamily::kElements] = {{0.005, 100, 48, 8, 4, 600}, 0.015};
  const ProofRules back = Json(rules).get<ProofRules>();
  EXPECT_EQ(Json(back), Json(rules));
  EXPECT_EQ(back.by_family.size(), 1u);
  EXPECT_EQ(back.of(NoiseFamily::kElements).rule.builds, 4);
  EXPECT_EQ(back.fallback.rule.max_pairs, 30);
  EXPECT_EQ(back.fallback.hopeful_gain, 0.04);
}

TEST(ProofRules, OfAnOlderSessionAreTheFallbackAlone) {
  const ProofRules rules = Json{{"delta", 0.01}, {"wealth", 100}, {"max_pairs", 32}, {"futility_pairs", 8}}.get<ProofRules>();
  EXPECT_EQ(rules.of(NoiseFamily::kRows).rule.max_pairs, 32);
  EXPECT_TRUE(rules.by_family.empty());
}

}  // namespace
}  // namespace amdahl

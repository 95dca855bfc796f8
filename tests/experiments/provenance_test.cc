// Where kernels come from, and what of them may leave a session.

#include "experiments/provenance.h"

#include <gtest/gtest.h>

#include "tests/graph/temporary_folder.h"

namespace amdahl {
namespace {

Step step_with(const std::string& text) {
  Step step;
  step.nodes = {0};
  step.outputs = {{2, ""}};
  step.variant.problem.kind = "matmul";
  step.variant.source_override = text;
  return step;
}

// An experiment that put this text into the plan; `kept`: with both proofs.
Experiment of_text(int64_t id, const std::string& text, bool kept) {
  Experiment e;
  e.id = id;
  e.replacement = std::vector<Step>{step_with(text)};
  e.origin = "friend.db, 2026-11-27";
  e.outcome = kept ? Outcome::kKept : Outcome::kInconclusive;
  if (kept) e.prove_log_ratios = e.confirm_log_ratios = {0.1};
  return e;
}

LedgerEntry gate_of(std::vector<int64_t> experiments, bool kept) {
  LedgerEntry entry;
  entry.id = 1;
  entry.experiments = std::move(experiments);
  entry.kept = kept;
  return entry;
}

Plan plan_of(const std::string& text) {
  Plan plan;
  plan.steps = {step_with(""), step_with(text)};
  return plan;
}

TEST(Provenance, AHomeIsDrawnOnce) {
  const testing::TemporaryFolder one, other;
  const std::string home = home_of(one.str());
  EXPECT_EQ(home.size(), 32u);
  EXPECT_EQ(home_of(one.str()), home);
  EXPECT_NE(home_of(other.str()), home);
  EXPECT_EQ(home_of(one.str() + "/missing/folder"), "");
}

TEST(Provenance, ATextKeepsItsOriginInOtherForms) {
  const std::vector<Experiment> experiments{of_text(1, "theirs", false)};
  Step knobs_changed = step_with("theirs");
  knobs_changed.variant.knobs["MR"] = 8;
  EXPECT_EQ(origin_of(experiments, {step_with(""), knobs_changed}), "friend.db, 2026-11-27");
  EXPECT_EQ(origin_of(experiments, {step_with("")}), "");
  EXPECT_EQ(origin_of(experiments, {step_with("another's")}), "");
}

TEST(Provenance, OnlyWhatWasProvenAndConfirmedLeavesTheSession) {
  MemoryStore proven;
  proven.commit({.experiments = {of_text(1, "theirs", true)}});
  EXPECT_NE(unproven_text(proven, plan_of("theirs")), "") << "the whole model has not confirmed it";
  proven.commit({.ledger = {gate_of({1}, false)}});
  EXPECT_NE(unproven_text(proven, plan_of("theirs")), "") << "the whole model has contradicted it";
  proven.commit({.ledger = {gate_of({1}, true)}});
  EXPECT_EQ(unproven_text(proven, plan_of("theirs")), "");
  EXPECT_EQ(unproven_text(proven, plan_of("")), "");
  const std::string why = unproven_text(proven, plan_of("changed since"));
  EXPECT_NE(why.find("step 1"), std::string::npos) << why;

  MemoryStore tried;
  tried.commit({.experiments = {of_text(1, "theirs", false)}, .ledger = {gate_of({1}, true)}});
  EXPECT_NE(unproven_text(tried, plan_of("theirs")).find("from friend.db, 2026-11-27"), std::string::npos);
}

}  // namespace
}  // namespace amdahl

// What the gate does where a model's outputs are no numbers: NaN agrees with every NaN, and would pass whatever a plan computes.

#include "tuner/search/gate.h"

#include <gtest/gtest.h>

#include "tests/tuner/simulated_trials.h"

namespace amdahl {
namespace {

class GateOnNumbers : public ::testing::Test {
 protected:
  LedgerEntry judged() {
    Plan faster = starter_;
    for (Step& s : faster.steps) s.variant.knobs["MR"] = 8;
    return *Gate(runner_, starter_).judge(starter_, faster, 0.1, random_);
  }

  const Graph graph_ = testing::chain_of_matmuls(4);
  const Plan starter_ = starter_plan(graph_, 1, testing::simulated_target());
  testing::SimulatedTrials runner_;
  Random random_{1};
};

TEST_F(GateOnNumbers, LetsNothingThroughThatItCannotJudge) {
  runner_.judged_on_normal = runner_.judged_on_others = 0.1;
  const LedgerEntry entry = judged();
  EXPECT_FALSE(entry.kept);
  EXPECT_NE(entry.reason.find("90% of the model's outputs are no numbers"), std::string::npos) << entry.reason;
  EXPECT_EQ(runner_.model_pairs, 0) << "and takes no time for it";
}

TEST_F(GateOnNumbers, TriesPositiveInputsWhereOthersGiveNone) {
  runner_.judged_on_normal = 0;
  const LedgerEntry entry = judged();
  EXPECT_TRUE(entry.kept) << entry.reason;
  ASSERT_EQ(runner_.checked.size(), 3u) << "plain on either, then the plan";
  EXPECT_EQ(runner_.checked[1].distribution, Distribution::kUniform);
  EXPECT_EQ(runner_.checked[2].distribution, Distribution::kUniform);
  EXPECT_EQ(runner_.families, std::vector<Distribution>(runner_.families.size(), Distribution::kUniform));
}

TEST_F(GateOnNumbers, KeepsAFasterPlanOfUsualModels) {
  EXPECT_TRUE(judged().kept);
  EXPECT_EQ(runner_.checked.size(), 2u);
}

}  // namespace
}  // namespace amdahl

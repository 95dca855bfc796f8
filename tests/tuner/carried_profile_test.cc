#include "tuner/search/carried_profile.h"

#include <gtest/gtest.h>

#include "starter_kernels/cpu/cpu_target.h"
#include "tests/tuner/simulated_trials.h"

namespace amdahl {
namespace {

class Carried : public ::testing::Test {
 protected:
  Carried() : graph(testing::chain_of_matmuls(4)), before(starter_plan(graph, 1, testing::simulated_target())), after(before) {
    profile = runner.profile(before);
    for (size_t i = 0; i < profile.steps.size(); ++i) {
      profile.steps[i].nodes = before.steps[i].nodes;
      profile.steps[i].seconds = 0.010 * static_cast<double>(i + 1);
      profile.steps[i].floor.seconds = 0.004;
    }
  }
  Profile carried(double log_gain) const { return carried_profile(before, profile, after, log_gain); }

  testing::SimulatedTrials runner;
  Graph graph;
  Plan before, after;
  Profile profile;
};

TEST_F(Carried, TheSamePlanKeepsItsTimes) {
  const Profile p = carried(1.0);
  ASSERT_EQ(p.steps.size(), before.steps.size());
  for (size_t i = 0; i < p.steps.size(); ++i) EXPECT_DOUBLE_EQ(p.steps[i].seconds, profile.steps[i].seconds);
  EXPECT_NEAR(p.seconds, 0.100, 1e-12);
}

TEST_F(Carried, AFormThatIsNewTakesLessByTheGain) {
  after.steps[2].variant.knobs["MR"] = 2;
  const Profile p = carried(std::log(2));
  EXPECT_NEAR(p.steps[2].seconds, 0.015, 1e-12);
  EXPECT_NEAR(p.steps[2].floor.seconds, 0.004, 1e-12);
  EXPECT_NEAR(p.seconds, 0.085, 1e-12);
}

TEST_F(Carried, AFusedStepTakesWhatItsNodesTook) {
  Step fused = before.steps[1];
  fused.nodes.insert(fused.nodes.end(), before.steps[2].nodes.begin(), before.steps[2].nodes.end());
  fused.outputs = before.steps[2].outputs;
  after.steps = {before.steps[0], fused, before.steps[3]};
  const Profile p = carried(std::log(1.25));
  ASSERT_EQ(p.steps.size(), 3u);
  EXPECT_NEAR(p.steps[1].seconds, (0.020 + 0.030) / 1.25, 1e-12);
  EXPECT_NEAR(p.steps[1].floor.seconds, 0.008, 1e-12);
  EXPECT_NEAR(p.steps[2].seconds, 0.040, 1e-12);
}

TEST_F(Carried, AStepThatIsSplitSharesItsTime) {
  Plan whole = before;
  whole.steps[1].nodes.push_back(before.steps[2].nodes[0]);
  whole.steps.erase(whole.steps.begin() + 2);
  Profile of_whole = profile;
  of_whole.steps.erase(of_whole.steps.begin() + 2);
  const Profile p = carried_profile(whole, of_whole, before, 0);
  EXPECT_NEAR(p.steps[1].seconds + p.steps[2].seconds, of_whole.steps[1].seconds, 1e-12);
  EXPECT_NEAR(p.steps[1].seconds, p.steps[2].seconds, 1e-12);
}

}  // namespace
}  // namespace amdahl

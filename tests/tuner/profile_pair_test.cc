#include "tuner/trials/profile_pair.h"

#include <gtest/gtest.h>

#include "starter_kernels/cpu/cpu_target.h"
#include "tests/tuner/simulated_trials.h"

namespace amdahl {
namespace {

// A machine that is busy during one profile.
class Disturbed : public testing::SimulatedTrials {
 public:
  using SimulatedTrials::SimulatedTrials;
  Profile profile(const Plan& plan) override {
    Profile p = SimulatedTrials::profile(plan);
    if (profiles != 4) return p;
    p.seconds *= 9;
    for (StepProfile& s : p.steps) s.seconds *= 9;
    return p;
  }
};

TEST(ProfilePair, OneBusyMomentIsOutvoted) {
  const Graph graph = testing::chain_of_matmuls(4);
  const Plan plan = starter_plan(graph, 1, testing::simulated_target());
  Disturbed runner;
  const ProfilePair pair = profile_in_turns(runner, plan, plan, 3);
  EXPECT_EQ(runner.profiles, 6);
  EXPECT_EQ(pair.before.seconds, pair.after.seconds);
  ASSERT_EQ(pair.after.steps.size(), plan.steps.size());
  for (size_t s = 0; s < plan.steps.size(); ++s) EXPECT_EQ(pair.after.steps[s].seconds, pair.before.steps[s].seconds);
}

}  // namespace
}  // namespace amdahl

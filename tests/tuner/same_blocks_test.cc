#include "tuner/search/same_blocks.h"

#include <gtest/gtest.h>

#include "plan/algorithm.h"
#include "starter_kernels/cpu/cpu_target.h"
#include "tests/tuner/simulated_trials.h"

namespace amdahl {
namespace {

class SameBlocks : public ::testing::Test {
 protected:
  static Step halved(Step step, int64_t block) {
    Variant& v = step.variant;
    declare_algorithm(v.problem, "strassen");
    v.knobs = testing::simulated_target().space(v.problem).starters();
    v.knobs["MR"] = block;
    return step;
  }
  const Graph graph = testing::chain_of_matmuls(2);
  const Plan plan = starter_plan(graph, 1, testing::simulated_target());
};

TEST_F(SameBlocks, TheControlHasTheWinnersBlocksAndTheIncumbentsAlgorithm) {
  const Step incumbent = plan.steps[0];
  const int64_t other = incumbent.variant.knobs.at("MR") == 4 ? 6 : 4;
  const auto control = in_blocks_of({halved(incumbent, other)}, {incumbent}, testing::simulated_target());
  ASSERT_TRUE(control);
  EXPECT_EQ(algorithm_of(*control), algorithm_of({incumbent}));
  EXPECT_EQ((*control)[0].variant.knobs.at("MR"), other);
}

TEST_F(SameBlocks, ThereIsNoneOfBlocksAloneOrOfWhatWasFused) {
  Step blocks = plan.steps[0];
  blocks.variant.knobs["MR"] = blocks.variant.knobs.at("MR") == 4 ? 6 : 4;
  EXPECT_FALSE(in_blocks_of({blocks}, {plan.steps[0]}, testing::simulated_target()));
  EXPECT_FALSE(in_blocks_of({halved(plan.steps[0], 4)}, {plan.steps[0], plan.steps[1]}, testing::simulated_target()));
}

}  // namespace
}  // namespace amdahl

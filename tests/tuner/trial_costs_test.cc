#include "tuner/search/trial_costs.h"

#include <gtest/gtest.h>

namespace amdahl {
namespace {

TEST(TrialCosts, AShortWindowIsSearchedAsTheOptionsSay) {
  for (double run : {1e-6, 1e-4, 4e-3}) {
    EXPECT_EQ(candidates_of_batch(run, 6), 6) << run;
    EXPECT_EQ(fruitless_batches(run, 6, 3), 3) << run;
  }
  EXPECT_EQ(candidates_of_batch(1e-3, 1), 1);
}

// gpt2's last product with one and two threads, and at 512 tokens.
TEST(TrialCosts, ALongOneForAboutWhatItsProofTakes) {
  for (double run : {0.1, 0.18, 0.64}) {
    const int candidates = candidates_of_batch(run, 6), batches = fruitless_batches(run, 6, 3);
    EXPECT_LT(candidates, 6) << run;
    EXPECT_GE(candidates, 2) << run;
    EXPECT_LE(candidates * batches * runs_of_candidate(run), cost_of_proof(run)) << run;
    EXPECT_GE(2 * candidates * batches * runs_of_candidate(run), 0.9 * cost_of_proof(run)) << run;
  }
}

}  // namespace
}  // namespace amdahl

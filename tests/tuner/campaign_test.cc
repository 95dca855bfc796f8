// The search on one window: what counts as faster there, and what is offered on top of it.

#include "tuner/search/campaign.h"

#include <gtest/gtest.h>

#include "starter_kernels/cpu/cpu_target.h"
#include "tests/tuner/simulated_trials.h"

namespace amdahl {
namespace {

class Fusion final : public testing::TuneBlocks {
  bool structural() const override { return true; }
};

class CampaignOnAProduct : public ::testing::Test {
 protected:
  Campaign campaign() {
    const std::vector<Opportunity> found = find_opportunities(graph, plan, runner.profile(plan), {&blocks}, testing::simulated_target());
    return Campaign(graph, plan, found.at(0), runner.profile(plan).seconds);
  }
  // A form that is faster than the starter's by `log_ratio` in its race.
  Experiment raced(double log_ratio, bool won) const {
    Experiment e;
    e.stage = "race";
    e.outcome = won ? Outcome::kInconclusive : Outcome::kReverted;
    e.race_log_ratio = log_ratio;
    return e;
  }
  Proposal form() const {
    Step step = plan.steps[0];
    step.variant.knobs["MR"] = 8;
    return {{step}, step.variant.knobs, candidate_id({step})};
  }

  const Graph graph = testing::chain_of_matmuls(3);
  const Plan plan = starter_plan(graph, 1, testing::simulated_target());
  testing::SimulatedTrials runner;
  const testing::TuneBlocks blocks;
  const Fusion fusion;
};

TEST_F(CampaignOnAProduct, HasTheShareOfAllItsPlaces) {
  const Campaign c = campaign();
  EXPECT_NEAR(c.share(), 1, 1e-12);
  EXPECT_NEAR(3 * c.run_seconds(), c.target().seconds, 1e-12);
}

TEST_F(CampaignOnAProduct, AFirstFormOfAFusionMayBeSlowerAndNoOther) {
  Campaign c = campaign();
  EXPECT_LT(c.bar_for(fusion), -0.1);
  EXPECT_GT(c.bar_for(blocks), 0);
  c.lead(raced(-0.1, false), form(), {}, false);
  EXPECT_GT(c.bar_for(fusion), -0.1);
  EXPECT_FALSE(c.best()) << "a slower form is a draft, and nothing to prove";
}

TEST_F(CampaignOnAProduct, AFormThatWonIsTheBestAndATieWithItIsNot) {
  Campaign c = campaign();
  c.lead(raced(0.2, true), form(), {}, true);
  ASSERT_TRUE(c.best());
  EXPECT_EQ(c.best_ratio(), 0.2);
  EXPECT_EQ(c.pace_ratio(), 0.2);
  EXPECT_GT(c.bar_for_proof(0.01), 0.2);
  EXPECT_EQ(c.bar_for_proof(0.3), 0.3) << "the rule proves nothing below its delta";
  c.lose_pace();
  EXPECT_EQ(c.pace_ratio(), 0) << "others race the incumbent again";
  EXPECT_EQ(c.best_ratio(), 0.2);
}

TEST_F(CampaignOnAProduct, WhatBroughtNothingIsOfferedAgainOnAFasterDraft) {
  Campaign c = campaign();
  EXPECT_EQ(c.offers({&blocks}, testing::simulated_target()).size(), 1u);
  c.give_up(blocks);
  EXPECT_TRUE(c.offers({&blocks}, testing::simulated_target()).empty());
  c.lead(raced(0.2, true), form(), {}, false);
  c.assume(form().steps);
  const std::vector<Opportunity> offers = c.offers({&blocks}, testing::simulated_target());
  ASSERT_EQ(offers.size(), 1u);
  EXPECT_LT(offers[0].seconds, 0.9 * c.target().seconds) << "the draft has won a part already";
  EXPECT_EQ(offers[0].match.replacement[0].variant.knobs.at("MR"), 8) << "on top of the draft";
}

}  // namespace
}  // namespace amdahl

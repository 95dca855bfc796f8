#include "tuner/search/rebase.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "graph/models/builders.h"
#include "playbook/playbook.h"
#include "starter_kernels/cpu/cpu_target.h"
#include "tests/tuner/simulated_trials.h"
#include "tuner/search/opportunity.h"

namespace amdahl {
namespace {

using testing::SimulatedTrials;

Plan with_rows(Plan plan, size_t step, int64_t mr) {
  plan.steps[step].variant.knobs["MR"] = mr;
  return plan;
}

std::vector<std::string> steps_of(const Plan& plan) {
  std::vector<std::string> texts;
  for (const Step& s : plan.steps) texts.push_back(Json(s).dump());
  std::sort(texts.begin(), texts.end());
  return texts;
}

TEST(Rebased, KeepsWhatStandsElsewhere) {
  const Graph graph = testing::chain_of_matmuls(4);
  const Plan starter = starter_plan(graph, 1, testing::simulated_target()), first = with_rows(starter, 0, 8), both = with_rows(first, 3, 4);
  const auto moved = rebased(graph, first, both, starter);
  ASSERT_TRUE(moved);
  EXPECT_EQ(steps_of(*moved), steps_of(with_rows(starter, 3, 4)));
}

TEST(Rebased, DropsWhatStoodOnTheSameStep) {
  const Graph graph = testing::chain_of_matmuls(4);
  const Plan starter = starter_plan(graph, 1, testing::simulated_target()), first = with_rows(starter, 1, 8), second = with_rows(first, 1, 4);
  EXPECT_FALSE(rebased(graph, first, second, starter));
  EXPECT_FALSE(rebased(graph, first, with_rows(second, 3, 4), starter)) << "half of a win";
}

TEST(Rebased, NothingChangedIsNothingToMove) {
  const Graph graph = testing::chain_of_matmuls(2);
  const Plan starter = starter_plan(graph, 1, testing::simulated_target());
  EXPECT_FALSE(rebased(graph, starter, starter, starter));
}

// Every structural offer on a transformer, found after every other: moved under it, it is what it would have been without.
TEST(Rebased, IsWhatTheSecondRewriteAloneWouldHaveMade) {
  const Graph graph = find_shipped_model("gpt2-mini")->build({});
  const Plan starter = starter_plan(graph, 2, testing::simulated_target());
  const auto offers = [&](const Plan& plan) {
    Profile profile;
    for (size_t s = 0; s < plan.steps.size(); ++s) profile.steps.emplace_back().seconds = 1e-3;
    std::vector<Opportunity> structural;
    for (Opportunity& o : find_opportunities(graph, plan, profile, playbook(), testing::simulated_target()))
      if (o.rewrite->structural()) structural.push_back(std::move(o));
    return structural;
  };
  const auto applied = [&](const Plan& plan, const Opportunity& o) {
    int places = 0;
    Plan next = apply_everywhere(graph, plan, o.windows, o.match.replacement, &places);
    return std::pair{std::move(next), places};
  };
  int moved_ones = 0, dropped = 0;
  const std::vector<Opportunity> on_starter = offers(starter);
  for (const Opportunity& first : on_starter) {
    const auto [before, places] = applied(starter, first);
    if (places == 0) continue;
    for (Opportunity& second : offers(before)) {
      const auto alone = std::find_if(on_starter.begin(), on_starter.end(), [&](const Opportunity& o) {
        return o.rewrite == second.rewrite && o.signature == second.signature && o.windows.size() == second.windows.size();
      });
      if (alone != on_starter.end())  // behind a tuned step it begins with other knobs
        for (size_t i = 0; i < second.match.replacement.size(); ++i) second.match.replacement[i].variant.knobs = alone->match.replacement[i].variant.knobs;
      const auto [after, second_places] = applied(before, second);
      if (second_places == 0) continue;
      const auto moved = rebased(graph, before, after, starter);
      if (!moved) {
        ++dropped;
        continue;
      }
      EXPECT_EQ(check(graph, *moved), "");
      if (alone == on_starter.end()) continue;
      ++moved_ones;
      EXPECT_EQ(steps_of(*moved), steps_of(applied(starter, *alone).first)) << first.rewrite->name() << ", then " << second.rewrite->name();
    }
  }
  EXPECT_GT(moved_ones, 10);
  EXPECT_GT(dropped, 0);
}

}  // namespace
}  // namespace amdahl

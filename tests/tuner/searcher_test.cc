// What is proposed, and in which order.

#include "tuner/searcher.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/tuner/simulated_laboratory.h"

namespace amdahl {
namespace {

class Searcher : public ::testing::Test {
 protected:
  Searcher() {
    const Plan plan = starter_plan(testing::chain_of_matmuls(1), 1);
    step = plan.steps[0];
    space = kernel_kind("matmul").space(step.variant.problem, this_machine());
    match.window.steps = {0};
    match.replacement = {step};
    for (const char* name : {"MR", "NRV"}) match.search.push_back({0, name, space.find(name)->values});
  }
  std::vector<Proposal> proposals(int count, Random& random) {
    std::vector<Proposal> p = propose(match, [](const std::vector<Step>& s) { return s; }, this_machine(), known, count, random);
    for (const Proposal& one : p) known.insert(one.id);
    return p;
  }
  double cycles(int64_t mr, int64_t nrv) const {
    Knobs k = step.variant.knobs;
    k["MR"] = mr, k["NRV"] = nrv;
    return space.cycles(k);
  }

  Step step;
  SearchSpace space;
  Match match;
  std::set<std::string> known;
};

TEST_F(Searcher, FewerInstructionsAreTriedFirstAndTheRestInTheEnd) {
  Random random(7);
  std::vector<double> first, rest;
  while (true) {
    const std::vector<Proposal> burst = proposals(6, random);
    for (const Proposal& p : burst) (first.size() < 12 ? first : rest).push_back(cycles(p.knobs.at("MR"), p.knobs.at("NRV")));
    if (burst.empty()) break;
  }
  size_t all = 0;
  for (int64_t mr : space.find("MR")->values)
    for (int64_t nrv : space.find("NRV")->values) {
      Knobs k = step.variant.knobs;
      k["MR"] = mr, k["NRV"] = nrv;
      all += space.refuse(k).empty();
    }
  EXPECT_EQ(first.size() + rest.size(), all);
  const auto mean = [](const std::vector<double>& v) { return std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size()); };
  ASSERT_FALSE(rest.empty());
  EXPECT_LT(mean(first), mean(rest));
}

}  // namespace
}  // namespace amdahl

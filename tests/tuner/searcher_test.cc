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
  size_t all = 0;
  for (int64_t mr : space.find("MR")->values)
    for (int64_t nrv : space.find("NRV")->values) {
      Knobs k = step.variant.knobs;
      k["MR"] = mr, k["NRV"] = nrv;
      all += space.refuse(k).empty();
    }
  // The first third of what is proposed, of many sessions: one alone is a matter of luck in a space of 20 tiles.
  double first = 0, rest = 0;
  size_t firsts = 0, rests = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    known.clear();
    size_t seen = 0;
    for (std::vector<Proposal> burst = proposals(6, random); !burst.empty(); burst = proposals(6, random))
      for (const Proposal& p : burst) {
        const bool early = 3 * seen++ < all;
        (early ? first : rest) += cycles(p.knobs.at("MR"), p.knobs.at("NRV"));
        ++(early ? firsts : rests);
      }
    EXPECT_LE(seen, all);
    EXPECT_GE(seen + 3, all) << "draws may leave one or two that nobody met";
  }
  ASSERT_GT(rests, 0u);
  EXPECT_LT(first / static_cast<double>(firsts), rest / static_cast<double>(rests));
}

}  // namespace
}  // namespace amdahl

// What is proposed, and in which order.

#include "tuner/search/searcher.h"

#include <gtest/gtest.h>

#include <numeric>

#include "starter_kernels/cpu/cpu_target.h"
#include "tests/tuner/simulated_trials.h"

namespace amdahl {
namespace {

class Searcher : public ::testing::Test {
 protected:
  Searcher() {
    const Plan plan = starter_plan(testing::chain_of_matmuls(1), 1, testing::simulated_target());
    step = plan.steps[0];
    space = testing::simulated_target().space(step.variant.problem);
    match.window.steps = {0};
    match.replacement = {step};
    for (const char* name : {"MR", "NRV"}) match.search.push_back({0, name, space.find(name)->values});
  }
  std::vector<Proposal> proposals(int count, Random& random) {
    std::vector<Proposal> p = propose(
        match, [](const std::vector<Step>& s) { return s; }, testing::simulated_target(), known, count, random);
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
    for (std::vector<Proposal> batch = proposals(6, random); !batch.empty(); batch = proposals(6, random))
      for (const Proposal& p : batch) {
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

TEST_F(Searcher, AFormAsItsLikeWasTunedIsTriedBesideTheOneAsItStarted) {
  match.others = {match.replacement};
  match.replacement[0].variant.flags = {"-funroll-loops"};
  Knobs& tuned = match.replacement[0].variant.knobs;
  tuned["KC"] = tuned.at("KC") == 64 ? 128 : 64;  // not open to the search
  tuned["MR"] = 1;
  Random random(1);
  const std::vector<Proposal> batch = proposals(2, random);
  ASSERT_EQ(batch.size(), 2u);
  EXPECT_EQ(batch[0].id, candidate_id(match.replacement));
  EXPECT_EQ(batch[1].id, candidate_id(match.others[0]));
  EXPECT_EQ(batch[1].knobs.at("MR"), step.variant.knobs.at("MR"));
}

TEST_F(Searcher, SwitchesAreTurnedBeforeAnythingIsDrawn) {
  match.search = {{0, "MR", space.find("MR")->values}, {0, "PREFETCH", {0, 1}}, {0, "KC", {128, 256, 384}}, {0, "PACK_B", {0, 1}}};
  step.variant.knobs["PREFETCH"] = 0, step.variant.knobs["PACK_B"] = 1;
  match.replacement = {step};
  Random random(1);
  const std::vector<Proposal> batch = proposals(4, random);
  ASSERT_EQ(batch.size(), 4u);
  const auto differs = [&](size_t i) {
    std::set<std::string> names;
    for (const auto& [name, value] : batch[i].knobs)
      if (value != batch[0].knobs.at(name)) names.insert(name);
    return names;
  };
  EXPECT_EQ(differs(1), std::set<std::string>{"PREFETCH"});
  EXPECT_EQ(differs(2), std::set<std::string>{"PACK_B"});
  EXPECT_EQ(proposals(1, random).size(), 1u);  // those are known now, and others are drawn
}

}  // namespace
}  // namespace amdahl

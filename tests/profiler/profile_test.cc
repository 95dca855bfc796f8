#include "profiler/profile.h"

#include <gtest/gtest.h>

#include <sstream>

#include "profiler/print_profile.h"

namespace amdahl {
namespace {

// Round figures: 100 GFLOP/s a thread, L1 1000, L2 100, L3 20, DRAM 10 GB/s on one thread, twice on two.
Ceilings round_ceilings() {
  Ceilings c;
  c.l1d_bytes = 32 << 10;
  c.l2_bytes = 1 << 20;
  c.l3_bytes = 32 << 20;
  for (int threads : {1, 2}) {
    c.arithmetic.push_back({"scalar fp32", threads, true, 10.0 * threads, 0});
    c.arithmetic.push_back({"512-bit fp32", threads, true, 100.0 * threads, 0});
    c.arithmetic.push_back({"AMX bf16", threads, false, 5000.0 * threads, 0});
    const double gbs[] = {1000, 100, 20, 10};
    for (int level = 0; level < 4; ++level)
      for (const char* pattern : {"read, 1 stream", "triad"})
        c.bandwidth.push_back({static_cast<MemoryLevel>(level), pattern, threads, 1, gbs[level] * threads * (pattern[0] == 't' ? 0.5 : 1), 0});
  }
  return c;
}

StepProfile step_of(int step, const std::string& signature, double seconds, double floor) {
  StepProfile s;
  s.step = step;
  s.kind = "matmul";
  s.computes = "MatMul 4x4 · 4x4";
  s.signature = signature;
  s.seconds = seconds;
  s.cost = {1e6, 100, 100};
  s.floor = {floor, Bound::kCompute};
  return s;
}

TEST(Ceilings, PeakIsFp32OnlyAndBestPatternCounts) {
  const Ceilings c = round_ceilings();
  EXPECT_EQ(c.peak_gflops(1), 100);
  EXPECT_EQ(c.peak_gflops(2), 200);
  EXPECT_EQ(c.bandwidth_gbs(MemoryLevel::kL2, 1), 100);
}

TEST(Ceilings, BetweenMeasuredThreadCountsByStraightLine) {
  Ceilings c;
  c.arithmetic = {{"x", 1, true, 100, 0}, {"x", 5, true, 300, 0}};
  EXPECT_EQ(c.peak_gflops(3), 200);
  EXPECT_EQ(c.peak_gflops(9), 300);
}

TEST(Ceilings, LevelIsTheSmallestThatHoldsTheBytes) {
  const Ceilings c = round_ceilings();
  EXPECT_EQ(c.level_of(30e3, 1), MemoryLevel::kL1);
  EXPECT_EQ(c.level_of(60e3, 1), MemoryLevel::kL2);
  EXPECT_EQ(c.level_of(60e3, 2), MemoryLevel::kL1);  // half on each core
  EXPECT_EQ(c.level_of(1.5e6, 1), MemoryLevel::kL3);
  EXPECT_EQ(c.level_of(33e6, 2), MemoryLevel::kL3);
  EXPECT_EQ(c.level_of(34e6, 2), MemoryLevel::kDram);
}

TEST(Ceilings, JsonRoundTrip) {
  const Ceilings c = round_ceilings();
  const nlohmann::json j = c;
  EXPECT_EQ(nlohmann::json(j.get<Ceilings>()), j);
}

TEST(Roofline, ComputeBound) {
  const Floor f = floor_of({200e9, 1000, 1000}, 2000, 2, round_ceilings());
  EXPECT_EQ(f.bound, Bound::kCompute);
  EXPECT_DOUBLE_EQ(f.seconds, 1.0);
}

TEST(Roofline, ActivationsComeFromTheLevelThatHoldsTheStep) {
  const Floor f = floor_of({0, 0, 1e6}, 1e9, 1, round_ceilings());  // 1 MB: L2, though the model is larger
  EXPECT_EQ(f.bound, Bound::kL2);
  EXPECT_DOUBLE_EQ(f.seconds, 1e6 / 100e9);
}

TEST(Roofline, WeightsComeFromTheLevelThatHoldsTheModel) {
  const Ceilings c = round_ceilings();
  EXPECT_EQ(floor_of({0, 1e6, 0}, 500e6, 1, c).bound, Bound::kDram);
  EXPECT_DOUBLE_EQ(floor_of({0, 1e6, 0}, 500e6, 1, c).seconds, 1e6 / 10e9);
  EXPECT_EQ(floor_of({0, 1e6, 0}, 1e6, 1, c).bound, Bound::kL2);
}

TEST(Roofline, WeightsAndActivationsAddUp) {
  const Floor f = floor_of({0, 1e6, 1e6}, 500e6, 1, round_ceilings());  // the step's 2 MB: activations from L3
  EXPECT_DOUBLE_EQ(f.seconds, 1e6 / 10e9 + 1e6 / 20e9);
  EXPECT_EQ(f.bound, Bound::kDram);
}

TEST(Roofline, NoStepIsFasterThanACallThatDoesNothing) {
  Ceilings c = round_ceilings();
  c.call_seconds = 2e-6;
  EXPECT_EQ(floor_of({0, 0, 1e3}, 1e9, 1, c).bound, Bound::kCall);
  EXPECT_DOUBLE_EQ(floor_of({0, 0, 1e3}, 1e9, 1, c).seconds, 2e-6);
  EXPECT_EQ(floor_of({0, 0, 1e6}, 1e9, 1, c).bound, Bound::kL2) << "10 us";
}

TEST(AmdahlRanking, GroupsEqualSignaturesAndRanksByWhatCanBeWon) {
  Profile p;
  p.seconds = 0.100;
  p.steps = {step_of(0, "near its ceiling", 0.060, 0.057), step_of(1, "slow softmax", 0.010, 0.001), step_of(2, "slow softmax", 0.010, 0.001),
             step_of(3, "odd", 0.020, 0.015)};
  rank(p);
  ASSERT_EQ(p.ranking.size(), 3u);
  EXPECT_EQ(p.ranking[0].steps, (std::vector<int>{1, 2}));
  EXPECT_NEAR(p.ranking[0].winnable_seconds, 0.018, 1e-12);
  EXPECT_NEAR(p.ranking[0].share, 0.20, 1e-12);
  EXPECT_NEAR(p.ranking[0].speedup_if_won, 0.100 / 0.082, 1e-12);
  EXPECT_EQ(p.ranking[1].steps, (std::vector<int>{3}));
  EXPECT_EQ(p.ranking[2].steps, (std::vector<int>{0}));  // most time, least to win
  EXPECT_NEAR(p.floor_seconds, 0.074, 1e-12);
}

TEST(AmdahlRanking, NothingToWinBelowTheFloor) {
  Profile p;
  p.seconds = 0.010;
  p.steps = {step_of(0, "a", 0.010, 0.020)};
  rank(p);
  EXPECT_EQ(p.ranking[0].winnable_seconds, 0);
  EXPECT_EQ(p.ranking[0].speedup_if_won, 1);
}

TEST(PrintProfile, FitsAHundredColumnsAndSumsTheRest) {
  Profile p;
  p.seconds = 12.345;
  p.runs = 3;
  for (int i = 0; i < 30; ++i) {
    StepProfile s = step_of(i, std::to_string(i), 0.4, 0.1);
    s.computes = "MatMul+Add+Gelu+LayerNormalization 16x1024x768 · 768x3072";
    p.steps.push_back(s);
  }
  rank(p);
  const std::string table = profile_table(p, round_ceilings(), 5);
  for (const bool wide : {false, true}) {
    std::istringstream lines(profile_table(p, round_ceilings(), 5, wide));
    for (std::string line; std::getline(lines, line);) {
      const auto columns = std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xc0) != 0x80; });
      EXPECT_LE(columns, wide ? 130 : 100) << line;
    }
  }
  EXPECT_NE(table.find("25 more groups"), std::string::npos);
  EXPECT_EQ(profile_json(p)["ranking"].size(), 30u);
}

// A neighbour takes half of the machine: what stands at its limit then has nothing left to win, the other half of what it seems.
TEST(SlowFloors, FollowTheSpeedOfTheMoment) {
  Profile p;
  p.seconds = 0.5;
  p.steps = {step_of(0, "at its limit", 0.2, 0.1), step_of(1, "far above", 0.3, 0.05)};
  slow_floors(p, 0.5);
  EXPECT_DOUBLE_EQ(p.steps[0].floor.seconds, 0.2);
  EXPECT_DOUBLE_EQ(p.steps[1].floor.seconds, 0.1);
  EXPECT_DOUBLE_EQ(p.floor_seconds, 0.3);
}

TEST(SlowFloors, AStepThatWasFasterIsBelieved) {
  Profile p;
  p.seconds = 0.5;
  p.steps = {step_of(0, "at its limit", 0.2, 0.1), step_of(1, "far above", 0.3, 0.05)};
  slow_floors(p, 0.25);  // measured while nobody else was: the first step ran at half of the ceiling
  EXPECT_DOUBLE_EQ(p.steps[0].floor.seconds, 0.2);
}

}  // namespace
}  // namespace amdahl

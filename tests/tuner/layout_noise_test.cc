// Variance components on synthetic pairs of known noise.

#include "tuner/measurement/layout_noise.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace amdahl {
namespace {

LayoutNoise measured(double process_sd, double layout_sd, int builds, int pairs, uint64_t seed) {
  Random random(seed);
  // One pair in twelve meets a neighbour.
  const auto pair = [&](double truth) { return truth + process_sd * random.normal() + (random.below(12) ? 0 : 0.08 * (random.uniform() - 0.5)); };
  std::vector<double> same;
  for (int i = 0; i < 30; ++i) same.push_back(pair(0));
  std::vector<std::vector<double>> by_build;
  for (int b = 0; b < builds; ++b) {
    const double layout = layout_sd * random.normal();
    by_build.emplace_back();
    for (int i = 0; i < pairs; ++i) by_build.back().push_back(pair(layout));
  }
  return estimate_layout_noise(same, by_build);
}

double mean_of(double layout_sd, double LayoutNoise::*field) {
  double sum = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) sum += measured(0.01, layout_sd, 8, 8, seed).*field;
  return sum / 200;
}

TEST(LayoutNoise, TellsBuildsFromProcesses) {
  EXPECT_NEAR(mean_of(0, &LayoutNoise::process_sd), 0.0105, 0.002);
  EXPECT_LT(mean_of(0, &LayoutNoise::layout_sd), 0.003);
  EXPECT_NEAR(mean_of(0.015, &LayoutNoise::layout_sd), 0.015, 0.003);
  EXPECT_NEAR(mean_of(0.015, &LayoutNoise::process_sd), 0.0105, 0.002);
}

TEST(LayoutNoise, TheUpperFigureCoversTheTruth) {
  int covered = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) covered += measured(0.01, 0.007, 8, 8, seed).layout_high >= 0.007;
  EXPECT_GT(covered, 140);  // one standard error
}

TEST(LayoutNoise, ABusyMachineCannotVouchForItsBuilds) {
  for (uint64_t seed = 1; seed <= 50; ++seed) EXPECT_GT(measured(0.2, 0, 8, 10, seed).layout_high, 0.01);
}

TEST(LayoutNoise, TooLittleDataIsNoLayoutNoise) {
  EXPECT_EQ(estimate_layout_noise({}, {}).layout_sd, 0);
  EXPECT_EQ(estimate_layout_noise({0.1}, {{0.1}, {0.3}}).process_sd, 0);
  EXPECT_GT(estimate_layout_noise({0.1, 0.2, 0.4}, {}).process_sd, 0);
}

}  // namespace
}  // namespace amdahl

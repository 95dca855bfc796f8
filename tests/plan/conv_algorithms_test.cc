// Every algorithm of the conv kind on every example that it can compute, and Winograd's larger tile where it is declared.

#include "starter_kernels/cpu/conv_algorithms.h"

#include <gtest/gtest.h>

#include "base/machine.h"
#include "starter_kernels/cpu/cpu_target.h"
#include "starter_kernels/cpu/vector_width.h"
#include "starter_kernels/kinds/conv.h"
#include "starter_kernels/kinds/formats.h"
#include "tests/plan/kernel_bench.h"

namespace amdahl {
namespace {

TEST(ConvAlgorithms, AllPassWhereTheyApply) {
  std::map<int64_t, int> tried;
  std::vector<testing::Case> cases;
  for (const Graph& graph : kernel_kind("conv").examples()) {
    const Plan plan = starter_plan(graph, 2, cpu_target());
    const int64_t starter = plan.steps[0].variant.knobs.at("ALGORITHM");
    for (int64_t algorithm : conv_algorithms(plan.steps[0].variant.problem, this_machine())) {
      ++tried[algorithm];
      if (algorithm == starter) continue;  // the conformance test's
      const auto varied = testing::with_knob(plan, 0, "ALGORITHM", algorithm);
      ASSERT_TRUE(varied);
      cases.push_back({fmt::format("{} ALGORITHM={}", graph.name, algorithm), graph, *varied, 21});
    }
  }
  testing::expect_within(cases);
  for (int64_t algorithm : {kConvGeneric, kConvIm2col, kConvDirect, kConvDepthwise, kConvWinograd}) EXPECT_GT(tried[algorithm], 0) << algorithm;
}

TEST(ConvAlgorithms, WinogradF43IsOnlyThereWhereItIsDeclared) {
  std::vector<testing::Case> cases;
  for (const Graph& graph : kernel_kind("conv").examples()) {
    Plan plan = starter_plan(graph, 2, cpu_target());
    Variant& variant = plan.steps[0].variant;
    const auto tiles = [&] {
      const SearchSpace space = cpu_target().space(variant.problem);
      const Knob* knob = space.find("WINO_M");
      return knob ? knob->values : std::vector<int64_t>{};
    };
    if (tiles().empty()) continue;
    EXPECT_EQ(tiles(), std::vector<int64_t>{2});
    declare_algorithm(variant.problem, "winograd_f43");
    EXPECT_EQ(tiles(), (std::vector<int64_t>{2, 4}));
    variant.knobs["ALGORITHM"] = kConvWinograd;
    variant.knobs["WINO_M"] = 4;
    for (int64_t partition : {0, 1}) {
      variant.knobs["PARTITION"] = partition;
      cases.push_back({fmt::format("{} PARTITION={}", graph.name, partition), graph, plan, 21});
    }
  }
  // Normal data stays inside the plain bound; the declared constant is for data of very different magnitudes.
  testing::expect_within(cases);
}

// On channel blocks, `size` pixels a side and as many channels in as out.
Problem square_conv(int64_t channels, int64_t size, int64_t stride, int64_t kernel = 3) {
  Problem problem{"conv",
                  {Access::dense(DType::kF32, {1, channels, size, size}), Access::dense(DType::kF32, {channels, channels, kernel, kernel}, true)},
                  {Access::dense(DType::kF32, {1, channels, (size - 1) / stride + 1, (size - 1) / stride + 1})}};
  const int64_t pad = kernel / 2;
  ConvParams{{{kernel, kernel}, {stride, stride}, {1, 1}, {pad, pad, pad, pad}}}.write(problem);
  set_formats(problem, {"nchw16c"}, {"nchw16c"});
  return problem;
}

TEST(ConvAlgorithms, WinogradSavesWhereItsWeightsAreUsedOftenEnough) {
  EXPECT_TRUE(winograd_saves_a_third(square_conv(64, 56, 1), this_machine()));
  EXPECT_TRUE(winograd_saves_a_third(square_conv(256, 14, 1), this_machine()));
  EXPECT_FALSE(winograd_saves_a_third(square_conv(512, 7, 1), this_machine())) << "its weights come from memory for 16 tiles";
  EXPECT_FALSE(winograd_saves_a_third(square_conv(64, 56, 2), this_machine()));
}

TEST(ConvAlgorithms, PixelsOnBlocksBeginSideBySideInL2) {
  const auto starters = [](const Problem& problem) { return conv_space(problem, this_machine()).starters(); };
  for (const Problem& problem :
       {square_conv(128, 56, 2), square_conv(128, 28, 1), square_conv(256, 28, 2, 1), square_conv(64, 56, 1, 1), square_conv(2048, 7, 1, 1)}) {
    const Knobs knobs = starters(problem);
    EXPECT_GT(knobs.at("GATHER"), 0);
    EXPECT_EQ(knobs.at("WEIGHTS_INNER"), 0);
    const int64_t blocks = std::min(knobs.at("KCB"), problem.in[0].shape[1] / 16), taps = problem.in[1].shape[2] * problem.in[1].shape[3];
    EXPECT_LE(knobs.at("GATHER") * knobs.at("PX") * 16 * blocks * taps * 4, this_machine().l2_bytes / 2) << "what one thread lays side by side";
  }
}

TEST(ConvAlgorithms, WhatDeclaresWinogradStartsAsIt) {
  Problem problem = square_conv(64, 28, 1);
  EXPECT_EQ(conv_space(problem, this_machine()).starters().at("ALGORITHM"), kConvBlocked);
  declare_algorithm(problem, "winograd_f23");
  const Knobs knobs = conv_space(problem, this_machine()).starters();
  EXPECT_EQ(knobs.at("ALGORITHM"), kConvWinograd);
  EXPECT_EQ(knobs.at("WINO_M"), 2);
}

// 16 tiles in chunks of 14 leave one of two threads with two of them, and either way each would read all of 9 MiB of weights.
TEST(ConvAlgorithms, WinogradOfFewTilesCountsFewerCyclesWhereThreadsShareProducts) {
  Problem problem = square_conv(256, 14, 1);
  problem.threads = 2;
  declare_algorithm(problem, "winograd_f43");
  set_formats(problem, {blocked_format(this_machine())}, {blocked_format(this_machine())});
  const SearchSpace space = conv_space(problem, this_machine());
  Knobs knobs = space.starters();
  knobs["TB"] = 14;
  knobs["PARTITION"] = 0;
  const double tiles = space.cycles(knobs);
  knobs["PARTITION"] = 1;
  EXPECT_LT(space.cycles(knobs), tiles);
}

}  // namespace
}  // namespace amdahl

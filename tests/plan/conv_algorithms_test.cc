// Every algorithm of the conv kind on every example that it can compute, and Winograd's larger tile where it is declared.

#include <gtest/gtest.h>

#include "starter_kernels/conv_algorithms.h"
#include "tests/plan/kernel_bench.h"

namespace amdahl {
namespace {

TEST(ConvAlgorithms, AllPassWhereTheyApply) {
  std::map<int64_t, int> tried;
  std::vector<testing::Case> cases;
  for (const Graph& graph : kernel_kind("conv").examples()) {
    const Plan plan = starter_plan(graph, 2);
    const int64_t starter = plan.steps[0].variant.knobs.at("ALGORITHM");
    for (int64_t algorithm : conv_algorithms(plan.steps[0].variant.problem)) {
      ++tried[algorithm];
      if (algorithm == starter) continue;  // the conformance test's
      const auto varied = testing::with_knob(plan, 0, "ALGORITHM", algorithm);
      ASSERT_TRUE(varied);
      cases.push_back({fmt::format("{} ALGORITHM={}", graph.name, algorithm), graph, *varied, 21});
    }
  }
  testing::expect_within(cases);
  for (int64_t algorithm : {kConvGeneric, kConvIm2col, kConvDirect, kConvDepthwise, kConvWinograd})
    EXPECT_GT(tried[algorithm], 0) << algorithm;
}

TEST(ConvAlgorithms, WinogradF43IsOnlyThereWhereItIsDeclared) {
  std::vector<testing::Case> cases;
  for (const Graph& graph : kernel_kind("conv").examples()) {
    Plan plan = starter_plan(graph, 2);
    Variant& variant = plan.steps[0].variant;
    const auto tiles = [&] {
      const SearchSpace space = kernel_kind("conv").space(variant.problem, this_machine());
      const Knob* knob = space.find("WINO_M");
      return knob ? knob->values : std::vector<int64_t>{};
    };
    if (tiles().empty()) continue;
    EXPECT_EQ(tiles(), std::vector<int64_t>{2});
    variant.problem.params["declared"] = "winograd_f43";
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

}  // namespace
}  // namespace amdahl

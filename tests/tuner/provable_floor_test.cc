// Floors by hand on made-up ceilings.

#include "tuner/measurement/provable_floor.h"

#include <gtest/gtest.h>

#include "starter_kernels/cpu/cpu_target.h"
#include "tests/tuner/simulated_trials.h"

namespace amdahl {
namespace {

// 100 GFLOP/s a thread; L2 100 GB/s, L3 20, DRAM 10, whatever the threads.
Ceilings ceilings() {
  Ceilings c;
  c.arithmetic = {{"fp32", 1, true, 100, 0}, {"fp32", 2, true, 200, 0}, {"bf16", 1, false, 5000, 0}};
  c.bandwidth = {{MemoryLevel::kL1, "read", 1, 0, 1000, 0},
                 {MemoryLevel::kL2, "read", 1, 0, 100, 0},
                 {MemoryLevel::kL3, "read", 1, 0, 20, 0},
                 {MemoryLevel::kDram, "read", 1, 0, 10, 0}};
  c.l1d_bytes = 32 << 10;
  c.l2_bytes = 1 << 20;
  c.l3_bytes = 16 << 20;
  return c;
}

std::vector<Step> one_product() { return {starter_plan(testing::chain_of_matmuls(1), 1, testing::simulated_target()).steps[0]}; }

TEST(ProvableFloor, ArithmeticAtThePeakOfTheThreads) {
  const double flops = 2.0 * 64 * 64 * 64;
  EXPECT_NEAR(provable_floor(one_product(), 1, 1, ceilings()), 0.7 * flops / 100e9, 1e-12);
  EXPECT_NEAR(provable_floor(one_product(), 1, 2, ceilings()), 0.7 * flops / 200e9, 1e-12);
}

// Measured while a hypervisor had both on one core: what honest kernels then exceed is not proven.
TEST(ProvableFloor, ThreadsAreNotBoundByWhatTheyWereSeenToDoOnOneCore) {
  Ceilings crowded = ceilings();
  crowded.arithmetic[1].gflops = 100;
  EXPECT_EQ(provable_floor(one_product(), 1, 2, crowded), provable_floor(one_product(), 1, 2, ceilings()));
}

TEST(ProvableFloor, WeightsComeFromWhereTheirCopiesFit) {
  const double weights = 64 * 64 * 4;
  EXPECT_NEAR(provable_floor(one_product(), 1000, 1, ceilings()), 0.7 * 2.0 * 64 * 64 * 64 / 100e9, 1e-12);  // L3 would do 0.8 us
  Ceilings slow = ceilings();
  slow.bandwidth[3].gbs = 1;
  EXPECT_NEAR(provable_floor(one_product(), 2000, 1, slow), 0.7 * weights / 1e9, 1e-12);
}

TEST(ProvableFloor, ProvesNothingOfOtherTypes) {
  std::vector<Step> steps = one_product();
  steps[0].variant.problem.in[0].dtype = DType::kBF16;
  EXPECT_EQ(provable_floor(steps, 12, 1, ceilings()), 0);
  EXPECT_EQ(provable_floor({}, 12, 1, ceilings()), 0);
}

TEST(BelowFloor, NamesTheArm) {
  EXPECT_EQ(below_floor(1e-3, 0.5e-3, 0.6e-3, 0.5e-3), "");
  EXPECT_NE(below_floor(1e-3, 0.5e-3, 0.4e-3, 0.5e-3).find("challenger"), std::string::npos);
  EXPECT_NE(below_floor(0.4e-3, 0.5e-3, 0.6e-3, 0.5e-3).find("incumbent"), std::string::npos);
  EXPECT_NE(below_floor(0.4e-3, 0.5e-3, 0.6e-3, 0.5e-3).find("amdahl doctor"), std::string::npos);
}

}  // namespace
}  // namespace amdahl

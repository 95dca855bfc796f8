#include "tuner/trials/builder.h"

#include <gtest/gtest.h>

#include <atomic>

#include "starter_kernels/cpu/cpu_target.h"
#include "starter_kernels/toolchain/cpu_toolchain.h"
#include "tuner/worker/worker_process.h"

namespace amdahl {
namespace {

std::vector<std::vector<Step>> candidates() {
  std::vector<std::vector<Step>> all;
  for (const Graph& graph : kernel_kind("pointwise").examples()) {
    all.push_back(starter_plan(graph, 1, cpu_target()).steps);
    if (all.size() == 6) break;
  }
  all.push_back(all.front());  // equal variants are compiled once
  return all;
}

TEST(Builder, ResultsComeInTheOrderOfTheCandidates) {
  Builder builder(std::make_shared<CpuToolchain>(default_cache_dir()), 3, nullptr);
  const std::vector<BuildResult> built = builder.build(candidates());
  ASSERT_EQ(built.size(), candidates().size());
  for (const BuildResult& b : built) EXPECT_TRUE(b.ok) << b.message;
  EXPECT_EQ(built.front().code, built.back().code);
  EXPECT_EQ(built.front().libraries, built.back().libraries);
}

TEST(Builder, StopsWhenItIsTold) {
  std::atomic<bool> stop = true;
  Builder builder(std::make_shared<CpuToolchain>(default_cache_dir()), 2, &stop);
  try {
    builder.build(candidates());  // done before it looked: as good
  } catch (const Stopped&) {
  }
}

}  // namespace
}  // namespace amdahl

// What runs on several threads at once: compiling, and programs that share kernel libraries. Worth most under ThreadSanitizer
// (./check --sanitize); kernels themselves are compiled without it.

#include <atomic>
#include <barrier>
#include <thread>

#include "starter_kernels/cpu/cpu_target.h"
#include "tests/plan/kernel_bench.h"

namespace amdahl {
namespace {

// The relu kernel of an example, one thread a call.
struct Small {
  Graph graph = kernel_kind("pointwise").examples().front();
  Plan plan = starter_plan(graph, 1, cpu_target());
};

TEST(SeveralThreads, CompileTheSameVariantToTheSameLibrary) {
  const Small small;
  std::vector<CompileResult> results(4);
  std::barrier start(4);
  {
    std::vector<std::jthread> threads;
    for (CompileResult& r : results)
      threads.emplace_back([&] {
        start.arrive_and_wait();
        r = testing::toolchain().compile(small.plan.steps[0].variant);
      });
  }
  for (const CompileResult& r : results) {
    EXPECT_TRUE(r.ok) << r.message;
    EXPECT_EQ(r.library, results[0].library);
  }
}

TEST(SeveralThreads, RunProgramsOfTheSameLibrary) {
  const Small small;
  const testing::Judgement first = testing::judge(small.graph, small.plan, 1);
  ASSERT_TRUE(first.within) << first.reason;
  std::atomic<int> within = 0;
  {
    std::vector<std::jthread> threads;
    for (uint64_t seed : {2, 3, 4}) threads.emplace_back([&, seed] { within += testing::judge(small.graph, small.plan, seed).within; });
  }
  EXPECT_EQ(within, 3);
}

}  // namespace
}  // namespace amdahl

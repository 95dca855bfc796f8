#include "plan/memory_plan.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace amdahl {
namespace {

bool overlap_in_time(const Lifetime& a, const Lifetime& b) { return a.first <= b.last && b.first <= a.last; }

TEST(MemoryPlan, LiveBuffersNeverShareBytes) {
  Random random(7);
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<Lifetime> lifetimes;
    size_t total = 0;
    for (int i = 0; i < 40; ++i) {
      const int first = static_cast<int>(random.below(60));
      lifetimes.push_back({random.below(5000), first, first + static_cast<int>(random.below(8))});
      total += lifetimes.back().bytes + 63;
    }
    size_t arena = 0;
    const std::vector<int64_t> at = assign_offsets(lifetimes, &arena);
    EXPECT_LE(arena, total);
    for (size_t a = 0; a < at.size(); ++a) {
      EXPECT_EQ(at[a] % 64, 0);
      EXPECT_LE(at[a] + static_cast<int64_t>(lifetimes[a].bytes), static_cast<int64_t>(arena));
      for (size_t b = 0; b < a; ++b) {
        if (!overlap_in_time(lifetimes[a], lifetimes[b]) || !lifetimes[a].bytes || !lifetimes[b].bytes) continue;
        EXPECT_TRUE(at[a] + static_cast<int64_t>(lifetimes[a].bytes) <= at[b] || at[b] + static_cast<int64_t>(lifetimes[b].bytes) <= at[a]);
      }
    }
  }
}

TEST(MemoryPlan, AChainNeedsTwoBuffers) {
  std::vector<Lifetime> chain;
  for (int i = 0; i < 10; ++i) chain.push_back({1024, i, i + 1});
  size_t arena = 0;
  assign_offsets(chain, &arena);
  EXPECT_EQ(arena, 2048u);
}

TEST(MemoryPlan, NothingNeedsNothing) {
  size_t arena = 1;
  EXPECT_TRUE(assign_offsets({}, &arena).empty());
  EXPECT_EQ(arena, 0u);
}

}  // namespace
}  // namespace amdahl

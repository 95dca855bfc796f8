#include "tuner/validation/reference_cache.h"

#include <gtest/gtest.h>

namespace amdahl {
namespace {

Expected of_floats(size_t n) {
  Expected e;
  e.outputs.resize(1);
  e.outputs[0].floats = BoundedFloats<float>{std::vector<float>(n), std::vector<float>(n)};
  return e;
}

// Asks for `draws` draws of a window in order; how many of them had to be made. Each takes 8000 bytes.
int made(ReferenceCache& cache, const std::string& window, int draws) {
  int made = 0;
  for (int seed = 0; seed < draws; ++seed) {
    Draw draw;
    draw.seed = static_cast<uint64_t>(seed);
    cache.get(window, {}, draw, [&] {
      ++made;
      return of_floats(1000);
    });
  }
  return made;
}

TEST(ReferenceCache, KeepsWhatFits) {
  ReferenceCache cache(80000, 80000);
  EXPECT_EQ(made(cache, "a", 5), 5);
  EXPECT_EQ(made(cache, "b", 5), 5);
  EXPECT_EQ(made(cache, "a", 5), 0);
  EXPECT_EQ(cache.bytes(), 80000u);
}

TEST(ReferenceCache, OtherWindowsGoFirstTheOldestOfThemBeforeOthers) {
  ReferenceCache cache(80000, 160000);
  made(cache, "a", 5);
  made(cache, "b", 5);
  EXPECT_EQ(made(cache, "c", 5), 5);
  EXPECT_EQ(cache.bytes(), 80000u);
  EXPECT_EQ(made(cache, "b", 5), 0);
  EXPECT_EQ(made(cache, "a", 5), 5);
}

TEST(ReferenceCache, TheWindowInHandMayHoldMore) {
  ReferenceCache cache(80000, 160000);
  made(cache, "a", 5);
  EXPECT_EQ(made(cache, "large", 20), 20);
  EXPECT_EQ(cache.bytes(), 160000u);
  EXPECT_EQ(made(cache, "large", 20), 0);
  // It is not in hand any more.
  EXPECT_EQ(made(cache, "b", 1), 1);
  EXPECT_LE(cache.bytes(), 80000u);
}

TEST(ReferenceCache, AWindowThatDoesNotFitKeepsMostOfWhatWould) {
  ReferenceCache cache(80000, 80000);
  made(cache, "large", 13);
  for (int candidate = 0; candidate < 3; ++candidate) EXPECT_LE(made(cache, "large", 13), 4) << candidate;
  EXPECT_LE(cache.bytes(), 80000u);
}

TEST(ReferenceCache, OneThatIsLargerThanAllIsHandedOutAllTheSame) {
  ReferenceCache cache(100, 100);
  EXPECT_EQ(made(cache, "a", 1), 1);
  EXPECT_EQ(made(cache, "a", 1), 0);
  EXPECT_EQ(made(cache, "b", 1), 1);
  EXPECT_EQ(cache.bytes(), 8000u);
}

}  // namespace
}  // namespace amdahl

#include "profiler/counters.h"

#include <gtest/gtest.h>

#include "profiler/print_profile.h"

namespace amdahl {
namespace {

class FakeCounters : public CounterSource {
 public:
  FakeCounters(std::string why, std::vector<Raw> raws) : why_(std::move(why)), raws_(std::move(raws)) {}
  std::string open(const std::vector<std::string>&) override { return why_; }
  void start() override {}
  std::vector<Raw> stop() override { return raws_; }

 private:
  std::string why_;
  std::vector<Raw> raws_;
};

CounterReading read_from(std::string why, std::vector<CounterSource::Raw> raws) {
  PerfCounters counters(std::make_unique<FakeCounters>(std::move(why), std::move(raws)));
  counters.start();
  return counters.stop();
}

TEST(PerfCounters, SumsThreads) {
  const CounterReading r = read_from("", {{{100, 200, 30, 3, 2}, 1000, 1000}, {{50, 60, 10, 1, 1}, 500, 500}});
  EXPECT_TRUE(r.hardware);
  EXPECT_EQ(r.find("cycles")->count, 150);
  EXPECT_EQ(r.find("instructions")->count, 260);
  EXPECT_EQ(r.find("cache misses")->count, 4);
  EXPECT_FALSE(r.find("cycles")->scaled);
  EXPECT_EQ(r.coverage, 1);
}

TEST(PerfCounters, MultiplexedCountsAreScaledAndMarked) {
  const CounterReading r = read_from("", {{{100, 200, 30, 3, 2}, 1000, 250}});
  EXPECT_EQ(r.find("cycles")->count, 400);
  EXPECT_TRUE(r.find("cycles")->scaled);
  EXPECT_DOUBLE_EQ(r.coverage, 0.25);
  EXPECT_NE(counters_text(r, 1).find("~400 cycles"), std::string::npos) << counters_text(r, 1);
  EXPECT_NE(counters_text(r, 1).find("25% of the time"), std::string::npos);
}

TEST(PerfCounters, ASleepingThreadCountsNothing) {
  const CounterReading r = read_from("", {{{100, 200, 30, 3, 2}, 1000, 1000}, {{0, 0, 0, 0, 0}, 0, 0}});
  EXPECT_TRUE(r.hardware);
  EXPECT_EQ(r.coverage, 1);
  EXPECT_EQ(r.find("cycles")->count, 100);
}

TEST(PerfCounters, CountersTakenByOthersAreNotZeroCounts) {
  const CounterReading r = read_from("", {{{0, 0, 0, 0, 0}, 1000, 0}});
  EXPECT_FALSE(r.hardware);
  EXPECT_EQ(r.find("cycles"), nullptr);
  EXPECT_FALSE(r.why.empty());
}

TEST(PerfCounters, FallsBackToSoftwareCountsAndSaysWhy) {
  const CounterReading r = read_from("none here", {});
  EXPECT_FALSE(r.hardware);
  EXPECT_EQ(r.why, "none here");
  EXPECT_EQ(r.find("cycles"), nullptr);
  ASSERT_NE(r.find("page faults"), nullptr);
  EXPECT_NE(counters_text(r, 1).find("no hardware counters: none here"), std::string::npos);
}

TEST(PerfCounters, RealKernelGivesSomethingValid) {
  PerfCounters counters;
  counters.start();
  volatile double x = 1;
  for (int i = 0; i < 2000000; ++i) x = x * 1.0000001;
  const CounterReading r = counters.stop();
  if (!r.hardware) {
    EXPECT_FALSE(r.why.empty());
    GTEST_SKIP() << "no hardware counters: " << r.why;
  }
  EXPECT_GT(r.find("instructions")->count, 2e6);
}

}  // namespace
}  // namespace amdahl

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/processors.h"
#include "profiler/ceiling_loops.h"
#include "profiler/cpu_probe.h"
#include "profiler/print_profile.h"

namespace amdahl {
namespace {

namespace fs = std::filesystem;

class CeilingsCache : public ::testing::Test {
 protected:
  void SetUp() override {
    dir_ = fs::temp_directory_path() / ("amdahl-ceilings-" + std::to_string(getpid()));
    fs::create_directories(dir_);
  }
  void TearDown() override { fs::remove_all(dir_); }
  template <typename Change>
  void rewrite_cache(const Change& change) {
    for (const auto& entry : fs::directory_iterator(dir_)) {
      nlohmann::json j = nlohmann::json::parse(std::ifstream(entry.path()));
      change(j);
      std::ofstream(entry.path()) << j;
    }
  }
  fs::path dir_;
};

TEST_F(CeilingsCache, MeasuresEveryLevelOnceAndReadsItBack) {
  int calls = 0;
  const auto count = [&](double, const std::string&) { ++calls; };
  const Ceilings first = cached_ceilings(cpu_probe(), dir_, false, count);
  EXPECT_GT(calls, 0);
  for (MemoryLevel level : {MemoryLevel::kL1, MemoryLevel::kL2, MemoryLevel::kL3, MemoryLevel::kDram})
    EXPECT_GT(first.bandwidth_gbs(level, 1), 0) << name_of(level);
  EXPECT_GT(first.peak_gflops(1), 0);
  EXPECT_FALSE(ceilings_table(first).empty());

  calls = 0;
  rewrite_cache([](nlohmann::json& j) { j["busy"] = 0; });
  const Ceilings second = cached_ceilings(cpu_probe(), dir_, false, count);
  EXPECT_EQ(calls, 0);
  nlohmann::json expected = first;
  expected["busy"] = 0;
  EXPECT_EQ(nlohmann::json(second), expected);

  // A cache cut short is measured again, not believed and not an error.
  for (const auto& entry : fs::directory_iterator(dir_)) std::ofstream(entry.path()) << "{\"format\": 1,";
  const auto stop = [](double, const std::string&) { throw std::runtime_error("measuring"); };
  EXPECT_THROW(cached_ceilings(cpu_probe(), dir_, false, stop), std::runtime_error);
  EXPECT_THROW(cached_ceilings(cpu_probe(), dir_, true, stop), std::runtime_error);
}

// Fewer processors than now, or a part of their time, gave other figures.
TEST_F(CeilingsCache, BelongToTheProcessorsTheyWereMeasuredOn) {
  const Ceilings here = cached_ceilings(cpu_probe(), dir_);
  EXPECT_EQ(here.processors, processors().text());
  const fs::path file = fs::directory_iterator(dir_)->path();
  auto j = nlohmann::json::parse(std::ifstream(file));
  j["processors"] = "64, 0.50 of their time";
  std::ofstream(file) << j;
  const auto stop = [](double, const std::string&) { throw std::runtime_error("measuring"); };
  EXPECT_THROW(cached_ceilings(cpu_probe(), dir_, false, stop), std::runtime_error);
  j.erase("processors");  // as earlier programs wrote it
  std::ofstream(file) << j;
  EXPECT_THROW(cached_ceilings(cpu_probe(), dir_, false, stop), std::runtime_error);
}

TEST_F(CeilingsCache, WhatWasMeasuredOnABusyMachineIsMeasuredAgainAndTheBetterFigureKept) {
  cached_ceilings(cpu_probe(), dir_);
  const double low = 1e-3, high = 1e9;
  rewrite_cache([&](nlohmann::json& j) {
    j["busy"] = 0.9;
    for (auto& row : j["arithmetic"]) row["gflops"] = low;
    for (auto& row : j["bandwidth"]) row["gbs"] = high;
  });
  int calls = 0;
  const Ceilings again = cached_ceilings(cpu_probe(), dir_, false, [&](double, const std::string&) { ++calls; });
  EXPECT_GT(calls, 0);
  EXPECT_GT(again.peak_gflops(1), 1000 * low);
  EXPECT_EQ(again.bandwidth_gbs(MemoryLevel::kL2, 1), high) << "others only ever lower a rate";
}

TEST(CeilingLoops, EveryArchitectureHasABaseline) {
  bool base = false;
  for (const ArithmeticLoop& loop : arithmetic_loops()) base |= !*loop.needs && loop.fp32;
  EXPECT_TRUE(base);
}

TEST(ShareOfPeak, IsAShare) {
  const Ceilings c = cpu_probe().measure();
  const double share = cpu_probe().share_of_peak(c, 1);
  EXPECT_GT(share, 0.0);
  EXPECT_LE(share, 1.0);
  EXPECT_EQ(cpu_probe().share_of_peak(Ceilings{}, 1), 1.0);  // nothing is known
}

}  // namespace
}  // namespace amdahl

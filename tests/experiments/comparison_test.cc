#include "experiments/comparison.h"

#include <gtest/gtest.h>

#include <cmath>

#include "experiments/comparison_text.h"
#include "experiments/report.h"
#include "tests/experiments/made_sessions.h"

namespace amdahl {
namespace {

TEST(BestBaseline, IsTheFastestThatCounts) {
  std::vector<ComparedArm> rows = made_comparison(1);
  EXPECT_EQ(best_baseline(rows)->peer.arm, "openvino f32");
  EXPECT_EQ(best_baseline(rows)->ours.arm, "tuned");
  rows[2].reason = "died of SIGSEGV";
  EXPECT_EQ(best_baseline(rows)->peer.arm, "onnxruntime");
  rows[1].seconds = 0;
  EXPECT_FALSE(best_baseline(rows));
  EXPECT_FALSE(best_baseline({}));
}

TEST(BestBaseline, WhatRoundsMoreIsNoneAndWhatRoundsLessIs) {
  std::vector<ComparedArm> rows = made_comparison(1);
  ASSERT_EQ(rows[3].arm, "openvino bf16");
  ASSERT_LT(rows[3].seconds, rows[2].seconds);
  EXPECT_EQ(best_baseline(rows)->peer.arm, "openvino f32");
  rows[0].precision = "bf16";
  EXPECT_EQ(best_baseline(rows)->peer.arm, "openvino bf16");
  rows[3].reason = "not installed";
  EXPECT_EQ(best_baseline(rows)->peer.arm, "openvino f32") << "it is held against a plan that may round, too";
}

TEST(ShownComparison, IsTheNewestInWhichAPeerCounts) {
  MemoryStore store;
  EXPECT_TRUE(shown_comparison(store).empty());
  Commit c;
  c.compared = made_comparison(1);
  for (ComparedArm& row : made_comparison(2)) {
    row.reason = row.ours ? "" : "not installed";
    c.compared.push_back(row);
  }
  store.commit(c);
  EXPECT_EQ(shown_comparison(store)[0].comparison, 1);
  c.compared = made_comparison(3);
  store.commit(c);
  EXPECT_EQ(shown_comparison(store)[0].comparison, 3);
}

TEST(ComparisonText, SaysWhoIsAheadAlsoWhenItIsNotUs) {
  Baseline baseline = *best_baseline(made_comparison(1));
  EXPECT_EQ(standing_text(baseline), "OpenVINO 2026.1 is 1.25x [1.20, 1.30] as fast as ours");
  baseline.peer.over_ours = {std::log(1.5), std::log(1.4), std::log(1.6), 15};
  EXPECT_EQ(standing_text(baseline), "ours is 1.50x [1.40, 1.60] as fast as OpenVINO 2026.1");
  baseline.peer.over_ours.lo = -0.1;
  EXPECT_EQ(standing_text(baseline), "ours is level with OpenVINO 2026.1: 1.50x [0.90, 1.60]");
  EXPECT_EQ(conditions_text(baseline), "10.0 ms beside 8.00 ms a run, 2 threads, f32, 3 rounds, 2026-11-21 10:02 UTC");
  baseline.peer.others = 0.3;
  EXPECT_NE(conditions_text(baseline).find("UTC; others had 30% of the processors"), std::string::npos) << conditions_text(baseline);
  baseline.peer.seconds = 100e-6;
  EXPECT_NE(conditions_text(baseline).find("100 µs a run called from Python, 2 threads"), std::string::npos) << conditions_text(baseline);
}

TEST(ComparisonText, ATableHasTheFastestFirstAndSaysWhatWasNotMeasured) {
  std::vector<ComparedArm> rows = made_comparison(1);
  rows[1].reason = "python3 has no onnxruntime";
  rows[1].advice = "python3 -m pip install onnxruntime";
  const std::string text = compared_table(rows);
  EXPECT_LT(text.find("OpenVINO"), text.find("ours, the kept plan")) << text;
  EXPECT_NE(text.find("not in the running\n  ONNX Runtime 1.20.1: python3 has no onnxruntime\n      python3 -m pip install onnxruntime\n"), std::string::npos)
      << text;
}

TEST(ComparisonText, APlanThatIsKeptNoMoreIsSaid) {
  MemoryStore store;
  Commit c;
  c.compared = made_comparison(1);
  c.state = Json{{"gated", 2}};
  store.commit(c);
  const Baseline baseline = *best_baseline(shown_comparison(store));
  EXPECT_EQ(age_text(baseline, store), "");
  c.state = Json{{"gated", 5}};
  store.commit(c);
  EXPECT_NE(age_text(baseline, store).find("compare again"), std::string::npos);
  EXPECT_NE(report_text(store, {}, {}).find("compare again"), std::string::npos);
}

TEST(ComparedArm, IsKeptWithEverything) {
  ComparedArm row = made_comparison(4)[1];
  row.difference = 1e-6;
  row.compared_with = "ours";
  const Json j = row;
  EXPECT_EQ(Json(j.get<ComparedArm>()), j);
  row.difference = std::nullopt;
  EXPECT_FALSE(Json(row).get<ComparedArm>().difference);
}

}  // namespace
}  // namespace amdahl

#include "experiments/report_data.h"

#include <gtest/gtest.h>

#include <limits>

#include "experiments/kernel_texts.h"
#include "tests/experiments/made_sessions.h"

namespace amdahl {
namespace {

TEST(ReportData, AnEmptySessionHasNoNumbers) {
  const Json data = report_data(MemoryStore{}, {}, text_of);
  EXPECT_TRUE(data.at("experiments").empty());
  EXPECT_TRUE(data.at("ledger").empty());
  EXPECT_TRUE(data.at("frontier").empty());
  for (const char* name : {"headline", "starter", "newest"}) EXPECT_TRUE(data.at(name).is_null()) << name;
}

TEST(ReportData, WithoutAHeadlineNoneIsMadeUp) {
  MemoryStore store;
  Commit c;
  c.profiles = made_session(0).profiles();
  c.plans = made_session(0).plans();
  c.headline = Headline{};  // written before its first pair
  store.commit(c);
  const Json data = report_data(store, {}, text_of);
  EXPECT_TRUE(data.at("headline").is_null());
  EXPECT_DOUBLE_EQ(data.at("starter").at("seconds"), 0.2);
  EXPECT_DOUBLE_EQ(data.at("newest").at("floor"), 0.05);
}

TEST(ReportData, NoTextEndsTheScriptElement) {
  MemoryStore store;
  Commit c;
  Experiment e = made_experiment(1, Outcome::kWrong);
  e.reason = "</script><!--<script>alert(1)</script>";
  e.window = "bytes \xff\xfe that are not UTF-8";
  c.experiments = {e};
  store.commit(c);
  const Json data = report_data(store, {}, text_of);
  const std::string script = script_json(data);
  EXPECT_EQ(script.find('<'), std::string::npos);
  EXPECT_EQ(Json::parse(script).at("experiments").at(0).at("reason"), e.reason);
}

TEST(ReportData, NumbersThatAreNoneAreNull) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  MemoryStore store;
  Commit c;
  Experiment e = made_experiment(1, Outcome::kReverted);
  e.race_log_ratio = nan;
  e.share = -infinity;
  Experiment kept = made_experiment(2, Outcome::kKept);
  kept.gain = {infinity, nan, infinity, 3};
  kept.confirm_log_ratios = {nan, 0.1, infinity};
  c.experiments = {e, kept};
  c.profiles = {{1, 1, nan, {nan}, {infinity}}};
  store.commit(c);
  const Json back = Json::parse(script_json(report_data(store, {}, text_of)));
  const Json& rows = back.at("experiments");
  EXPECT_TRUE(rows.at(0).at("race").is_null());
  EXPECT_TRUE(rows.at(0).at("share").is_null());
  EXPECT_FALSE(rows.at(0).contains("log"));
  EXPECT_EQ(rows.at(1).at("confirm"), Json::parse("[null, 0.1, null]"));
  EXPECT_TRUE(back.at("newest").at("seconds").is_null());
}

// By hand: a window of half the model's time, twice as fast, leaves three quarters.
TEST(ReportData, TheFrontierIsAmdahlsLawOnConfirmedGains) {
  MemoryStore store;
  Commit c;
  Experiment first = made_experiment(1, Outcome::kKept);
  first.share = 0.5;
  first.gain = {std::log(2), std::log(2), std::log(2), 9};
  Experiment tried = made_experiment(2, Outcome::kReverted);
  tried.share = 0.5;
  tried.race_log_ratio = std::log(2);
  Experiment unconfirmed = made_experiment(3, Outcome::kKept);
  unconfirmed.gain = {};
  c.experiments = {first, tried, unconfirmed};
  store.commit(c);
  const Json data = report_data(store, {}, text_of);
  ASSERT_EQ(data.at("frontier").size(), 1u);
  EXPECT_NEAR(data.at("frontier")[0].at("log"), std::log(4.0 / 3), 1e-4);
  EXPECT_EQ(data.at("frontier")[0].at("lo"), data.at("frontier")[0].at("hi"));
  EXPECT_NEAR(data.at("experiments")[1].at("model_log"), 2 * std::log(4.0 / 3), 1e-4);
}

TEST(ReportData, ARatioSaysWhichStageMeasuredIt) {
  const Json rows = report_data(made_session(50), {}, text_of).at("experiments");
  EXPECT_EQ(rows.at(49).at("from"), "confirmation");
  EXPECT_EQ(rows.at(0).at("from"), "race");
  EXPECT_FALSE(rows.at(6).contains("from"));  // failed: never timed
  EXPECT_FALSE(rows.at(6).contains("model_log"));
}

TEST(ReportData, KeptExperimentsBringTheirTextAndTheOneTheyReplaced) {
  const Json data = report_data(made_session(50), {}, text_of);
  const Json& kept = data.at("experiments").at(49);
  const Json& sources = data.at("sources");
  const auto text = [&](const Json& kernel) {
    std::string all;
    for (int line : sources.at("texts").at(kernel.at("text").get<size_t>())) all += sources.at("lines").at(static_cast<size_t>(line)).get<std::string>() + "\n";
    return all;
  };
  EXPECT_EQ(text(kept.at("challenger").at(0)), softmax_step(50).variant.source_override);
  EXPECT_EQ(text(kept.at("incumbent").at(0)), softmax_step(8).variant.source_override);
  EXPECT_EQ(sources.at("lines").size(), 3u);  // the line they share is there once
  EXPECT_FALSE(data.at("experiments").at(0).contains("challenger"));
}

TEST(KernelTexts, EqualTextsAndEqualLinesAreKeptOnce) {
  KernelTexts texts;
  EXPECT_EQ(texts.add("a\nb\n"), 0);
  EXPECT_EQ(texts.add("b\n\na"), 1);
  EXPECT_EQ(texts.add("a\nb\n"), 0);
  EXPECT_EQ(texts.json(), Json::parse(R"({"lines": ["a", "b", ""], "texts": [[0, 1], [1, 2, 0]]})"));
}

}  // namespace
}  // namespace amdahl

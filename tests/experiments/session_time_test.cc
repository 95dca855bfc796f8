#include "experiments/session_time.h"

#include <gtest/gtest.h>

#include "experiments/report.h"

namespace amdahl {
namespace {

MemoryStore two_minutes() {
  MemoryStore store;
  Commit c;
  for (int64_t id = 1; id <= 2; ++id) {
    Experiment e;
    e.id = id;
    e.seconds = {/*build=*/1, /*validate=*/2, /*race=*/3, /*prove=*/id == 2 ? 12.0 : 0, /*confirm=*/0};
    c.experiments.push_back(e);
  }
  c.state = {{"seconds", 120.0}, {"phases", {{"judge", 24.0}, {"build", 3.0}, {"gate", 30.0}, {"profile", 6.0}, {"headline", 12.0}}}};
  store.commit(c);
  return store;
}

TEST(SessionTime, PartsAddUpToWhatWasSpent) {
  const std::vector<std::pair<std::string, double>> want{{"judge", 24}, {"build", 5},   {"validate", 4},  {"race", 6}, {"prove", 12},
                                                         {"gate", 30},  {"profile", 6}, {"headline", 12}, {"rest", 21}};
  EXPECT_EQ(session_time(two_minutes()), want);
}

TEST(SessionTime, WhatWasMeasuredOfTheMachineComesFirst) {
  MemoryStore store = two_minutes();
  Commit c;
  c.state = store.state();
  (*c.state)["phases"]["machine"] = 5.0;
  store.commit(c);
  EXPECT_EQ(session_time(store).front(), (std::pair<std::string, double>{"machine", 5}));
  EXPECT_EQ(session_time(store).back(), (std::pair<std::string, double>{"rest", 16}));
}

TEST(SessionTime, OfASessionThatCountedNoPhasesIsRest) {
  MemoryStore store = two_minutes();
  Commit c;
  c.state = Json::object({{"seconds", 120.0}});
  store.commit(c);
  EXPECT_EQ(session_time(store).back(), (std::pair<std::string, double>{"rest", 96}));
}

TEST(SessionTime, IsEmptyBeforeTheFirstCommit) { EXPECT_TRUE(session_time(MemoryStore()).empty()); }

TEST(SessionTime, IsInTheReport) {
  const std::string text = report_text(two_minutes(), {}, {});
  EXPECT_NE(text.find("time of the session, 2.0 min: judge 20%, build 4%, validate 3%, race 5%, prove 10%, gate 25%, profile 5%, headline 10%, rest 18%\n"),
            std::string::npos)
      << text.substr(0, 600);
  EXPECT_EQ(report_json(two_minutes(), {})["time"]["gate"], 30);
}

}  // namespace
}  // namespace amdahl

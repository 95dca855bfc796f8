#include "cli/event_lines.h"

#include <gtest/gtest.h>

#include <sstream>

namespace amdahl {
namespace {

std::vector<Json> lines_of(const std::string& text) {
  std::vector<Json> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(Json::parse(line));
  return lines;
}

TEST(EventLines, AreObjectsOfJsonOneALine) {
  int changes = 0;
  ::testing::internal::CaptureStderr();
  EventLines view("a \"model\"\n", [&] { ++changes; });
  view.phase("measuring");
  TuneStatus status;
  status.phase = "choosing";
  status.kept = 2;
  view.on_status(status);
  status.baseline_seconds = 0.5;
  status.seconds_left = 9;
  view.on_status(status);
  Experiment e;
  e.id = 7;
  e.outcome = Outcome::kKept;
  e.reason = "bytes \xff that are no text";
  view.on_experiment(e);
  LedgerEntry gate;
  gate.kept = true;
  gate.before_seconds = 2;
  view.on_ledger(gate);
  view.on_note("a note");
  const std::vector<Json> lines = lines_of(::testing::internal::GetCapturedStderr());
  ASSERT_EQ(lines.size(), 6U);
  for (const Json& line : lines) EXPECT_EQ(line.at("model"), "a \"model\"\n");
  EXPECT_EQ(lines[0].at("event"), "phase");
  EXPECT_EQ(lines[0].at("phase"), "measuring");
  EXPECT_EQ(lines[1].at("kept"), 2);
  EXPECT_TRUE(lines[1].at("starter_seconds").is_null()) << "not measured yet";
  EXPECT_TRUE(lines[1].at("left").is_null()) << "no limit";
  EXPECT_EQ(lines[2].at("starter_seconds"), 0.5);
  EXPECT_EQ(lines[2].at("left"), 9);
  EXPECT_EQ(lines[3].at("id"), 7);
  EXPECT_EQ(lines[3].at("outcome"), "kept");
  EXPECT_TRUE(lines[4].at("kept"));
  EXPECT_TRUE(lines[4].at("before_seconds").is_null()) << "it was not timed";
  EXPECT_EQ(lines[5].at("text"), "a note");
  EXPECT_EQ(changes, 4);
}

}  // namespace
}  // namespace amdahl

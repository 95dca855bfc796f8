// The live block as text: nothing here has a terminal.

#include "cli/live_block.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace amdahl {
namespace {

LiveState state_of_a_session() {
  LiveState s;
  s.model = "gpt2-mini";
  s.status.phase = "validating and racing";
  s.status.rewrite = "choose_register_tile";
  s.status.window = "matmul [1, 64, 512] + pointwise [1, 64, 512]";
  s.status.why = "38.0% of the model, 0.521 ms above its roofline in 4 places; choose_register_tile won 2 of 9";
  s.status.experiments = 58;
  s.status.kept = 2;
  s.status.outcomes = {{Outcome::kKept, 2}, {Outcome::kReverted, 50}, {Outcome::kInconclusive, 4}, {Outcome::kWrong, 2}};
  s.status.baseline_seconds = 0.004;
  s.status.current_seconds = 0.002;
  s.status.proven_log_speedup = std::log(1.7);
  s.status.seconds_spent = 200;
  s.status.seconds_left = 100;
  s.frontier = {{0, 1}, {100, 1.4}, {150, 2}};
  s.kept = {"#3 fuse_gelu on pointwise: 1.50x [1.40, 1.60]", "#40 pack_constant_weights on matmul: 1.20x [1.10, 1.30]"};
  s.gate = "kept: 1.68x predicted, 1.70x measured";
  s.note = "";
  return s;
}

std::string text_of(const LiveState& state, const LiveSize& size, bool colour = false) {
  std::string text;
  for (const std::string& row : live_block(state, size, colour)) text += row + "\n";
  return text;
}

TEST(LiveBlock, SaysEverythingThatIsAsked) {
  const std::string text = text_of(state_of_a_session(), {120, 30});
  for (const char* words : {"gpt2-mini: 4.00 ms a run -> 2.00 ms; 1.70x confirmed on the whole model", "validating and racing: choose_register_tile on matmul",
                            "38.0% of the model", "58 experiments, 1044 an hour: 2 kept, 50 reverted, 4 inconclusive, 2 wrong", "3:20 spent, 1:40 left",
                            "kept: 1.68x predicted", "#3 fuse_gelu", "#40 pack_constant_weights", " 2.00x"})
    EXPECT_NE(text.find(words), std::string::npos) << words << " in\n" << text;
  EXPECT_LT(text.find("#40 "), text.find("#3 ")) << "the newest keep comes first";
}

TEST(LiveBlock, NoRowIsWiderThanTheTerminalAndNoneIsOneTooMany) {
  LiveState state = state_of_a_session();
  state.status.why = std::string(500, 'w') + " ends with an ellipsis … and more words " + std::string(100, 'x');
  state.note = "ä" + std::string(300, '.');
  for (int columns : {20, 40, 60, 80, 100, 120, 200, 400})
    for (int rows : {4, 8, 12, 24, 60})
      for (bool colour : {false, true}) {
        const auto block = live_block(state, {columns, rows}, colour);
        EXPECT_LE(static_cast<int>(block.size()), rows - 1) << columns;
        for (const std::string& row : block) EXPECT_LT(width_of(row), std::max(columns, 21)) << columns << ": " << row;
      }
}

// Rows come when there is something new to show, never go: the block does not jump.
TEST(LiveBlock, StandsStillWhileItsWordsChange) {
  LiveState state = state_of_a_session();
  for (int columns : {60, 100, 160}) {
    const size_t rows = live_block(state, {columns, 40}, false).size();
    LiveState other = state;
    other.status.phase = "choosing";
    other.status.rewrite = other.status.window = other.status.why = "";
    other.status.outcomes.clear();
    other.status.seconds_spent = 20000;
    EXPECT_EQ(live_block(other, {columns, 40}, false).size(), rows) << columns;
  }
}

TEST(LiveBlock, ColourIsOnlyThereWhenAskedFor) {
  const LiveState state = state_of_a_session();
  const auto plain = live_block(state, {100, 30}, false), coloured = live_block(state, {100, 30}, true);
  EXPECT_EQ(text_of(state, {100, 30}).find('\x1b'), std::string::npos);
  EXPECT_NE(text_of(state, {100, 30}, true).find("\x1b["), std::string::npos);
  ASSERT_EQ(plain.size(), coloured.size());
  for (size_t i = 0; i < plain.size(); ++i) EXPECT_EQ(width_of(plain[i]), width_of(coloured[i])) << plain[i];
}

// Reasons quote compilers and models.
TEST(LiveBlock, TextOfOthersDoesNotSteerTheTerminal) {
  LiveState state = state_of_a_session();
  state.note = "model says \x1b[2J\x1b]0;title\x07 and\nmore\r";
  EXPECT_EQ(text_of(state, {100, 30}).find_first_of("\x1b\x07\r"), std::string::npos);
  state.status.why = state.note;
  EXPECT_EQ(live_line(state.status).find_first_of("\x1b\x07\r\n"), std::string::npos);
}

TEST(LiveBlock, WhatAKeptStepWonIsNotCutOff) {
  LiveState state = state_of_a_session();
  state.kept = {"#126 fuse_gelu on matmul [128, 3072] + pointwise [1, 128, 3072] + … + pointwise [1, 128, 3072] (x12): 1.04x [1.02, 1.06]"};
  EXPECT_EQ(live_block(state, {80, 30}, false).back(), "kept      #126 fuse_gelu on matmul [128, 3072] + poi… (x12): 1.04x [1.02, 1.06]");
  EXPECT_EQ(live_block(state, {200, 30}, false).back(), "kept      " + state.kept[0]);
}

TEST(LiveBlock, BeforeTheFirstGateNothingIsConfirmed) {
  LiveState state = state_of_a_session();
  state.status.proven_log_speedup = 0;
  EXPECT_NE(text_of(state, {120, 30}).find("2.00 ms; not confirmed on the whole model yet"), std::string::npos);
}

TEST(LiveBlock, WordsAreBrokenAtBlanks) {
  LiveState state = state_of_a_session();
  const auto block = live_block(state, {60, 30}, false);
  const auto why = std::find_if(block.begin(), block.end(), [](const std::string& r) { return r.rfind("why", 0) == 0; });
  ASSERT_NE(why, block.end());
  EXPECT_EQ(*why, "why       38.0% of the model, 0.521 ms above its roofline");
  EXPECT_EQ(*(why + 1), "          in 4 places; choose_register_tile won 2 of 9");
}

TEST(Sparkline, RisesWithTheModelsSpeed) {
  EXPECT_EQ(sparkline({{0, 1}, {50, 1.5}, {75, 2}}, 100, 4), "▁▅██");
  EXPECT_EQ(sparkline({{0, 1}}, 100, 3), "▁▁▁");
  EXPECT_EQ(sparkline({{0, 2}, {50, 1}}, 100, 2), "▁▁") << "what was taken back is not shown as won";
  EXPECT_EQ(sparkline({{0, 2}, {60, 1}}, 100, 2), "█▁");
  EXPECT_EQ(sparkline({}, 100, 3), "");
  EXPECT_EQ(sparkline({{5, 1}}, 5, 3), "▁▁▁") << "a session that has just begun";
}

TEST(LiveLine, IsOneLineForALog) {
  const std::string line = live_line(state_of_a_session().status);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  for (const char* words : {"1.70x confirmed", "58 experiments, 2 kept, 1:40 left", "choose_register_tile on matmul", "(38.0% of the model"})
    EXPECT_NE(line.find(words), std::string::npos) << words << " in " << line;
}

}  // namespace
}  // namespace amdahl

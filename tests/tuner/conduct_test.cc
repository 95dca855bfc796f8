#include "tuner/validation/conduct.h"

#include <gtest/gtest.h>

namespace amdahl {
namespace {

ProcessState honest() {
  ProcessState s;
  s.threads = 2;
  s.descriptors = 8;
  s.affinities = {"0", "1"};
  return s;
}

std::string code_of(const Report& report, const ProcessState& now) {
  const auto found = misconduct(report, now, honest());
  return found ? found->code : "";
}

TEST(Conduct, AsItWasIsNoMisconduct) { EXPECT_EQ(code_of({}, honest()), ""); }

TEST(Conduct, WhatIsLeftBehindIsNamed) {
  ProcessState s = honest();
  s.threads = 3;
  EXPECT_EQ(code_of({}, s), "left-threads");
  s = honest();
  s.descriptors = 9;
  EXPECT_EQ(code_of({}, s), "left-descriptors");
  s = honest();
  s.affinities = {"0"};
  EXPECT_EQ(code_of({}, s), "left-affinity");
  s = honest();
  s.blocked_signals = 4;
  EXPECT_EQ(code_of({}, s), "left-handlers");
  EXPECT_EQ(code_of({.handlers_changed = true}, honest()), "left-handlers");
  EXPECT_EQ(code_of({.float_control_changed = true}, honest()), "left-float-control");
  EXPECT_EQ(code_of({.damaged_temporaries = true}, honest()), "wrote-beside");
}

TEST(Conduct, FewerThreadsThanHonestOnesAreNone) {
  ProcessState s = honest();
  s.threads = 1;
  EXPECT_EQ(code_of({}, s), "");
}

TEST(Conduct, ThreadsThatHaveNotBegunLackTheirProcessors) {
  ProcessState s = honest();
  s.threads = 1;
  s.affinities = {"0"};
  EXPECT_EQ(code_of({}, s), "");
  s.affinities = {"0-1"};
  EXPECT_EQ(code_of({}, s), "left-affinity");
}

TEST(Conduct, AKilobyteACallIsLostMemory) {
  EXPECT_FALSE(lost_memory(100 << 10, 4096));
  EXPECT_TRUE(lost_memory(150 * 1000, 150));
  EXPECT_TRUE(lost_memory(4096 * 1000, 4096));
  EXPECT_FALSE(lost_memory(-5000, 10));
}

TEST(Conduct, CodesOfConductAreToldFromWrongNumbers) {
  for (const char* code : {"left-memory", "wrote-late", "cpu-time", "wrote-beside", "still-working"}) EXPECT_TRUE(is_misconduct(code)) << code;
  for (const char* code : {"stale", "wrong-value", "nondeterministic"}) EXPECT_FALSE(is_misconduct(code)) << code;
}

}  // namespace
}  // namespace amdahl

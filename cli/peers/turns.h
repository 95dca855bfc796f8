#pragma once
// Arms that take turns: one runs, the others are stopped, the order of a round is drawn anew. What they took, and what they computed.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/peers/arm_process.h"
#include "experiments/comparison.h"

namespace amdahl {

struct ArmSpec {
  ComparedArm row;  // what is known of it before it runs; a `reason` says why it will not
  ArmCommand command;
  bool own_reference = false;  // its weights are other numbers than ours: its outputs are held against what it says they should be
};

struct TurnOptions {
  int rounds = 15;
  double limit = 600;  // seconds that an arm has for an answer; once its speed is known, less may do
  std::string folder;  // for outputs; exists
  uint64_t seed = 0;   // of the orders
};

// What the caller wants to know or to do meanwhile.
struct TurnWatch {
  std::function<void(double done, double total, const std::string& note)> progress = [](double, double, const std::string&) {};
  std::function<void(int round)> before_turn = [](int) {};  // nothing else runs then
};

// The rows of all specs, in their order. An arm that dies, hangs or computes something else has the reason in its row and the others go on. The first spec is ours:
// without it nothing can be compared. Throws Error(kNotVerified) when that one fails, kInterrupted on Ctrl-C; no process outlives the call.
std::vector<ComparedArm> take_turns(const std::vector<ArmSpec>& specs, const TurnOptions& options, const TurnWatch& watch);

// How far outputs are apart that should be the same: the largest |got - want| / |want| of all pairs. Infinite where one is missing, has another shape or holds
// what is not finite and should be.
double largest_difference(const std::string& got_folder, const std::string& want_folder);

// Log ratios of an arm's rounds to ours, over the rounds that both have: the median with its 95% interval.
Gain over_ours(const std::vector<double>& theirs, const std::vector<double>& ours);

}  // namespace amdahl

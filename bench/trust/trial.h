#pragma once
// One experiment on one window, by the way that a candidate of the tuner goes, and everything that was measured on it: what a
// line of a log holds, so that other rules can be tried on the same timings later.

#include <string>
#include <vector>

#include "bench/trust/recording_trials.h"
#include "tuner/measurement/proof_rules.h"

namespace amdahl::trust {

struct LoggedStage {
  std::string name;  // "prove", "confirm"
  std::vector<LoggedPair> pairs;
  double wealth = 0;  // where the test stopped
  bool passed = false;
  std::vector<double> counted() const;  // log ratios that were not dropped
};

struct Trial {
  // What was tried.
  std::string study;  // "aa", "placebo-builds", "placebo-edits", "planted"
  std::string window;
  int number = 0;  // in its study (and effect)
  uint64_t seed = 0;
  std::string edits;    // placebo-edits: what was done, "rename, reorder"
  double effect = 0;    // planted, percent
  double true_log = 0;  // planted: what the long measurement says
  DecisionRule rule;
  // What came of it.
  int refused = 0;      // texts drawn before this one that the scan of machine code refused (machine_code.h)
  bool twin = false;    // dropped unmeasured, as the tuner does: the incumbent's object code
  std::string failure;  // "code at stage: reason", or ""
  double race_log_ratio = 0;
  bool race_won = false;  // the tuner would have gone on to the proof
  std::vector<LoggedStage> stages;
  bool proven = false;  // both stages passed
  bool kept() const { return proven && race_won; }
  Gain gain;                                                  // from the confirmation, when proven
  double build_seconds = 0, screen_seconds = 0, seconds = 0;  // the last: all of it
};

void to_json(Json& j, const Trial& t);
void from_json(const Json& j, Trial& t);

// Takes a trial through the stages of the tuner; what a race must show mirrors Tuner::Loop::screen and not_worth_a_proof. The
// confirmation follows at once: a session waits DecisionRule::confirm_after.
class Pipeline {
 public:
  // `runner` has entered the incumbent's window.
  // `forced`: proven whatever the race says, so that there are pairs.
  Pipeline(RecordingTrials& runner, const ProofRule& rule, bool forced)
      : runner_(runner), rule_(rule.rule), hopeful_gain_(rule.hopeful_gain), forced_(forced) {}
  // Fills what came of it. `seed` must be set. Throws Stopped.
  void run(Trial& trial, const std::vector<Step>& challenger, const BuildResult& built);

 private:
  bool screen(Trial& trial, const std::vector<Step>& challenger, const BuildResult& built);
  bool gather(Trial& trial, const std::string& stage, const std::vector<Step>& challenger, const BuildResult& built, int first_build, uint64_t salt);

  RecordingTrials& runner_;
  DecisionRule rule_;
  double hopeful_gain_;
  bool forced_;
};

}  // namespace amdahl::trust

#pragma once
// One stage of evidence for a challenger: fresh pairs of processes until the sign test is decided.

#include <functional>
#include <optional>
#include <vector>

#include "tuner/measurement/decision.h"
#include "tuner/trials/trial_runner.h"

namespace amdahl {

struct Evidence {
  enum class End { kPassed, kFailed, kBroken, kUnfinished };  // broken: `failure` says how
  End end = End::kUnfinished;
  std::optional<Failure> failure;
  std::vector<double> log_ratios;
  std::vector<double> dropped;                           // log ratios of pairs that did not count: what the rules that drop them never saw
  double incumbent_seconds = 0, challenger_seconds = 0;  // one call, medians
  bool worked_more = false;  // the challenger, in all pairs that this process measured: its median call may be faster, its mean is not
};

// Stages of one proof must not share builds: the first has number `first_build`. `give_up` is asked before every pair, with the log ratios so far.
// `earlier`: those of the same stage when it was given up before. All of them count: when one stops and goes on never makes a bet unfair.
Evidence gather_evidence(TrialRunner& runner, const DecisionRule& rule, const std::vector<Step>& challenger, const BuildResult& built, int first_build,
                         Random& random, const std::function<bool(const std::vector<double>&)>& give_up, const std::vector<double>& earlier = {});

}  // namespace amdahl

#pragma once
// What a tuning session works with: all that the loop and the end of a session are given from outside.

#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "experiments/session_store.h"
#include "experiments/wisdom.h"
#include "playbook/rewrite.h"
#include "tuner/search/progress.h"
#include "tuner/search/search_policy.h"
#include "tuner/search/tune_options.h"
#include "tuner/trials/trial_runner.h"

namespace amdahl {

// What is referred to outlives whoever holds the context.
struct TuneContext {
  const Graph& graph;
  SessionStore& store;  // all state is there
  TrialRunner& runner;
  std::vector<const Rewrite*> rewrites;  // in playbook order
  TuneOptions options;                   // of this run; the store keeps those of the first
  TuneObserver& observer;
  const std::atomic<bool>& stop;  // raised by the user: the run ends as soon as nothing is lost by it
  // Forms proven in earlier sessions, by signature of their window (known_at()); where one promises anything it is the first to be tried there.
  std::map<std::string, WisdomForm> known = {};
  const SearchPolicy& policy = most_gain_a_second();
};

}  // namespace amdahl

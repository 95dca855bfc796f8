#pragma once
// What tests of the loop share: one on a simulated machine, over four matrix products whose blocks are tuned.

#include <gtest/gtest.h>

#include "tests/tuner/simulated_trials.h"
#include "tuner/search/tuner.h"

namespace amdahl::testing {

// Raises the flag when so many experiments have ended.
class StopAfter : public TuneObserver {
 public:
  StopAfter(int count, std::atomic<bool>* stop) : left_(count), stop_(stop) {}
  void on_experiment(const Experiment&) override {
    if (--left_ == 0) *stop_ = true;
  }
  void on_note(const std::string& note) override { notes.push_back(note); }
  std::vector<std::string> notes;

 private:
  int left_;
  std::atomic<bool>* stop_;
};

class Loop : public ::testing::Test {
 protected:
  TuneContext context(SessionStore& store, TuneObserver& observer, const std::atomic<bool>& stop) {
    return {graph, store, runner, {offered}, options, observer, stop, known};
  }
  TuneSummary tune(SessionStore& store, int stop_after = -1) {
    std::atomic<bool> stop = false;
    StopAfter observer(stop_after, &stop);
    const TuneSummary s = Tuner(context(store, observer, stop)).run();
    notes = observer.notes;
    return s;
  }
  static int count(const SessionStore& store, Outcome outcome) {
    int n = 0;
    for (const Experiment& e : store.experiments()) n += e.outcome == outcome;
    return n;
  }
  static std::vector<std::string> candidates(const SessionStore& store) {
    std::vector<std::string> ids;
    for (const Experiment& e : store.experiments()) ids.push_back(e.candidate);
    return ids;
  }
  static void expect_sound(const SessionStore& store) {
    std::set<std::string> seen;
    int64_t id = 0;
    for (const Experiment& e : store.experiments()) {
      EXPECT_EQ(e.id, ++id);
      EXPECT_TRUE(seen.insert(e.signature + e.candidate).second || e.stage == "gate") << "tried twice: " << e.knobs.dump();
      EXPECT_FALSE(e.stage.empty());
      EXPECT_FALSE(e.reason.empty());
    }
  }

  Graph graph = chain_of_matmuls(4);
  TuneBlocks rewrite;
  const Rewrite* offered = &rewrite;
  SimulatedTrials runner;
  TuneOptions options;
  std::map<std::string, WisdomForm> known;
  std::vector<std::string> notes;
};

}  // namespace amdahl::testing

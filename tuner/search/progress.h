#pragma once
// What the loop tells whoever watches: the command line's live block, plain lines, a test.

#include <map>
#include <string>

#include "experiments/experiment.h"

namespace amdahl {

struct TuneStatus {
  std::string phase;            // "measuring the default plan", "building 6 candidates", "proving", "gate"
  std::string rewrite, window;  // what is being tried, and on what: "matmul [128, 768] x4"; "" between two campaigns
  std::string why;              // it was chosen
  int64_t experiments = 0, kept = 0;
  std::map<Outcome, int64_t> outcomes;
  double baseline_seconds = 0;    // the default plan, one run
  double current_seconds = 0;     // with all wins so far, by what the gate measured and the others promise
  double proven_log_speedup = 0;  // product of what the gate measured
  double seconds_spent = 0;
  double seconds_left = -1;  // -1: no time limit
  int64_t experiments_left = -1;
};

class TuneObserver {
 public:
  virtual ~TuneObserver() = default;
  virtual void on_status(const TuneStatus&) {}
  virtual void on_experiment(const Experiment&) {}  // when it has ended
  virtual void on_ledger(const LedgerEntry&) {}
  virtual void on_note(const std::string&) {}  // one line worth showing: a window that cannot be judged
};

}  // namespace amdahl

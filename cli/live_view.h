#pragma once
// What a person sees while the loop runs: one calm block on a terminal that updates in place, plain lines elsewhere.

#include <chrono>
#include <string>

#include "tuner/progress.h"

namespace amdahl {

class LiveView : public TuneObserver {
 public:
  // `shown` false (--json, --quiet): silent.
  explicit LiveView(bool shown);
  ~LiveView() override;  // takes the block away

  void on_status(const TuneStatus& status) override;
  void on_experiment(const Experiment& experiment) override;
  void on_ledger(const LedgerEntry& entry) override;
  void on_note(const std::string& note) override;

 private:
  using Clock = std::chrono::steady_clock;
  void line(const std::string& text);  // above the block, stays
  void draw();
  void erase();

  bool shown_, terminal_;
  int drawn_lines_ = 0;
  Clock::time_point last_{};
  TuneStatus status_;
};

}  // namespace amdahl

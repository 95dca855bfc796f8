#pragma once
// What the loop says of itself while it works: fills in a TuneStatus and hands it to the observer.

#include <atomic>
#include <string>

#include "tuner/search/session_budget.h"
#include "tuner/search/session_state.h"

namespace amdahl {

class ProgressReporter {
 public:
  ProgressReporter(const TuneContext& context, const SessionState& state, const SessionBudget& budget)
      : observer_(context.observer), stop_(context.stop), state_(state), budget_(budget) {}

  // What is being tried, on which window, and why that. It holds until it is set again.
  void set_subject(const std::string& rewrite, const std::string& window);
  void set_rewrite(const std::string& rewrite) { status_.rewrite = rewrite; }
  void set_reason(const std::string& why) { status_.why = why; }
  void clear_subject();

  // Tells the observer what comes now. Throws Stopped.
  void say(const std::string& phase);
  void note(const std::string& text) { observer_.on_note(text); }
  // Throws Stopped when the user wants the run to end.
  void check_stop() const;

  // What was said last, with the figures of now.
  TuneStatus status() const;

 private:
  void count(TuneStatus& status) const;

  TuneObserver& observer_;
  const std::atomic<bool>& stop_;
  const SessionState& state_;
  const SessionBudget& budget_;
  TuneStatus status_;
};

}  // namespace amdahl

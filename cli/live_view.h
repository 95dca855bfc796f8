#pragma once
// What a person sees while the loop runs: one calm block on a terminal that updates in place (live_block.h), plain lines
// elsewhere.

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "base/clock.h"
#include "cli/live_block.h"
#include "cli/tune_view.h"

namespace amdahl {

class LiveView : public TuneView {
 public:
  // `shown` false (--json, --quiet): silent. `after_change` is called when the session has got something new to show.
  LiveView(std::string model, bool shown, std::function<void()> after_change = {});
  ~LiveView() override;  // takes the block away

  void on_status(const TuneStatus& status) override;
  void on_experiment(const Experiment& experiment) override;
  void on_ledger(const LedgerEntry& entry) override;
  void on_note(const std::string& note) override;

  void phase(const std::string& what) override;

 private:
  void line(const std::string& text);  // plain: one line more
  void show(std::string* where, const std::string& text);
  void tick();  // clocks go on while a phase lasts
  void draw();
  void erase();
  void changed() const;

  const bool shown_, terminal_, colour_;
  const std::function<void()> after_change_;
  LiveState state_;
  Clock::time_point last_{}, status_at_{};
  bool drawn_ = false;  // the block is on the screen
  std::mutex mutex_;    // of everything above
  std::condition_variable ended_;
  bool end_ = false;
  std::thread ticker_;
};

}  // namespace amdahl

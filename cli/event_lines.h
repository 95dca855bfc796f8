#pragma once
// The loop at work, for a program that has started it: an object of JSON a line on standard error (docs/json.md).

#include <functional>
#include <mutex>
#include <string>

#include "cli/tune_view.h"

namespace amdahl {

class EventLines : public TuneView {
 public:
  // `after_change` is called when the session has got something new to show.
  explicit EventLines(std::string model, std::function<void()> after_change = {});

  void on_status(const TuneStatus& status) override;
  void on_experiment(const Experiment& experiment) override;
  void on_ledger(const LedgerEntry& entry) override;
  void on_note(const std::string& note) override;
  void phase(const std::string& what) override;

 private:
  void line(const char* event, Json fields);
  void changed() const;

  const std::string model_;
  const std::function<void()> after_change_;
  std::mutex mutex_;  // of the lines
};

}  // namespace amdahl

#pragma once
// Nothing promises enough by a profile that was taken while others had the processors: then what is left to win cannot be told, and the
// loop waits for them, each time longer (docs/decisions/0028-beside-other-programs.md).

#include <string>

#include "tuner/search/progress_reporter.h"
#include "tuner/search/prospects.h"

namespace amdahl {

class QuieterMachine {
 public:
  QuieterMachine(const TuneContext& context, const SessionState& state, const SessionBudget& budget, const HeadProfile& profile, Prospects& prospects,
                 ProgressReporter& progress)
      : context_(context), state_(state), budget_(budget), profile_(profile), prospects_(prospects), progress_(progress) {}

  // Whether the profile cannot be believed.
  bool is_wanted() const;
  // Lets others work for a while, after which a profile is to be taken again. False when the profile can be believed, or there is no time
  // left to wait.
  bool wait();
  std::string why() const;  // the words for it

 private:
  const TuneContext& context_;
  const SessionState& state_;
  const SessionBudget& budget_;
  const HeadProfile& profile_;
  Prospects& prospects_;
  ProgressReporter& progress_;
  int waits_ = 0;
};

}  // namespace amdahl

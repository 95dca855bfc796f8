#pragma once
// Whoever is shown the loop at work: a person (live_view.h) or a program (event_lines.h).

#include "tuner/search/progress.h"

namespace amdahl {

class TuneView : public TuneObserver {
 public:
  virtual void phase(const std::string& what) = 0;  // before and after the loop: no status tells of it
};

}  // namespace amdahl

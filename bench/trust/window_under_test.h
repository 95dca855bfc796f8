#pragma once
// One window with everything that a trial on it needs: the judge, the builds, the incumbent.

#include <memory>
#include <string>
#include <vector>

#include "bench/trust/trial.h"
#include "bench/trust/windows.h"

namespace amdahl::trust {

struct WindowOptions {
  int threads = 2;
  uint64_t seed = 1;
  double pair_seconds = 0.1;  // timed part of a pair
  ProofRules rules;
  const Backend* backend = &cpu_backend();
};

class WindowUnderTest {
 public:
  WindowUnderTest(const std::string& name, const WindowOptions& options);
  const std::string& name() const { return window_.name; }
  const Target& target() const { return options_.backend->target(); }
  // The text of the starter kernel, and the window with another text in its place.
  const std::string& source() const { return source_; }
  std::vector<Step> with_source(const std::string& text) const;
  // Throws Error(kInternal) with the compiler's message, RefusedByScan where it is the scan's.
  BuildResult build(const std::vector<Step>& steps);

  // Makes `incumbent` what is measured against, as the tuner does at the start of each campaign. Throws as build().
  void enter(const std::vector<Step>& incumbent);
  // Fills what came of the trial; nothing of it where it throws as build().
  void run(Trial& trial, const std::vector<Step>& challenger, bool forced);
  // Gain of `challenger` over so many pairs, whatever they say; for calibration.
  Gain measure(const std::vector<Step>& challenger, int pairs, uint64_t seed, double* incumbent_seconds, double* challenger_seconds);

 private:
  NamedWindow window_;
  WindowOptions options_;
  Plan plan_;
  ProofRule rule_;  // of this window
  std::string source_;
  RecordingTrials runner_;
  std::string incumbent_code_;
};

}  // namespace amdahl::trust

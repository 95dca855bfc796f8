#pragma once
// Runs whole plans in worker processes: profile in place, pairs for the end-to-end gate, outputs against float64.

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "profiler/ceiling_probe.h"
#include "tuner/measurement/fresh_pairs.h"
#include "tuner/trials/trial_runner.h"
#include "tuner/trials/window_trials.h"

namespace amdahl {

class ModelTrials {
 public:
  // Ceilings are measured at the first profile, where `cache_dir` has none.
  ModelTrials(const Graph& graph, Builder& builder, const TrialOptions& options, const CeilingProbe& probe, std::string cache_dir);
  Profile profile(const Plan& plan);
  PairTrial pair(const Plan& before, const Plan& after, Distribution inputs, Random& random);
  ModelCheck check(const Plan& plan, const Draw& inputs);
  // Between two gates: others need the memory of its processes.
  void rest() { pairs_.end(); }
  const Ceilings& ceilings();

 private:
  Program program_of(const Plan& plan);
  PairSettings settings(const Program& program);
  const std::map<ValueId, std::vector<double>>& reference(const Draw& draw);

  const Graph& graph_;
  Builder& builder_;
  TrialOptions options_;
  const CeilingProbe& probe_;
  std::string cache_dir_;
  ConstantsFile constants_;
  InputSource input_source_;
  FreshPairs pairs_;
  double call_seconds_ = 0;  // of the last plan that was profiled or paired
  std::unique_ptr<Ceilings> ceilings_;
  std::map<ValueId, std::vector<double>> reference_;  // float outputs of the model in float64
  std::pair<Distribution, uint64_t> reference_of_{};  // for these inputs: those of the last check
};

}  // namespace amdahl

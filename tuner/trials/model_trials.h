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

// Of a call in which two plans of a model differ, by the distance of each one's outputs from float64, relative to their norm (infinite: not finite where they
// should be). Old outputs are off by 1.4, missing ones by 1. Two honest plans that differ by more than `tolerance` are both off: with needles among the keys of
// earlier tokens GPT-2's next token was, in half precision, off by 0.09 to 0.60 in one plan and 0.04 to 0.61 in another, that of LLaMA-160M by 0.11 to 0.48
// and 0.03 to 0.19 (H200). What is off before says little against what comes after; and a plan that is less exact than the one after it is not to blame.
AtFault who_gave_old_outputs(double before, double after, double tolerance);

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
  using Outputs = std::map<ValueId, std::vector<double>>;  // of the model in float64
  Outputs evaluated(const std::vector<Tensor>& inputs) const;
  const Outputs& reference(const Draw& draw);
  struct Deviation {
    double relative = 0;    // norm of the error over the norm of the output, the largest of all outputs; infinite where one is not finite that should be
    ValueId of = kNoValue;  // that output
    double judged = 1;      // as ModelCheck::judged
  };
  Deviation deviation_of(const Program& program, const std::vector<std::byte>& outputs, const Outputs& want) const;
  AtFault at_fault(RemoteProgram& before, RemoteProgram& after, size_t slot) const;

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
  Outputs reference_;  // for the inputs of the last check:
  std::pair<Distribution, uint64_t> reference_of_{};
};

}  // namespace amdahl

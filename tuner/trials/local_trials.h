#pragma once
// The trial runner that really compiles, runs and measures, on a device of this machine.

#include <memory>
#include <string>

#include "base/machine.h"
#include "tuner/measurement/provable_floor.h"
#include "tuner/trials/backend.h"
#include "tuner/trials/model_trials.h"
#include "tuner/trials/window_trials.h"

namespace amdahl {

class LocalTrials : public TrialRunner {
 public:
  // `cache_dir`: compiled kernels and measured ceilings. Throws Error(kNoCompiler, kIo, kUnsupported).
  LocalTrials(const Graph& graph, const Backend& backend, TrialOptions options, const std::string& cache_dir)
      : builder_(backend.make_toolchain(cache_dir), std::max(1, this_machine().units), options.worker.stop),
        window_(graph, builder_, with_workers(options, backend)),
        model_(graph, builder_, with_workers(options, backend), backend.probe(), cache_dir) {}

  const Target& target() const override { return builder_.target(); }
  std::vector<BuildResult> build(const std::vector<std::vector<Step>>& candidates) override { return builder_.build(candidates); }
  std::string enter(const WindowTask& task) override {
    task_ = task;
    model_.rest();
    return window_.enter(task);
  }
  ScreenResult screen(const std::vector<Step>& challenger, const BuildResult& built, double bar) override { return window_.screen(challenger, built, bar); }
  bool pace(const std::vector<Step>& form, const BuildResult& built) override { return window_.pace(form, built); }
  Placebos placebos(const std::vector<Step>& challenger, int first, int count) override { return window_.placebos(challenger, first, count); }
  PairTrial pair(const std::vector<Step>& challenger, const BuildResult& built, const Placebos& placebos, Random& random) override {
    PairTrial p = window_.pair(challenger, built, placebos, random);
    const auto floor = [&](const std::vector<Step>& steps) { return provable_floor(steps, p.instances, task_.threads, ceilings()); };
    if (!p.failure) p.below_floor = below_floor(p.pair.timing.seconds_a, floor(task_.incumbent), p.pair.timing.seconds_b, floor(challenger));
    return p;
  }
  Profile profile(const Plan& plan) override { return model_.profile(plan); }
  PairTrial model_pair(const Plan& before, const Plan& after, Distribution inputs, Random& random) override {
    return model_.pair(before, after, inputs, random);
  }
  ModelCheck check_model(const Plan& plan, const Draw& inputs) override { return model_.check(plan, inputs); }
  const Ceilings& ceilings() { return model_.ceilings(); }
  const Toolchain& toolchain() const { return builder_.toolchain(); }

 private:
  static TrialOptions with_workers(TrialOptions options, const Backend& backend) {
    options.worker.backend = &backend.workers();
    return options;
  }

  WindowTask task_;
  Builder builder_;
  WindowTrials window_;
  ModelTrials model_;
};

}  // namespace amdahl

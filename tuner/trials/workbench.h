#pragma once
// The laboratory that really compiles, runs and measures, on a device of this machine.

#include <memory>
#include <string>

#include "base/machine.h"
#include "tuner/measurement/provable_floor.h"
#include "tuner/trials/backend.h"
#include "tuner/trials/model_bench.h"
#include "tuner/trials/window_bench.h"

namespace amdahl {

class Workbench : public Laboratory {
 public:
  // `cache_dir`: compiled kernels and measured ceilings. Throws Error(kNoCompiler, kIo, kUnsupported).
  Workbench(const Graph& graph, const Backend& backend, BenchOptions options, const std::string& cache_dir)
      : builder_(backend.make_toolchain(cache_dir), std::max(1, this_machine().units), options.worker.stop),
        window_(graph, builder_, with_workers(options, backend)),
        model_(graph, builder_, with_workers(options, backend), backend.probe(), cache_dir) {}

  const Target& target() const override { return builder_.target(); }
  std::vector<Built> build(const std::vector<std::vector<Step>>& candidates) override { return builder_.build(candidates); }
  std::string enter(const WindowTask& task) override {
    task_ = task;
    return window_.enter(task);
  }
  Screened screen(const std::vector<Step>& challenger, const Built& built, double bar) override { return window_.screen(challenger, built, bar); }
  bool pace(const std::vector<Step>& form, const Built& built) override { return window_.pace(form, built); }
  Placebos placebos(const std::vector<Step>& challenger, int first, int count) override { return window_.placebos(challenger, first, count); }
  Paired pair(const std::vector<Step>& challenger, const Built& built, const Placebos& placebos, Random& random) override {
    Paired p = window_.pair(challenger, built, placebos, random);
    const auto floor = [&](const std::vector<Step>& steps) { return provable_floor(steps, p.instances, task_.threads, ceilings()); };
    if (!p.failure) p.below_floor = below_floor(p.pair.timing.seconds_a, floor(task_.incumbent), p.pair.timing.seconds_b, floor(challenger));
    return p;
  }
  Profile profile(const Plan& plan) override { return model_.profile(plan); }
  Paired model_pair(const Plan& before, const Plan& after, Family inputs, Random& random) override { return model_.pair(before, after, inputs, random); }
  ModelCheck check_model(const Plan& plan, const Draw& inputs) override { return model_.check(plan, inputs); }
  const Ceilings& ceilings() { return model_.ceilings(); }
  const Toolchain& toolchain() const { return builder_.toolchain(); }

 private:
  static BenchOptions with_workers(BenchOptions options, const Backend& backend) {
    options.worker.backend = &backend.workers();
    return options;
  }

  WindowTask task_;
  Builder builder_;
  WindowBench window_;
  ModelBench model_;
};

}  // namespace amdahl

#include "bench/trust/window_under_test.h"

#include <fmt/format.h>

#include <limits>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/statistics.h"
#include "bench/trust/drawn_again.h"
#include "starter_kernels/toolchain/cpu_toolchain.h"

namespace amdahl::trust {
namespace {

TrialOptions trial_options(const WindowOptions& options) {
  TrialOptions b;
  b.worker.threads = options.threads;
  b.worker.stop = &interrupt_flag();
  b.seed = options.seed;
  b.pair_seconds = options.pair_seconds;
  return b;
}

}  // namespace

WindowUnderTest::WindowUnderTest(const std::string& name, const WindowOptions& options)
    : window_(make_window(name)),
      options_(options),
      plan_(starter_plan(window_.graph, options.threads, target())),
      rule_(options.rules.of(plan_.steps)),
      runner_(window_.graph, *options.backend, trial_options(options), default_cache_dir()) {
  const Variant& starter = plan_.steps.at(0).variant;
  source_ = target().source(starter);
}

std::vector<Step> WindowUnderTest::with_source(const std::string& text) const {
  std::vector<Step> steps = plan_.steps;
  steps.at(0).variant.source_override = text;
  return steps;
}

BuildResult WindowUnderTest::build(const std::vector<Step>& steps) {
  BuildResult built = runner_.build({steps})[0];
  if (built.failure_code == "forbidden-instruction") throw RefusedByScan(fmt::format("{}: the scan refuses an edited kernel: {}", name(), built.message));
  if (!built.ok) throw Error(ExitCode::kInternal, fmt::format("{}: an edited kernel does not compile: {}", name(), built.message));
  return built;
}

void WindowUnderTest::enter(const std::vector<Step>& incumbent) {
  incumbent_code_ = build(incumbent).code;
  WindowTask task;
  task.signature = signature(window_.graph, plan_, Window{{0}});
  task.io = io_of(window_.graph, plan_, Window{{0}});
  task.incumbent = incumbent;
  task.threads = options_.threads;
  if (const std::string unusable = runner_.enter(task); !unusable.empty())
    throw Error(ExitCode::kInternal, fmt::format("{} cannot be judged: {}", name(), unusable));
}

void WindowUnderTest::run(Trial& trial, const std::vector<Step>& challenger, bool forced) {
  const BuildResult built = build(challenger);
  trial.build_seconds = built.seconds;
  // The tuner would drop it here. Two arms of the same code are the point of the A/A study.
  trial.twin = built.code == incumbent_code_ && trial.study != "aa";
  trial.seconds = built.seconds;
  if (trial.twin) return;
  Pipeline(runner_, rule_, forced).run(trial, challenger, built);
}

Gain WindowUnderTest::measure(const std::vector<Step>& challenger, int pairs, uint64_t seed, double* incumbent_seconds, double* challenger_seconds) {
  const BuildResult built = build(challenger);
  const ScreenResult screened = runner_.screen(challenger, built, -std::numeric_limits<double>::infinity());
  if (screened.failure)
    throw Error(ExitCode::kInternal, fmt::format("{}: a planted kernel fails at {}: {}", name(), screened.failure->stage, screened.failure->reason));
  // More builds than a proof takes: what is measured here is the truth that proofs are held against, and builds of a layer
  // normalisation differ by 2%.
  constexpr int kBuilds = 24;
  const Placebos placebos = runner_.placebos(challenger, 1, kBuilds);
  if (!placebos.message.empty()) throw Error(ExitCode::kInternal, fmt::format("{}: a placebo build of a planted kernel fails: {}", name(), placebos.message));
  Random random(seed);
  std::vector<double> ratios, a, b;
  while (static_cast<int>(ratios.size()) < pairs) {
    const PairTrial paired = runner_.pair(challenger, built, placebos, random);
    if (paired.failure) throw Error(ExitCode::kInternal, fmt::format("{}: a planted kernel fails: {}", name(), paired.failure->reason));
    ratios.push_back(paired.pair.timing.log_ratio);
    a.push_back(paired.pair.timing.seconds_a);
    b.push_back(paired.pair.timing.seconds_b);
  }
  *incumbent_seconds = median(a);
  *challenger_seconds = median(b);
  return estimate(ratios);
}

}  // namespace amdahl::trust

// amdahl replay FILE N: one experiment once more, from the session's record.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/counted.h"
#include "base/error.h"
#include "base/shell_word.h"
#include "cli/model_options.h"
#include "cli/number_option.h"
#include "cli/open_session.h"
#include "cli/progress.h"
#include "cli/session_model.h"
#include "starter_kernels/cpu/cpu_target.h"
#include "tuner/trials/workbench.h"

namespace amdahl {
namespace {

void declare(Options& options) {
  options.word("session");
  options.word("number");
  declare_model_file(options);
  options.named.add_options()                                                                            //
      ("pairs", whole_number(0, 10'000)->default_value(7)->value_name("N"), "pairs of fresh processes, 0 for none")  //
      ("source", po::bool_switch(), "print the texts of the challenger's kernels and stop");
}

const Experiment& find(const std::vector<Experiment>& all, const std::string& text, const std::string& path) {
  for (const Experiment& e : all)
    if (fmt::format("{}", e.id) == text) return e;
  throw Error(ExitCode::kUsage, fmt::format("{} has no experiment '{}': it holds 1 to {}; `amdahl report {}` lists them", path, text,
                                            all.empty() ? 0 : all.back().id, shell_word(path)));
}

Plan plan_of(const Session& session, int64_t id) {
  for (const PlanRecord& p : session.plans())
    if (p.id == id) return p.plan.get<Plan>();
  throw Error(ExitCode::kSessionDamaged, fmt::format("the session lacks plan {} that the experiment started from", id));
}

WindowTask task_of(const OpenSession& open, const Experiment& e) {
  const Plan plan = plan_of(*open.session, e.plan);
  WindowTask task;
  task.signature = e.signature;
  task.io = io_of(open.graph, plan, {e.steps});
  for (int s : e.steps) task.incumbent.push_back(plan.steps[static_cast<size_t>(s)]);
  task.threads = open.options.threads;
  return task;
}

// Log ratios of pairs that nobody disturbed. Throws Error(kNotVerified) when the challenger fails in one.
std::vector<double> measure_pairs(Workbench& bench, const std::vector<Step>& challenger, const Built& built, int pairs, uint64_t seed, Progress& progress) {
  Random random(seed);
  std::vector<double> ratios;
  for (int p = 0; p < pairs; ++p) {
    progress.update(p, pairs, "pairs of fresh processes");
    const Paired pair = bench.pair(challenger, built, {}, random);
    if (pair.failure) throw Error(ExitCode::kNotVerified, pair.failure->reason);
    if (pair.pair.dropped.empty()) ratios.push_back(pair.pair.timing.log_ratio);
  }
  return ratios;
}

// Validates and times what was built; what comes of it now, in a line.
std::string try_again(Workbench& bench, const WindowTask& task, const Experiment& e, const Built& built, int pairs, Progress& progress) {
  const auto challenger = e.replacement.get<std::vector<Step>>();
  if (!built.ok) return fmt::format("{}: {}", name_of(built.outcome()), built.message);
  if (const std::string why = bench.enter(task); !why.empty()) return "this window cannot be judged: " + why;
  progress.update(0, 0, "validating");
  const Screened screened = bench.screen(challenger, built, -INFINITY);  // all stages, however slow it is
  if (const auto& f = screened.failure) return fmt::format("{} at {}: {} (seed {})", name_of(f->outcome), f->stage, f->reason, f->seed);
  const std::vector<double> ratios = measure_pairs(bench, challenger, built, pairs, e.seed, progress);
  const std::string passes = fmt::format("passes validation; race {:.3f}x", std::exp(screened.race.log_ratio));
  if (ratios.empty()) return passes;
  const Gain g = estimate(ratios);
  return fmt::format("{}, {} of fresh processes {:.3f}x [{:.3f}, {:.3f}]", passes, counted(g.pairs, "pair"), std::exp(g.log), std::exp(g.lo), std::exp(g.hi));
}

int run(const po::variables_map& values, const GlobalOptions& global) {
  const std::string path = required_word(values, "session", "FILE, a session");
  const std::string number = required_word(values, "number", "N, the number of an experiment");
  const OpenSession open = open_session(path, Session::Access::kRead, global, model_file(values));
  const std::vector<Experiment> all = open.session->experiments();
  const Experiment& e = find(all, number, path);
  const auto challenger = e.replacement.get<std::vector<Step>>();
  if (values["source"].as<bool>()) {
    for (const Step& s : challenger) fmt::print("{}\n", cpu_target().source(s.variant));
    return 0;
  }
  const WindowTask task = task_of(open, e);
  Workbench bench(open.graph, cpu_backend(), bench_options(open.options, open.options.judged_seed()), global.cache_dir);
  Progress progress("replaying", global.progress());
  progress.update(0, 0, "building");
  const Built built = bench.build({challenger}).at(0);
  fmt::print("experiment {}: {} on {}\nthen   {} at {}: {}\n", e.id, e.rewrite, e.window, name_of(e.outcome), e.stage, e.reason);
  fmt::print("now    {}\n", try_again(bench, task, e, built, values["pairs"].as<int>(), progress));
  return 0;
}

}  // namespace

const Command kReplayCommand{"replay", "FILE N [options]", "repeats one experiment of a session",
                             "Builds, validates and times the challenger of experiment N against its incumbent again.", declare, run};

}  // namespace amdahl

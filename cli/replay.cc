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
#include "tuner/search/window_task.h"
#include "tuner/trials/local_trials.h"

namespace amdahl {
namespace {

void declare(Options& options) {
  options.word("session");
  options.word("number");
  declare_model_file(options);
  options.named.add_options()                                                                                        //
      ("pairs", whole_number(0, 10'000)->default_value(7)->value_name("N"), "pairs of fresh processes, 0 for none")  //
      ("source", po::bool_switch(), "print the texts of the challenger's kernels and stop");
}

struct Arguments {
  std::string session, number, model_file;
  int pairs = 0;
  bool source = false;
};

Arguments read(const po::variables_map& values) {
  Arguments a;
  a.session = read_word(values, "session", "FILE, a session");
  a.number = read_word(values, "number", "N, the number of an experiment");
  a.model_file = read_model_file(values);
  a.pairs = values["pairs"].as<int>();
  a.source = values["source"].as<bool>();
  return a;
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

// Log ratios of pairs of fresh processes, without those that others disturbed.
std::vector<double> time_pairs(LocalTrials& trials, const std::vector<Step>& challenger, const BuildResult& built, uint64_t seed, int pairs,
                               Progress& progress) {
  Random random(seed);
  std::vector<double> ratios;
  for (int p = 0; p < pairs; ++p) {
    progress.update(p, pairs, "pairs of fresh processes");
    const PairTrial pair = trials.pair(challenger, built, {}, random);
    if (pair.failure) throw Error(exit_code(*pair.failure, ExitCode::kNotVerified), pair.failure->reason);
    if (pair.pair.dropped.empty()) ratios.push_back(pair.pair.timing.log_ratio);
  }
  return ratios;
}

std::string pairs_text(const std::vector<double>& ratios) {
  if (ratios.empty()) return "";
  const Gain g = estimate(ratios);
  return fmt::format(", {} of fresh processes {:.3f}x [{:.3f}, {:.3f}]", counted(g.pairs, "pair"), std::exp(g.log), std::exp(g.lo), std::exp(g.hi));
}

int repeat(const OpenSession& open, const Experiment& e, int pairs, const GlobalOptions& global) {
  const auto challenger = e.replacement.get<std::vector<Step>>();
  WindowTask task = window_task(open.graph, plan_of(*open.session, e.plan), e.signature, {e.steps});
  task.threads = open.options.threads;

  LocalTrials trials(open.graph, *open.backend, trial_options(open.options, open.options.judged_seed()), global.cache_dir);
  Progress progress("replaying", global.progress());
  progress.update(0, 0, "building");
  const BuildResult built = trials.build({challenger}).at(0);
  fmt::print("experiment {}: {} on {}\nthen   {} at {}: {}\n", e.id, e.rewrite, e.window, name_of(e.outcome), e.stage, e.reason);
  if (!built.ok) {
    fmt::print("now    {}: {}\n", name_of(built.outcome()), built.message);
    return 0;
  }
  if (const std::string why = trials.enter(task); !why.empty()) {
    fmt::print("now    this window cannot be judged: {}\n", why);
    return 0;
  }
  progress.update(0, 0, "validating");
  const ScreenResult screened = trials.screen(challenger, built, -INFINITY);  // all stages, however slow it is
  if (screened.failure) {
    fmt::print("now    {} at {}: {} (seed {})\n", name_of(screened.failure->outcome), screened.failure->stage, screened.failure->reason,
               screened.failure->seed);
    return 0;
  }
  const std::vector<double> ratios = time_pairs(trials, challenger, built, e.seed, pairs, progress);
  fmt::print("now    passes validation; race {:.3f}x{}\n", std::exp(screened.race.log_ratio), pairs_text(ratios));
  return 0;
}

int run(const Arguments& arguments, const GlobalOptions& global) {
  const OpenSession open = open_session(arguments.session, Session::Access::kRead, global, arguments.model_file);
  const std::vector<Experiment> all = open.session->experiments();
  const Experiment& e = find(all, arguments.number, arguments.session);
  if (!arguments.source) return repeat(open, e, arguments.pairs, global);
  for (const Step& s : e.replacement.get<std::vector<Step>>()) fmt::print("{}\n", open.backend->target().source(s.variant));
  return 0;
}

}  // namespace

const Command kReplayCommand{"replay",
                             "FILE N [options]",
                             "repeats one experiment of a session",
                             "Builds, validates and times the challenger of experiment N against its incumbent again.",
                             declare,
                             [](const po::variables_map& values, const GlobalOptions& global) { return run(read(values), global); }};

}  // namespace amdahl

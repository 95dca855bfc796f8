#include "bench/ablation/arm.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/interrupt.h"
#include "bench/ablation/policies.h"
#include "bench/ablation/timed_trials.h"
#include "bench/ablation/timeline.h"
#include "cli/find_noise.h"
#include "cli/open_session.h"
#include "playbook/first_plan.h"
#include "playbook/playbook.h"
#include "starter_kernels/cpu/cpu_target.h"
#include "starter_kernels/toolchain/cpu_toolchain.h"
#include "tuner/search/headline.h"
#include "tuner/trials/local_trials.h"

namespace amdahl::ablation {
namespace {

namespace fs = std::filesystem;

std::vector<const Rewrite*> without_tier(int tier) {
  std::vector<const Rewrite*> rest;
  for (const Rewrite* r : playbook())
    if (r->tier() != tier) rest.push_back(r);
  return rest;
}

TuneOptions options_for(const Budget& budget, const GlobalOptions& global) {
  TuneOptions options;
  options.seconds = 60 * budget.minutes;
  options.seed = budget.seed;
  options.threads = global.threads;
  set_rules_for(*find_machine_noise(global, NoiseForm::kCachedOrShort), options.rules);
  return options;
}

// The plan of each moment against the starter plan, both as wholes. Equal plans are measured once.
Json measure_moments(TrialRunner& runner, const SessionStore& store, const std::vector<Win>& wins, const Plan& starter, const Budget& budget, Random& random) {
  std::map<int64_t, Plan> plans;
  for (const PlanRecord& p : store.plans()) plans[p.id] = p.plan.get<Plan>();
  const int64_t first = plans.begin()->first;
  std::map<int64_t, Headline> known;
  Json moments = Json::array();
  for (double minutes : budget.at) {
    const int64_t plan = plan_after(wins, 60 * minutes, first);
    if (plan != first && !known.count(plan)) {
      HeadlineOptions options;
      options.plan = plan;
      options.pairs = budget.pairs;
      options.seed = random.next();
      known[plan] = measure_headline(runner, starter, plans.at(plan), options);
    }
    moments.push_back({{"minutes", minutes}, {"gain", plan == first ? Gain{} : known.at(plan).gain}, {"predicted", log_after(wins, 60 * minutes)}});
  }
  return moments;
}

}  // namespace

std::string stem_of(const Arm& arm) {
  std::string stem = arm.name;
  std::replace(stem.begin(), stem.end(), ' ', '-');
  return stem;
}

std::vector<Arm> arms() {
  static const RandomOrder random_order;
  static const PlaybookOrder playbook_order;
  std::vector<Arm> all{{"everything", playbook(), &most_gain_a_second()}};
  for (int tier = 1; tier <= 6; ++tier) all.push_back({fmt::format("without tier {}", tier), without_tier(tier), &most_gain_a_second()});
  all.push_back({"random order", playbook(), &random_order});
  all.push_back({"playbook order", playbook(), &playbook_order});
  return all;
}

Json run_arm(const Arm& arm, const std::string& model, const Graph& graph, const Budget& budget, const std::string& folder, const GlobalOptions& global) {
  const TuneOptions options = options_for(budget, global);
  fs::remove_all(global.cache_dir + "/kernels");  // no arm is spared the compilations of the one before
  const std::string path = fmt::format("{}/{}.amdahl", folder, stem_of(arm));
  for (const char* rest : {"", "-lock", "-wal", "-shm"}) fs::remove(path + rest);
  const std::unique_ptr<Session> session =
      Session::create(path, identity_of(model, path, {BucketSizes{}}, graph, cpu_backend(), CpuToolchain(global.cache_dir).description()));
  LocalTrials trials(graph, cpu_backend(), trial_options(options, options.seed), global.cache_dir);
  trials.ceilings();  // measured once for all arms, in no arm's time
  TimedTrials timed(trials);
  ProofTimes times(timed);
  const TuneSummary summary = Tuner({graph, *session, timed, arm.rewrites, options, times, interrupt_flag(), {}, *arm.policy}).run();
  if (summary.end == TuneEnd::kStopped) throw Stopped{};
  const std::vector<Win> wins = wins_of(*session, times.proven_at());
  Random random(options.seed);
  const double spent = summary.status.seconds_spent;
  Json phases = timed.seconds();
  double known = 0;
  for (const auto& [phase, seconds] : timed.seconds()) known += seconds;
  phases["other"] = spent - known;
  return {{"arm", arm.name},     {"model", model},
          {"seed", budget.seed}, {"end", summary.why},
          {"seconds", spent},    {"experiments", session->experiments().size()},
          {"kept", wins.size()}, {"seconds_to_90", seconds_to(wins, 0.9)},
          {"phases", phases},    {"moments", measure_moments(trials, *session, wins, first_plan(graph, options.threads, cpu_target()), budget, random)}};
}

}  // namespace amdahl::ablation

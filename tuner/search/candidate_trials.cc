#include "tuner/search/candidate_trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/counted.h"
#include "tuner/search/seeds.h"
#include "tuner/search/trial_costs.h"
#include "tuner/search/trial_history.h"
#include "tuner/search/verdict.h"

namespace amdahl {

std::string CandidateTrials::enter(const Campaign& c) {
  progress_.set_subject(std::string(c.target().rewrite->name()), c.target().describe(state_.head()));
  progress_.say("preparing the judge");
  const double start = runner_.now();
  const std::string unusable = runner_.enter(c.task());
  const double seconds = state_.since(start);
  state_.spend("judge", seconds);
  // Half a second is for starting processes, however small the window.
  if (ready_.insert(c.task().signature).second) runs_to_enter_ = std::max(runs_to_enter_, (seconds - 0.5) / std::max(c.run_seconds(), 1e-4));
  if (!unusable.empty()) return unusable;
  const BuildResult incumbent = runner_.build({c.task().incumbent})[0];
  if (incumbent.ok) codes_of(c.target().signature).try_emplace(incumbent.code, 0);
  return "";
}

double CandidateTrials::seconds_to_first_verdict(const Opportunity& target) const {
  const double run_seconds = Campaign::run_seconds_of(target);
  const double enter = ready_.count(target.signature) ? 0 : std::min(runs_to_enter_ * run_seconds, 0.25 * context_.options.seconds);
  return enter + runs_of_candidate(run_seconds);
}

std::vector<Proposal> CandidateTrials::proposals(const Campaign& c, const Opportunity& o) const {
  const int most = candidates_of_batch(c.run_seconds(), context_.options.batch);
  const int count = static_cast<int>(std::min<int64_t>(most, budget_.experiments_left(/*without_limit=*/most)));
  if (count <= 0) return {};
  std::set<std::string> tried = tried_on(state_, c.target().signature);
  tried.insert(c.incumbent());
  Random random = random_for(context_.options, state_.next_experiment(), 0x5ea7c4);
  const auto form_of = [&](const std::vector<Step>& replacement) { return c.form(o.match, replacement); };
  return propose(o.match, form_of, runner_.target(), tried, count, random);
}

bool CandidateTrials::batch(Campaign& c, const Rewrite& rewrite, const std::vector<Proposal>& proposals) {
  progress_.set_rewrite(std::string(rewrite.name()));
  progress_.say("building " + counted(proposals.size(), "candidate"));
  std::vector<std::vector<Step>> forms;
  for (const Proposal& p : proposals) forms.push_back(p.steps);
  const double build_start = runner_.now();
  const std::vector<BuildResult> built = runner_.build(forms);
  const double build_seconds = state_.since(build_start) / static_cast<double>(proposals.size());

  progress_.say("validating and racing");
  const Proposal* fastest = nullptr;
  double bar = c.bar_for(rewrite);
  for (size_t i = 0; i < proposals.size() && !budget_.out_of_time(); ++i) {
    progress_.check_stop();
    if (c.best() && budget_.must_prove_now(c.run_seconds())) break;  // to judge 64 MiB takes 3 to 5 s a candidate
    Experiment e = start(c, rewrite, proposals[i]);
    e.seconds.build = build_seconds;
    if (built[i].ok) e.object_code = built[i].code;
    if (!screen(e, c, proposals[i], built[i]) || e.race_log_ratio <= bar) continue;
    fastest = &proposals[i];
    c.lead(e, *fastest, built[i], /*sets_pace=*/runner_.pace(fastest->steps, built[i]));
    bar = c.next_bar();
  }
  if (fastest) c.assume(fastest->steps);
  return fastest;
}

Experiment CandidateTrials::start(const Campaign& c, const Rewrite& rewrite, const Proposal& p) const {
  const Opportunity& target = c.target();
  Experiment e;
  e.id = state_.next_experiment();
  e.rewrite = rewrite.name();
  e.tier = rewrite.tier();
  if (const Experiment* earlier = taken_up_again(state_, target.signature, p.id)) {
    e.id = earlier->id;
    e.rewrite = earlier->rewrite;
    e.tier = earlier->tier;
    if (won_its_race(*earlier) && earlier->incumbent == c.incumbent()) {  // its proof was given up: all the pairs of that count
      e.prove_log_ratios = earlier->prove_log_ratios;
      e.seconds.prove = earlier->seconds.prove;
      e.pairs_dropped = earlier->pairs_dropped;
      e.dropped_log_ratios = earlier->dropped_log_ratios;
    }
  }
  e.signature = target.signature;
  e.window = target.describe(state_.head());
  e.plan = state_.head_id();
  e.steps = target.windows[0].steps;
  e.occurrences = static_cast<int>(target.windows.size());
  e.candidate = p.id;
  e.incumbent = c.incumbent();
  e.replacement = p.steps;
  e.origin = known_.origin_of(state_, target.signature, p);
  e.knobs = p.knobs;
  e.seed = judged_random(context_.options, e.id, 0).next() >> 1;
  e.share = c.share();
  return e;
}

// True when the candidate came to its race. Always records it.
bool CandidateTrials::screen(Experiment& e, Campaign& c, const Proposal& p, const BuildResult& built) {
  if (!built.ok) {
    e.code = built.failure_code;
    end(e, built.outcome(), "build", built.message);
    return false;
  }
  const auto [twin, is_new] = codes_of(e.signature).try_emplace(built.code, e.id);
  if (!is_new && twin->second != e.id) {
    end(e, Outcome::kReverted, "build",
        twin->second == 0 ? "compiles to the incumbent's object code" : fmt::format("compiles to the object code of experiment {}", twin->second));
    return false;
  }
  const ScreenResult s = runner_.screen(p.steps, built, c.best_ratio() - c.pace_ratio());
  e.seconds.validate = s.validate_seconds;
  e.seconds.race = s.race_seconds;
  if (s.pace_lost) c.lose_pace();
  if (s.failure) {
    set_verdict(e, *s.failure);
  } else {
    e.race_log_ratio = c.pace_ratio() + s.race.log_ratio;
    e.incumbent_seconds = s.race.seconds_a * std::exp(c.pace_ratio());
    e.challenger_seconds = s.race.seconds_b;
    judge_race(e, c, p);
  }
  state_.record(e);
  return !s.failure;
}

void CandidateTrials::judge_race(Experiment& e, const Campaign& c, const Proposal& p) const {
  const double delta = context_.options.rules.of(p.steps).rule.delta;
  const std::string came_to = fmt::format("{:+.1f}% in the race", percent(e.race_log_ratio));
  if (e.race_log_ratio > c.bar_for_proof(delta)) return set_verdict(e, Outcome::kInconclusive, "race", came_to + ", not proven");
  const bool another_is_better = c.best() && e.race_log_ratio > delta;
  set_verdict(e, Outcome::kReverted, "race",
              another_is_better ? fmt::format("{}, experiment {} has {:+.1f}%", came_to, c.best()->experiment.id, percent(c.best_ratio())) : came_to);
}

void CandidateTrials::end(Experiment& e, Outcome outcome, const std::string& stage, const std::string& reason) {
  set_verdict(e, outcome, stage, reason);
  state_.record(e);
}

// What was taken back may come again, and must not be refused as a twin of itself.
std::map<std::string, int64_t>& CandidateTrials::codes_of(const std::string& signature) {
  if (take_backs_ != state_.take_backs()) codes_.clear();
  take_backs_ = state_.take_backs();
  return codes_[signature];
}

}  // namespace amdahl

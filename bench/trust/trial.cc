#include "bench/trust/trial.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "base/clock.h"
#include "base/interrupt.h"
#include "tuner/search/proof.h"

namespace amdahl::trust {
namespace {

std::string text_of(const Failure& f) { return fmt::format("{} at {}: {}", f.code, f.stage, f.reason); }

// Times are logged in whole nanoseconds: a tenth of the size, and no clock is finer.
std::vector<int64_t> to_ns(const std::vector<double>& seconds) {
  std::vector<int64_t> ns;
  for (double s : seconds) ns.push_back(std::llround(1e9 * s));
  return ns;
}
std::vector<double> from_ns(const Json& j) {
  std::vector<double> seconds;
  for (const Json& ns : j) seconds.push_back(1e-9 * ns.get<double>());
  return seconds;
}

Json json_of(const LoggedPair& p) {
  Json j{{"d", p.log_ratio}, {"a_ns", to_ns(p.a)}, {"b_ns", to_ns(p.b)}, {"wealth", p.wealth}, {"seconds", p.seconds}};
  if (!p.dropped.empty()) j["dropped"] = p.dropped;
  return j;
}

LoggedPair pair_of(const Json& j) { return {j.at("d"), from_ns(j.at("a_ns")), from_ns(j.at("b_ns")), j.value("dropped", ""), j.at("wealth"), j.at("seconds")}; }

// `counted`: the log ratios among `pairs` that the test saw, in order.
LoggedStage stage_of(const std::string& name, std::vector<LoggedPair> pairs, const std::vector<double>& counted, const DecisionRule& rule) {
  SignTest test(rule);
  size_t next = 0;
  for (LoggedPair& p : pairs) {
    // Where the machine is never quiet, pairs come to count whatever was wrong with them.
    if (next < counted.size() && p.log_ratio == counted[next]) {
      p.dropped.clear();
      test.add(counted[next++]);
    }
    p.wealth = test.wealth();
  }
  return {name, std::move(pairs), test.wealth(), test.verdict() == SignTest::Verdict::kPassed};
}

}  // namespace

std::vector<double> LoggedStage::counted() const {
  std::vector<double> ratios;
  for (const LoggedPair& p : pairs)
    if (p.dropped.empty()) ratios.push_back(p.log_ratio);
  return ratios;
}

void to_json(Json& j, const Trial& t) {
  Json stages = Json::array();
  for (const LoggedStage& s : t.stages) {
    Json pairs = Json::array();
    for (const LoggedPair& p : s.pairs) pairs.push_back(json_of(p));
    stages.push_back({{"name", s.name}, {"pairs", pairs}, {"wealth", s.wealth}, {"passed", s.passed}});
  }
  j = Json{{"study", t.study},
           {"window", t.window},
           {"number", t.number},
           {"seed", t.seed},
           {"edits", t.edits},
           {"effect", t.effect},
           {"true_log", t.true_log},
           {"rule",
            {{"delta", t.rule.delta},
             {"wealth", t.rule.wealth},
             {"max_pairs", t.rule.max_pairs},
             {"futility_pairs", t.rule.futility_pairs},
             {"builds", t.rule.builds}}},
           {"refused", t.refused},
           {"twin", t.twin},
           {"failure", t.failure},
           {"race", t.race_log_ratio},
           {"race_won", t.race_won},
           {"stages", stages},
           {"proven", t.proven},
           {"gain", t.gain},
           {"build_seconds", t.build_seconds},
           {"screen_seconds", t.screen_seconds},
           {"seconds", t.seconds}};
}

void from_json(const Json& j, Trial& t) {
  t.study = j.at("study");
  t.window = j.at("window");
  t.number = j.at("number");
  t.seed = j.at("seed");
  t.edits = j.at("edits");
  t.effect = j.at("effect");
  t.true_log = j.at("true_log");
  const Json& rule = j.at("rule");
  t.rule.delta = rule.at("delta");
  t.rule.wealth = rule.at("wealth");
  t.rule.max_pairs = rule.at("max_pairs");
  t.rule.futility_pairs = rule.at("futility_pairs");
  t.rule.builds = rule.at("builds");
  t.refused = j.value("refused", 0);  // logs of before
  t.twin = j.at("twin");
  t.failure = j.at("failure");
  t.race_log_ratio = j.at("race");
  t.race_won = j.at("race_won");
  for (const Json& stage : j.at("stages")) {
    LoggedStage s{stage.at("name"), {}, stage.at("wealth"), stage.at("passed")};
    for (const Json& p : stage.at("pairs")) s.pairs.push_back(pair_of(p));
    t.stages.push_back(std::move(s));
  }
  t.proven = j.at("proven");
  t.gain = j.at("gain");
  t.build_seconds = j.at("build_seconds");
  t.screen_seconds = j.at("screen_seconds");
  t.seconds = j.at("seconds");
}

void Pipeline::run(Trial& trial, const std::vector<Step>& challenger, const BuildResult& built) {
  const auto start = Clock::now();
  trial.rule = rule_;
  trial.build_seconds = built.seconds;
  if (screen(trial, challenger, built) && (trial.race_won || forced_)) {
    trial.proven = gather(trial, "prove", challenger, built, 1, 0x9407e) && gather(trial, "confirm", challenger, built, 1 + rule_.builds, 0xc0f1f);
    if (trial.proven) trial.gain = estimate(trial.stages.back().counted());
  }
  trial.seconds = built.seconds + since(start);
}

bool Pipeline::screen(Trial& trial, const std::vector<Step>& challenger, const BuildResult& built) {
  // A forced trial must not be dropped by its first heat: then half of its validation would be missing.
  const double bar = forced_ ? -std::numeric_limits<double>::infinity() : 0;
  const ScreenResult screened = runner_.screen(challenger, built, bar);
  trial.screen_seconds = screened.validate_seconds + screened.race_seconds;
  trial.race_log_ratio = screened.race.log_ratio;
  if (screened.failure) {
    trial.failure = text_of(*screened.failure);
    return false;
  }
  trial.race_won = screened.race.log_ratio > rule_.delta && screened.race.log_ratio >= hopeful_gain_;
  return true;
}

// One stage of evidence on fresh pairs.
bool Pipeline::gather(Trial& trial, const std::string& stage, const std::vector<Step>& challenger, const BuildResult& built, int first_build, uint64_t salt) {
  Random random(trial.seed ^ salt);
  runner_.take_pairs();
  const Evidence evidence = gather_evidence(runner_, rule_, challenger, built, first_build, random, [](const std::vector<double>&) {
    if (interrupted()) throw Stopped{};
    return false;
  });
  if (evidence.failure) trial.failure = text_of(*evidence.failure);
  trial.stages.push_back(stage_of(stage, runner_.take_pairs(), evidence.log_ratios, rule_));
  return evidence.end == Evidence::End::kPassed;
}

}  // namespace amdahl::trust

#include "experiments/experiment.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"

namespace amdahl {
namespace {

constexpr std::array<std::string_view, 8> kOutcomeNames = {"kept", "reverted", "inconclusive", "build-failed", "crashed", "timed-out", "wrong", "mistrusted"};

}  // namespace

std::string_view name_of(Outcome outcome) { return kOutcomeNames[static_cast<size_t>(outcome)]; }

Outcome outcome_from_name(std::string_view name) {
  for (size_t i = 0; i < kOutcomeNames.size(); ++i) {
    if (kOutcomeNames[i] == name) return static_cast<Outcome>(i);
  }
  throw Error(ExitCode::kSessionDamaged, "session holds an unknown outcome '" + std::string(name) + "'");
}

double model_gain(double share, double log_gain) { return -std::log1p(std::min(0.999, share) * std::expm1(-log_gain)); }

void to_json(Json& j, const Headline& h) {
  j = Json{{"plan", h.plan}, {"gain", h.gain},    {"starter_seconds", h.starter_seconds}, {"kept_seconds", h.kept_seconds}, {"pairs_dropped", h.pairs_dropped},
           {"seed", h.seed}, {"inputs", h.inputs}};
}

void from_json(const Json& j, Headline& h) {
  j.at("plan").get_to(h.plan);
  j.at("gain").get_to(h.gain);
  j.at("starter_seconds").get_to(h.starter_seconds);
  j.at("kept_seconds").get_to(h.kept_seconds);
  h.pairs_dropped = j.value("pairs_dropped", h.pairs_dropped);
  h.seed = j.value("seed", h.seed);
  h.inputs = j.value("inputs", h.inputs);
}

void to_json(Json& j, const Gain& g) { j = Json{{"log", g.log}, {"lo", g.lo}, {"hi", g.hi}, {"pairs", g.pairs}}; }

void from_json(const Json& j, Gain& g) {
  j.at("log").get_to(g.log);
  j.at("lo").get_to(g.lo);
  j.at("hi").get_to(g.hi);
  j.at("pairs").get_to(g.pairs);
}

void to_json(Json& j, const Experiment& e) {
  j = Json{
      {"id", e.id},
      {"rewrite", e.rewrite},
      {"tier", e.tier},
      {"signature", e.signature},
      {"window", e.window},
      {"plan", e.plan},
      {"steps", e.steps},
      {"occurrences", e.occurrences},
      {"candidate", e.candidate},
      {"incumbent", e.incumbent},
      {"replacement", e.replacement},
      {"origin", e.origin},
      {"object_code", e.object_code},
      {"knobs", e.knobs},
      {"outcome", name_of(e.outcome)},
      {"stage", e.stage},
      {"code", e.code},
      {"reason", e.reason},
      {"seed", e.seed},
      {"incumbent_seconds", e.incumbent_seconds},
      {"challenger_seconds", e.challenger_seconds},
      {"race_log_ratio", e.race_log_ratio},
      {"prove_log_ratios", e.prove_log_ratios},
      {"confirm_log_ratios", e.confirm_log_ratios},
      {"pairs_dropped", e.pairs_dropped},
      {"dropped_log_ratios", e.dropped_log_ratios},
      {"confirm_delay", e.confirm_delay},
      {"gain", e.gain},
      {"share", e.share},
      {"seconds",
       {{"build", e.seconds.build}, {"validate", e.seconds.validate}, {"race", e.seconds.race}, {"prove", e.seconds.prove}, {"confirm", e.seconds.confirm}}}};
}

void from_json(const Json& j, Experiment& e) {
  j.at("id").get_to(e.id);
  j.at("rewrite").get_to(e.rewrite);
  j.at("tier").get_to(e.tier);
  j.at("signature").get_to(e.signature);
  j.at("window").get_to(e.window);
  j.at("plan").get_to(e.plan);
  j.at("steps").get_to(e.steps);
  j.at("occurrences").get_to(e.occurrences);
  j.at("candidate").get_to(e.candidate);
  e.incumbent = j.value("incumbent", "");  // sessions before it was recorded
  e.replacement = j.at("replacement");
  e.origin = j.value("origin", "");
  e.object_code = j.value("object_code", "");
  e.knobs = j.at("knobs");
  e.outcome = outcome_from_name(j.at("outcome").get<std::string>());
  j.at("stage").get_to(e.stage);
  e.code = j.value("code", "");
  j.at("reason").get_to(e.reason);
  j.at("seed").get_to(e.seed);
  j.at("incumbent_seconds").get_to(e.incumbent_seconds);
  j.at("challenger_seconds").get_to(e.challenger_seconds);
  j.at("race_log_ratio").get_to(e.race_log_ratio);
  j.at("prove_log_ratios").get_to(e.prove_log_ratios);
  j.at("confirm_log_ratios").get_to(e.confirm_log_ratios);
  j.at("pairs_dropped").get_to(e.pairs_dropped);
  e.dropped_log_ratios = j.value("dropped_log_ratios", e.dropped_log_ratios);
  e.confirm_delay = j.value("confirm_delay", e.confirm_delay);
  j.at("gain").get_to(e.gain);
  j.at("share").get_to(e.share);
  const Json& s = j.at("seconds");
  s.at("build").get_to(e.seconds.build);
  s.at("validate").get_to(e.seconds.validate);
  s.at("race").get_to(e.seconds.race);
  s.at("prove").get_to(e.seconds.prove);
  s.at("confirm").get_to(e.seconds.confirm);
}

void to_json(Json& j, const LedgerEntry& e) {
  j = Json{{"id", e.id},
           {"experiments", e.experiments},
           {"plan_before", e.plan_before},
           {"plan_after", e.plan_after},
           {"predicted", e.predicted},
           {"measured", e.measured},
           {"before_seconds", e.before_seconds},
           {"after_seconds", e.after_seconds},
           {"pairs_dropped", e.pairs_dropped},
           {"kept", e.kept},
           {"reason", e.reason},
           {"error", e.error},
           {"error_ratio", e.error_ratio}};
}

void from_json(const Json& j, LedgerEntry& e) {
  j.at("id").get_to(e.id);
  j.at("experiments").get_to(e.experiments);
  j.at("plan_before").get_to(e.plan_before);
  j.at("plan_after").get_to(e.plan_after);
  j.at("predicted").get_to(e.predicted);
  j.at("measured").get_to(e.measured);
  j.at("before_seconds").get_to(e.before_seconds);
  j.at("after_seconds").get_to(e.after_seconds);
  e.pairs_dropped = j.value("pairs_dropped", e.pairs_dropped);
  j.at("kept").get_to(e.kept);
  j.at("reason").get_to(e.reason);
  e.error = j.value("error", e.error);
  j.at("error_ratio").get_to(e.error_ratio);
}

void to_json(Json& j, const PlanRecord& p) {
  j = Json{{"id", p.id}, {"parent", p.parent}, {"experiment", p.experiment}, {"gated", p.gated}, {"rolled_back", p.rolled_back}, {"plan", p.plan}};
}

void from_json(const Json& j, PlanRecord& p) {
  j.at("id").get_to(p.id);
  j.at("parent").get_to(p.parent);
  j.at("experiment").get_to(p.experiment);
  j.at("gated").get_to(p.gated);
  j.at("rolled_back").get_to(p.rolled_back);
  p.plan = j.at("plan");
}

void to_json(Json& j, const ProfileRecord& p) {
  j = Json{{"id", p.id},
           {"plan", p.plan},
           {"model_seconds", p.model_seconds},
           {"step_seconds", p.step_seconds},
           {"floor_seconds", p.floor_seconds},
           {"memory_gbs", p.memory_gbs}};
}

void from_json(const Json& j, ProfileRecord& p) {
  j.at("id").get_to(p.id);
  j.at("plan").get_to(p.plan);
  j.at("model_seconds").get_to(p.model_seconds);
  j.at("step_seconds").get_to(p.step_seconds);
  j.at("floor_seconds").get_to(p.floor_seconds);
  p.memory_gbs = j.value("memory_gbs", p.memory_gbs);
}

}  // namespace amdahl

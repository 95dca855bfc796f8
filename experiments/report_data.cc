#include "experiments/report_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/statistics.h"
#include "experiments/bucket_times.h"
#include "experiments/comparison_text.h"
#include "experiments/kernel_texts.h"
#include "experiments/report.h"
#include "experiments/standing.h"
#include "experiments/win_factors.h"
#include "plan/plan.h"

namespace amdahl {
namespace {

// Five digits are more than a measurement is worth; a page of 5,000 experiments is half as large for it.
Json number(double value) { return std::isfinite(value) ? Json(std::stod(fmt::format("{:.5g}", value))) : Json(); }
Json numbers(const std::vector<double>& values) {
  Json out = Json::array();
  for (double v : values) out.push_back(number(v));
  return out;
}
Json gain(const Gain& g) { return {{"log", number(g.log)}, {"lo", number(g.lo)}, {"hi", number(g.hi)}, {"pairs", g.pairs}}; }

bool confirmed(const Experiment& e) { return e.outcome == Outcome::kKept && e.gain.pairs > 0 && std::isfinite(e.gain.log); }

double median_of_finite(std::vector<double> values) {
  std::erase_if(values, [](double v) { return !std::isfinite(v); });
  return values.empty() ? NAN : median(std::move(values));
}

// The best that is known of an experiment's ratio, and which stage knows it; "" when it was never timed.
struct Evidence {
  const char* from;
  double log;
};
Evidence evidence(const Experiment& e) {
  if (e.gain.pairs > 0) return {"confirmation", e.gain.log};
  if (!e.prove_log_ratios.empty()) return {"proof", median_of_finite(e.prove_log_ratios)};
  if (e.challenger_seconds > 0 && e.incumbent_seconds > 0) return {"race", e.race_log_ratio};
  return {"", NAN};
}

Json row_of(const Experiment& e) {
  const Evidence known = evidence(e);
  Json row = {{"id", e.id},
              {"rewrite", e.rewrite},
              {"tier", e.tier},
              {"window", e.window},
              {"outcome", name_of(e.outcome)},
              {"stage", e.stage},
              {"share", number(e.share)},
              {"cost", number(e.seconds.total())}};
  const auto set = [&](const char* name, Json value, bool there) {
    if (there) row[name] = std::move(value);
  };
  set("code", e.code, !e.code.empty());
  set("reason", e.reason, !e.reason.empty());
  set("origin", e.origin, !e.origin.empty());
  set("places", e.occurrences, e.occurrences > 1);
  set("knobs", e.knobs, !e.knobs.empty());
  set("from", known.from, std::isfinite(known.log));
  set("log", number(known.log), std::isfinite(known.log));
  set("race", number(e.race_log_ratio), e.challenger_seconds > 0 && e.incumbent_seconds > 0);
  set("prove", numbers(e.prove_log_ratios), !e.prove_log_ratios.empty());
  set("confirm", numbers(e.confirm_log_ratios), !e.confirm_log_ratios.empty());
  set("dropped", numbers(e.dropped_log_ratios), !e.dropped_log_ratios.empty());
  set("gain", gain(e.gain), e.gain.pairs > 0);
  set("before", number(e.incumbent_seconds), e.incumbent_seconds > 0);
  set("after", number(e.challenger_seconds), e.challenger_seconds > 0);
  set("seed", std::to_string(e.seed), !e.reason.empty() && e.outcome >= Outcome::kBuildFailed);  // 64 bits: no JavaScript number
  row["seconds"] = numbers({e.seconds.build, e.seconds.validate, e.seconds.race, e.seconds.prove, e.seconds.confirm});
  return row;
}

// The model's speed by what was confirmed so far: one point a kept experiment, gains of windows turned into gains of the
// model by Amdahl's law. Logs add up, half-widths add up in squares.
Json frontier_of(const std::vector<Experiment>& experiments) {
  Json points = Json::array();
  double log = 0, below = 0, above = 0;
  for (const Experiment& e : experiments) {
    if (!confirmed(e)) continue;
    const double step = model_gain(e.share, e.gain.log);
    log += step;
    below += std::pow(step - model_gain(e.share, e.gain.lo), 2);
    above += std::pow(model_gain(e.share, e.gain.hi) - step, 2);
    points.push_back({{"id", e.id}, {"log", number(log)}, {"lo", number(log - std::sqrt(below))}, {"hi", number(log + std::sqrt(above))}});
  }
  return points;
}

// Where a trial would have taken the model from what was confirmed before it.
void place_trials(const std::vector<Experiment>& experiments, Json& rows) {
  double log = 0;
  for (size_t i = 0; i < experiments.size(); ++i) {
    const Experiment& e = experiments[i];
    const Evidence known = evidence(e);
    if (std::isfinite(known.log)) rows[i]["model_log"] = number(log + model_gain(e.share, known.log));
    if (confirmed(e)) log += model_gain(e.share, e.gain.log);
  }
}

// Gates add up as the report's "confirmed on the whole model" does.
Json ledger_of(const std::vector<LedgerEntry>& ledger) {
  Json rows = Json::array();
  std::vector<LedgerEntry> so_far;
  for (const LedgerEntry& e : ledger) {
    so_far.push_back(e);
    rows.push_back({{"id", e.id},
                    {"experiments", e.experiments},
                    {"predicted", number(e.predicted)},
                    {"measured", gain(e.measured)},
                    {"before", number(e.before_seconds)},
                    {"after", number(e.after_seconds)},
                    {"kept", e.kept},
                    {"reason", e.reason},
                    {"error", e.error > 0 ? number(e.error) : Json()},
                    {"error_ratio", e.error_ratio > 0 ? number(e.error_ratio) : Json()},
                    {"total", gain(confirmed_gain(so_far))}});
  }
  return rows;
}

// Fastest first, those that were not measured last.
Json compared_of(std::vector<ComparedArm> rows) {
  const ComparedArm* first = first_of_ours(rows);
  const int64_t ours = first ? first->id : 0;
  std::stable_sort(rows.begin(), rows.end(), [](const ComparedArm& a, const ComparedArm& b) {
    return is_measured(a) != is_measured(b) ? is_measured(a) : is_measured(a) && a.seconds < b.seconds;
  });
  Json out = Json::array();
  for (const ComparedArm& row : rows)
    out.push_back({{"title", label_of(row)},
                   {"ours", row.ours},
                   {"seconds", is_measured(row) ? number(row.seconds) : Json()},
                   {"over_ours", is_measured(row) && row.id != ours ? gain(row.over_ours) : Json()},
                   {"threads", row.threads},
                   {"precision", row.precision},
                   {"difference", row.difference ? number(*row.difference) : Json()},
                   {"compared_with", row.compared_with},
                   {"reason", row.reason},
                   {"advice", row.advice}});
  return out;
}

Json baseline_of(const SessionStore& store, const std::vector<ComparedArm>& rows) {
  const std::optional<Baseline> baseline = best_baseline(rows);
  if (!baseline) return nullptr;
  return {{"title", label_of(baseline->peer)}, {"seconds", number(baseline->peer.seconds)},        {"says", standing_text(*baseline)},
          {"by", conditions_text(*baseline)},  {"standing", baseline_json(*baseline)["standing"]}, {"age", age_text(*baseline, store)}};
}

Json profile_of(const SessionStore& store, const ProfileRecord& profile) {
  Json groups = Json::array();
  double floor = 0;
  for (double seconds : profile.floor_seconds) floor += seconds;
  for (const StepGroup& g : step_groups(store, profile)) {
    const Work work = kernel_kind(g.problem.kind).work(g.problem);
    groups.push_back({{"kind", g.kind},
                      {"shapes", g.shapes},
                      {"count", g.count},
                      {"seconds", number(g.seconds)},
                      {"floor", number(g.floor_seconds)},
                      {"flops", number(work.flops * g.count)},
                      {"bytes", number(work.bytes * g.count)}});
  }
  return {{"plan", profile.plan}, {"seconds", number(profile.model_seconds)}, {"floor", number(floor)}, {"groups", groups}};
}

// Kernels of one side of a kept experiment, equal ones once.
struct Side {
  std::vector<std::pair<std::string, int>> kernels;  // kind, number of the text
};
Side side_of(const std::vector<Step>& steps, const SourceOf& source_of, KernelTexts& texts) {
  Side side;
  std::set<int> seen;
  for (const Step& step : steps) {
    const std::string text = source_of(step.variant);
    if (text.empty()) continue;
    const int number = texts.add(text);
    if (seen.insert(number).second) side.kernels.emplace_back(step.variant.problem.kind, number);
  }
  return side;
}
Json json_of(const Side& side) {
  Json kernels = Json::array();
  for (const auto& [kind, text] : side.kernels) kernels.push_back({{"kind", kind}, {"text", text}});
  return kernels;
}

void add_sources(const SessionStore& store, const std::vector<Experiment>& experiments, const SourceOf& source_of, Json& rows, Json& data) {
  KernelTexts texts;
  std::map<int64_t, Json> documents;
  for (PlanRecord& record : store.plans()) documents[record.id] = std::move(record.plan);
  for (size_t i = 0; i < experiments.size(); ++i) {
    const Experiment& e = experiments[i];
    if (e.outcome != Outcome::kKept || !e.replacement.is_array()) continue;
    std::vector<Step> incumbent;
    if (const auto plan = documents.find(e.plan); plan != documents.end()) {
      const Json& steps = plan->second.at("steps");
      for (int step : e.steps) incumbent.push_back(steps.at(static_cast<size_t>(step)).get<Step>());
    }
    rows[i]["challenger"] = json_of(side_of(e.replacement.get<std::vector<Step>>(), source_of, texts));
    rows[i]["incumbent"] = json_of(side_of(incumbent, source_of, texts));
  }
  data["sources"] = texts.json();
}

}  // namespace

Json report_data(const SessionStore& store, const SessionIdentity& identity, const SourceOf& source_of) {
  const std::vector<Experiment> experiments = store.experiments();
  const std::vector<LedgerEntry> ledger = store.ledger();
  Json rows = Json::array();
  for (const Experiment& e : experiments) rows.push_back(row_of(e));
  place_trials(experiments, rows);
  for (const auto& [id, f] : win_factors(store)) {
    Json& row = *std::find_if(rows.begin(), rows.end(), [id = id](const Json& r) { return r.at("id") == id; });
    row["factors"] = {{"algorithm", number(f.algorithm)}, {"blocking", number(f.blocking)}, {"by", f.best_blocks}};
  }
  Json options = store.options();
  if (options.is_object() && options.contains("entropy")) options["entropy"] = options["entropy"].dump();  // 64 bits: no JavaScript number
  Json data = {{"identity", identity},        {"options", options},
               {"headline", nullptr},         {"starter", nullptr},
               {"newest", nullptr},           {"declared", declared_steps(store)},
               {"ledger", ledger_of(ledger)}, {"frontier", frontier_of(experiments)}};
  if (const std::optional<Headline> h = store.headline(); h && h->gain.pairs > 0)
    data["headline"] = {
        {"gain", gain(h->gain)}, {"standing", name_of(standing_of(h->gain))}, {"starter", number(h->starter_seconds)}, {"kept", number(h->kept_seconds)}};
  if (const std::vector<ProfileRecord> profiles = store.profiles(); !profiles.empty()) {
    data["starter"] = profile_of(store, profiles.front());
    data["newest"] = profile_of(store, profiles.back());
  }
  const std::vector<ComparedArm> compared = shown_comparison(store);
  data["compared"] = compared_of(compared);
  data["baseline"] = baseline_of(store, compared);
  for (const BucketTime& t : bucket_times(store, identity))
    data["shapes"].push_back({{"name", t.name},
                              {"starter", number(t.starter_seconds)},
                              {"kept", number(t.kept_seconds)},
                              {"floor", number(t.floor_seconds)},
                              {"padded", number(t.padded_ratio)}});
  add_sources(store, experiments, source_of, rows, data);
  data["experiments"] = std::move(rows);
  return data;
}

std::string script_json(const Json& data) {
  const std::string json = data.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string safe;
  safe.reserve(json.size());
  for (char c : json) c == '<' ? safe += "\\u003c" : safe += c;  // occurs inside of texts alone
  return safe;
}

}  // namespace amdahl

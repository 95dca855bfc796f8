#include "experiments/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>

#include "base/counted.h"
#include "base/statistics.h"
#include "base/time_text.h"
#include "experiments/bucket_times.h"
#include "experiments/comparison_text.h"
#include "experiments/session_time.h"
#include "experiments/standing.h"
#include "experiments/win_factors.h"

namespace amdahl {
namespace {

std::string duration(double seconds) {
  if (seconds < 1) return time_text(seconds);
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  if (seconds < 5400) return fmt::format("{:.1f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

std::string factor(double log) { return fmt::format("{:.3f}x", std::exp(log)); }
std::string factor(const Gain& gain) { return fmt::format("{} ({} to {})", factor(gain.log), factor(gain.lo), factor(gain.hi)); }

// Cut to `columns` bytes at a character, for columns of a table.
std::string fit(std::string text, size_t columns) {
  if (text.size() <= columns) return text;
  size_t end = columns - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

std::map<Outcome, int> outcomes_of(const std::vector<Experiment>& experiments) {
  std::map<Outcome, int> count;
  for (const Experiment& e : experiments) ++count[e.outcome];
  return count;
}

std::map<Outcome, double> median_seconds(const std::vector<Experiment>& experiments) {
  std::map<Outcome, std::vector<double>> seconds;
  for (const Experiment& e : experiments) seconds[e.outcome].push_back(e.seconds.total());
  std::map<Outcome, double> medians;
  for (auto& [outcome, all] : seconds) medians[outcome] = median(std::move(all));
  return medians;
}

void cost_line(const std::vector<Experiment>& experiments, std::string& out) {
  if (experiments.empty()) return;
  out += "seconds an experiment, median";
  const char* separator = ": ";
  for (const auto& [outcome, seconds] : median_seconds(experiments)) {
    out += fmt::format("{}{} {:.2g}", separator, name_of(outcome), seconds);
    separator = ", ";
  }
  out += "\n";
}

void time_line(const SessionStore& store, std::string& out) {
  const auto parts = session_time(store);
  double all = 0;
  for (const auto& [name, seconds] : parts) all += seconds;
  if (all <= 0) return;
  out += fmt::format("time of the session, {}", duration(all));
  const char* separator = ": ";
  for (const auto& [name, seconds] : parts) {
    out += fmt::format("{}{} {:.0f}%", separator, name, 100 * seconds / all);
    separator = ", ";
  }
  out += "\n";
}

double baseline_seconds(const SessionStore& store) {
  const std::vector<ProfileRecord> profiles = store.profiles();
  return profiles.empty() ? 0 : profiles.front().model_seconds;
}

// "1.2x (1.1x to 1.3x) faster", "level: 1.01x (0.99x to 1.03x)".
std::string claim_text(const Gain& gain) {
  if (standing_of(gain) == Standing::kLevel) return fmt::format("level: {}", factor(gain));
  return fmt::format("{} {}", factor(gain), name_of(standing_of(gain)));
}

// As the bar of the page: each plan with its own time.
void profile_line(const SessionStore& store, std::string& out) {
  const std::vector<ProfileRecord> profiles = store.profiles();
  if (profiles.size() < 2 || profiles.back().plan == profiles.front().plan) return;
  const ProfileRecord& newest = profiles.back();
  double floor = 0;
  for (double seconds : newest.floor_seconds) floor += seconds;
  out += fmt::format("by profile: starter plan {}, plan profiled last {}, of which {} at its rooflines\n", time_text(profiles.front().model_seconds),
                     time_text(newest.model_seconds), time_text(std::min(floor, newest.model_seconds)));
}

// The best of other runtimes, also where it is ahead.
void baseline_line(const SessionStore& store, std::string& out) {
  const std::vector<ComparedArm> rows = shown_comparison(store);
  const std::optional<Baseline> baseline = best_baseline(rows);
  const std::string age = baseline ? age_text(*baseline, store) : "";
  if (baseline) out += fmt::format("best baseline: {}\n  {}{}\n", standing_text(*baseline), conditions_text(*baseline), age.empty() ? "" : "; " + age);
  else if (rows.empty()) out += "best baseline: not measured; `amdahl compare FILE` measures ONNX Runtime, OpenVINO and PyTorch beside ours\n";
  else out += "best baseline: none of the runtimes could be measured; the report says why\n";
}

void head_line(const SessionStore& store, const SessionIdentity& identity, std::string& out) {
  const std::vector<Experiment> experiments = store.experiments();
  const std::vector<LedgerEntry> ledger = store.ledger();
  const std::time_t created = static_cast<std::time_t>(identity.created_at);
  char when[32] = "?";
  if (std::tm utc{}; gmtime_r(&created, &utc)) std::strftime(when, sizeof when, "%Y-%m-%d %H:%M UTC", &utc);
  out += fmt::format("{} on {}, started {}\n", identity.model, identity.machine, when);

  const double baseline = baseline_seconds(store);
  const Gain gain = confirmed_gain(ledger);
  const auto kept = std::count_if(ledger.begin(), ledger.end(), [](const LedgerEntry& e) { return e.kept; });
  if (baseline == 0) out += "the default plan is not measured yet\n";
  else if (kept == 0) out += fmt::format("default plan {} a run; no gain is confirmed on the whole model yet\n", time_text(baseline));
  else
    out += fmt::format("{}, confirmed on the whole model in {}: {} -> about {} a run\n", claim_text(gain), counted(kept, "step"), time_text(baseline),
                       time_text(baseline * std::exp(-gain.log)));

  if (const std::optional<Headline> h = store.headline(); h && h->gain.pairs > 0)
    out += fmt::format("headline: {}, starter {} -> kept {} a run, in {} of fresh processes\n", claim_text(h->gain), time_text(h->starter_seconds),
                       time_text(h->kept_seconds), counted(h->gain.pairs, "pair"));
  baseline_line(store, out);
  profile_line(store, out);

  double seconds = 0;
  for (const Experiment& e : experiments) seconds += e.seconds.total();
  out += fmt::format("{} in {}", counted(experiments.size(), "experiment"), duration(seconds));
  const char* separator = ": ";
  for (const auto& [outcome, count] : outcomes_of(experiments)) {
    out += fmt::format("{}{} {}", separator, count, name_of(outcome));
    separator = ", ";
  }
  out += "\n";
  cost_line(experiments, out);
  time_line(store, out);
}

// "algorithm 1.31x, blocking 1.83x (#12)".
std::string factors_text(const WinFactors& f) {
  if (f.best_blocks == 0) return "of which blocking: not measured";
  return fmt::format("of which algorithm {}, blocking {} (#{})", factor(f.algorithm), factor(f.blocking), f.best_blocks);
}

void kept_steps(const SessionStore& store, const std::vector<Experiment>& experiments, std::string& out) {
  const std::map<int64_t, WinFactors> factors = win_factors(store);
  out += "\nkept steps (gain of the window, 95% interval)\n";
  bool any = false;
  for (const Experiment& e : experiments) {
    if (e.outcome != Outcome::kKept) continue;
    any = true;
    out += fmt::format("  {:>5}  tier {} {:<28} {}  {}\n", fmt::format("#{}", e.id), e.tier, fit(e.rewrite, 28), factor(e.gain), counted(e.gain.pairs, "pair"));
    out +=
        fmt::format("         {}{}, {:.1f}% of the model, {} -> {}\n", fit(e.window, 60), e.occurrences > 1 ? fmt::format(" in {} places", e.occurrences) : "",
                    e.share * 100, time_text(e.incumbent_seconds), time_text(e.challenger_seconds));
    if (!e.origin.empty()) out += fmt::format("         from outside ({}), judged and proven here\n", fit(e.origin, 100));
    if (const auto f = factors.find(e.id); f != factors.end()) out += fmt::format("         {}\n", factors_text(f->second));
  }
  if (!any) out += "  none yet\n";
}

// What rounds otherwise than plain sums, and what that came to in the model's outputs.
void declared_line(const SessionStore& store, std::string& out) {
  std::string names;
  for (const auto& [name, count] : declared_steps(store)) names += fmt::format("{}{} in {}", names.empty() ? "" : ", ", name, counted(count, "step"));
  if (names.empty()) return;
  out += fmt::format("\nrounds by a bound of its own: {}", names);
  const std::vector<LedgerEntry> ledger = store.ledger();
  const auto kept = std::find_if(ledger.rbegin(), ledger.rend(), [](const LedgerEntry& e) { return e.kept && e.error > 0; });
  if (kept != ledger.rend())
    out += fmt::format("; the model's outputs are {:.1e} from float64, {:.2g} times the starter's error", kept->error, kept->error_ratio);
  out += "\n";
}

void ledger_table(const SessionStore& store, const std::vector<LedgerEntry>& ledger, std::string& out) {
  const std::map<int64_t, WinFactors> factors = win_factors(store);
  out += "\nledger of the whole model (predicted by Amdahl's law against measured)\n";
  if (ledger.empty()) out += "  nothing was gated yet\n";
  for (const LedgerEntry& e : ledger) {
    std::string ids;
    for (int64_t id : e.experiments) ids += fmt::format("{}#{}", ids.empty() ? "" : " ", id);
    const std::string measured = e.measured.pairs == 0
                                     ? "not measured"
                                     : fmt::format("measured {}  {} -> {}", factor(e.measured), time_text(e.before_seconds), time_text(e.after_seconds));
    out += fmt::format("  {:>3}  predicted {}  {}  {}\n", e.id, factor(e.predicted), measured, e.kept ? "kept" : "rolled back");
    out += fmt::format("       experiments {}{}\n", fit(ids, 60), e.reason.empty() ? "" : "; " + e.reason);
    for (int64_t id : e.experiments)
      if (const auto f = factors.find(id); f != factors.end()) out += fmt::format("       #{} {}\n", id, factors_text(f->second));
  }
}

void left_table(const SessionStore& store, int rows, std::string& out) {
  const std::vector<StepGroup> left = left_to_win(store);
  if (left.empty()) return;
  double model = 0;
  for (const StepGroup& row : left) model += row.seconds;
  out += "\nleft to win (time above the roofline, in the plan profiled last)\n";
  for (const StepGroup& row : left) {
    if (rows-- == 0) break;
    const double winnable = std::max(0.0, row.seconds - row.floor_seconds);
    out += fmt::format("  {:<12} {:<44} ×{:<3} {:>9} of {:>9}  {:>5.2f}x\n", row.kind, fit(row.shapes, 44), row.count, time_text(winnable),
                       time_text(row.seconds), model > winnable ? model / (model - winnable) : 1.0);
  }
}

void bucket_table(const SessionStore& store, const SessionIdentity& identity, std::string& out) {
  const std::vector<BucketTime> times = bucket_times(store, identity);
  if (times.empty()) return;
  out += "\nshapes (a run of each; sums of steps in place)\n";
  for (const BucketTime& t : times) {
    out += fmt::format("  {:<16} {:>9} -> {:>9}  {:>6.2f}x  floor {:>9}", fit(t.name, 16), time_text(t.starter_seconds), time_text(t.kept_seconds),
                       t.kept_seconds > 0 ? t.starter_seconds / t.kept_seconds : 1.0, time_text(t.floor_seconds));
    out += t.padded_ratio > 0 ? fmt::format("  padded to the next {:.2f}x its time\n", t.padded_ratio) : "\n";
  }
}

void peer_table(const SessionStore& store, std::string& out) {
  if (const std::vector<ComparedArm> rows = shown_comparison(store); !rows.empty()) out += "\nbeside other runtimes\n" + compared_table(rows);
}

void experiment_table(const std::vector<Experiment>& experiments, size_t last, std::string& out) {
  const size_t first = experiments.size() > last ? experiments.size() - last : 0;
  out += first > 0 ? fmt::format("\nlast {}\n", counted(last, "experiment")) : "\nexperiments\n";
  for (size_t i = first; i < experiments.size(); ++i) {
    const Experiment& e = experiments[i];
    out += fmt::format("  {:>5}  {:<12} {:<26} {}\n", fmt::format("#{}", e.id), name_of(e.outcome), fit(e.rewrite, 26), fit(e.window, 48));
    const std::string knobs = e.knobs.empty() ? "" : e.knobs.dump();
    const std::string why = fmt::format("{}{}{}", e.stage, e.reason.empty() ? "" : ": ", e.reason);
    out += fmt::format("         {}{}{}\n", fit(why, 70), knobs.empty() || why.empty() ? "" : "; ", fit(knobs, 60));
  }
}

}  // namespace

Gain confirmed_gain(const std::vector<LedgerEntry>& ledger) {
  Gain gain;
  double below = 0, above = 0;
  for (const LedgerEntry& e : ledger) {
    if (!e.kept) continue;
    gain.log += e.measured.log;
    gain.pairs += e.measured.pairs;
    below += std::pow(e.measured.log - e.measured.lo, 2);
    above += std::pow(e.measured.hi - e.measured.log, 2);
  }
  gain.lo = gain.log - std::sqrt(below);
  gain.hi = gain.log + std::sqrt(above);
  return gain;
}

std::string report_text(const SessionStore& store, const SessionIdentity& identity, const ReportOptions& options) {
  const std::vector<Experiment> experiments = store.experiments();
  std::string out;
  head_line(store, identity, out);
  kept_steps(store, experiments, out);
  declared_line(store, out);
  ledger_table(store, store.ledger(), out);
  bucket_table(store, identity, out);
  if (options.all_experiments) peer_table(store, out);
  left_table(store, options.left_rows, out);
  experiment_table(experiments, options.all_experiments ? experiments.size() : 5, out);
  return out;
}

Json report_json(const SessionStore& store, const SessionIdentity& identity) {
  const std::vector<Experiment> experiments = store.experiments();
  const std::vector<LedgerEntry> ledger = store.ledger();
  Json j = {{"identity", identity},
            {"options", store.options()},
            {"baseline_seconds", baseline_seconds(store)},
            {"confirmed_gain", confirmed_gain(ledger)},
            {"ledger", ledger},
            {"experiments", Json::array()},
            {"outcomes", Json::object()},
            {"declared", declared_steps(store)},
            {"left_to_win", Json::array()}};
  if (const std::optional<Headline> h = store.headline()) {
    j["headline"] = *h;
    j["headline"]["standing"] = h->gain.pairs > 0 ? name_of(standing_of(h->gain)) : "";
  }
  const std::vector<ComparedArm> rows = shown_comparison(store);
  if (const std::optional<Baseline> baseline = best_baseline(rows)) j["best_baseline"] = baseline_json(*baseline);
  if (!rows.empty()) j["compared"] = rows;
  for (const BucketTime& t : bucket_times(store, identity))
    j["shapes"].push_back({{"name", t.name},
                           {"starter_seconds", t.starter_seconds},
                           {"kept_seconds", t.kept_seconds},
                           {"floor_seconds", t.floor_seconds},
                           {"padded_ratio", t.padded_ratio}});
  j["median_seconds"] = Json::object();
  for (const auto& [outcome, seconds] : median_seconds(experiments)) j["median_seconds"][std::string(name_of(outcome))] = seconds;
  j["time"] = Json::object();
  for (const auto& [name, seconds] : session_time(store)) j["time"][name] = seconds;
  for (const auto& [outcome, count] : outcomes_of(experiments)) j["outcomes"][std::string(name_of(outcome))] = count;
  const std::map<int64_t, WinFactors> factors = win_factors(store);
  for (const Experiment& e : experiments) {
    Json row = e;
    row.erase("replacement");  // whole kernels; `amdahl replay` and `export` give them
    if (const auto f = factors.find(e.id); f != factors.end())
      row["factors"] = {{"algorithm", f->second.algorithm}, {"blocking", f->second.blocking}, {"best_blocks", f->second.best_blocks}};
    j["experiments"].push_back(std::move(row));
  }
  for (const StepGroup& row : left_to_win(store))
    j["left_to_win"].push_back(
        {{"kind", row.kind}, {"shapes", row.shapes}, {"count", row.count}, {"seconds", row.seconds}, {"floor_seconds", row.floor_seconds}});
  return j;
}

}  // namespace amdahl

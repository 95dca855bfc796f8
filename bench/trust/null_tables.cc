#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>

#include "base/statistics.h"
#include "bench/trust/markdown.h"
#include "bench/trust/statistics.h"
#include "bench/trust/tables.h"

namespace amdahl::trust {
namespace {

struct Nulls {
  int trials = 0, refused = 0, pairs = 0, dropped = 0, proven = 0, kept = 0, failed = 0, races_won = 0, above_zero = 0;
  std::vector<double> races, wealths, exact_wealths, ratios, seconds;
};

// The wealth that the test would have had with delta 0. When both arms are exchangeable its mean is exactly 1, whatever the
// rule that stops, as long as that rule does not look ahead: a sharper check of the whole procedure than counting keeps.
double exact_wealth(const LoggedStage& stage, DecisionRule rule) {
  rule.delta = 0;
  SignTest test(rule);
  for (double d : stage.counted()) test.add(d);
  return test.wealth();
}

void count(const Trial& t, Nulls* n) {
  ++n->trials;
  n->proven += t.proven;
  n->kept += t.kept();
  n->races_won += t.race_won;
  if (t.failure.empty()) n->races.push_back(t.race_log_ratio);
  n->seconds.push_back(t.seconds);
  n->failed += !t.failure.empty();
  if (t.stages.empty() || !t.failure.empty()) return;
  const LoggedStage& first = t.stages[0];
  n->wealths.push_back(first.wealth);
  n->exact_wealths.push_back(exact_wealth(first, t.rule));
  for (double d : first.counted()) {
    ++n->pairs;
    n->above_zero += d > 0;
    n->ratios.push_back(d);
  }
  n->dropped += static_cast<int>(first.pairs.size() - first.counted().size());
}

std::string with_error(const std::vector<double>& x) {
  return fmt::format("{:.2f} ± {:.2f}", mean(x), x.empty() ? 0 : deviation(x) / std::sqrt(static_cast<double>(x.size())));
}

std::vector<std::string> row_of(const std::string& name, const Nulls& n) {
  return {name,
          fmt::format("{}", n.trials),
          fmt::format("{}", n.refused),
          fmt::format("{}", n.races_won),
          fmt::format("{:+.1f}%", 100 * std::expm1(median(n.races))),
          fmt::format("{}", n.pairs),
          fmt::format("{}", n.proven),
          fmt::format("{}", n.kept),
          fmt::format("{:.2f}%", 100 * upper_bound(n.proven, n.trials)),
          fmt::format("{}", n.failed),
          with_error(n.wealths),
          with_error(n.exact_wealths),
          fmt::format("{:.1f}%", n.pairs ? 100.0 * n.above_zero / n.pairs : 0),
          fmt::format("{:.2f}%", 100 * robust_deviation(n.ratios)),
          fmt::format("{}", n.dropped),
          fmt::format("{:.1f}", median(n.seconds))};
}

}  // namespace

std::string null_table(const std::vector<Trial>& trials) {
  std::map<std::string, Nulls> by_window;
  Nulls all;
  for (const Trial& t : trials) {
    if (t.effect != 0) continue;
    by_window[t.window].refused += t.refused;
    all.refused += t.refused;
    if (t.twin) continue;
    count(t, &by_window[t.window]);
    count(t, &all);
  }
  MarkdownTable table({"window", "experiments", "refused by the scan, drawn again", "won the race", "race, median", "pairs", "passed both stages",
                       "of these kept", "false keeps at most (95%)", "failed validation", "mean final wealth", "with delta 0", "pairs above 0",
                       "robust sd of a pair", "pairs dropped", "seconds each"});
  for (const auto& [name, nulls] : by_window) table.add(row_of(name, nulls));
  table.add(row_of("all", all));
  return table.text();
}

std::string edits_table(const std::vector<Trial>& trials) {
  std::map<std::string, std::pair<int, int>> by_edits;  // made, changed the object code
  std::pair<int, int> all;
  for (const Trial& t : trials) {
    if (t.study != "placebo-edits") continue;
    for (auto* count : {&by_edits[t.edits], &all}) {
      ++count->first;
      count->second += !t.twin;
    }
  }
  MarkdownTable table({"edits", "made", "other object code: measured", "the same: dropped as twins"});
  const auto add = [&](const std::string& name, std::pair<int, int> n) {
    table.add({name, fmt::format("{}", n.first), fmt::format("{}", n.second), fmt::format("{}", n.first - n.second)});
  };
  for (const auto& [edits, counts] : by_edits) add(edits, counts);
  add("all", all);
  return table.text();
}

}  // namespace amdahl::trust

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/statistics.h"
#include "bench/trust/markdown.h"
#include "bench/trust/rival_rules.h"
#include "bench/trust/statistics.h"
#include "bench/trust/tables.h"

namespace amdahl::trust {
namespace {

using Claims = std::vector<std::optional<double>>;

constexpr size_t kCampaign = 100;  // no-op edits

std::vector<LoggedPair> pairs_of(const Trial& t) {
  std::vector<LoggedPair> pairs;
  for (const LoggedStage& s : t.stages) pairs.insert(pairs.end(), s.pairs.begin(), s.pairs.end());
  return pairs;
}

int kept(const Claims& claims) {
  return static_cast<int>(std::count_if(claims.begin(), claims.end(), [](const auto& c) { return c.has_value(); }));
}

std::string rate(const Claims& claims) {
  if (claims.empty()) return "–";
  const Share s = share_of(kept(claims), static_cast<int>(claims.size()));
  return fmt::format("{} of {} = {:.1f}% ({:.1f} .. {:.1f})", s.hits, s.n, 100.0 * s.hits / s.n, 100 * s.lo, 100 * s.hi);
}

std::string claimed(const Claims& claims) {
  std::vector<double> gains;
  for (const auto& c : claims)
    if (c) gains.push_back(*c);
  return gains.empty() ? "–" : fmt::format("{:+.1f}%", 100 * std::expm1(median(gains)));
}

// What a hundred edits without effect would be said to have brought together: the median over hundreds, and how many there are.
std::string compounded(const Claims& claims) {
  std::vector<double> campaigns;
  for (size_t first = 0; first + kCampaign <= claims.size(); first += kCampaign) {
    double sum = 0;
    for (size_t i = first; i < first + kCampaign; ++i) sum += claims[i].value_or(0);
    campaigns.push_back(sum);
  }
  return campaigns.empty() ? "–" : fmt::format("{:.2f}x ({})", std::exp(median(campaigns)), campaigns.size());
}

using Decide = std::function<Claims(const Trial&)>;

std::vector<std::string> row_of(const std::string& name, const Decide& decide, const std::vector<Trial>& trials) {
  Claims aa, placebo, null;
  std::map<double, Claims> planted;
  for (const Trial& t : trials) {
    if (t.twin || !t.failure.empty()) continue;
    std::vector<Claims*> groups{&(t.effect != 0 ? planted[t.effect] : t.study == "aa" ? aa : placebo)};
    if (t.effect == 0) groups.push_back(&null);
    const Claims claims = decide(t);
    for (Claims* group : groups) group->insert(group->end(), claims.begin(), claims.end());
  }
  std::vector<std::string> row{name, rate(aa), rate(placebo), claimed(null), compounded(null)};
  for (double effect : {1.0, 2.0, 3.0, 5.0}) {
    const Claims& c = planted[effect];
    row.push_back(c.empty() ? "–" : fmt::format("{:.0f}%", 100.0 * kept(c) / static_cast<double>(c.size())));
  }
  return row;
}

}  // namespace

std::string rivals_table(const std::vector<Trial>& trials) {
  MarkdownTable table({"rule", "false keeps, same code", "false keeps, placebo builds and edits", "claimed gain of those",
                       "100 no-op edits, claimed together (hundreds)", "keeps +1%", "+2%", "+3%", "+5%"});
  for (const RivalRule& rule : rival_rules())
    table.add(row_of(
        rule.name, [&](const Trial& t) { return rule.decide(pairs_of(t)); }, trials));
  // Trials without an effect were proven whatever their race said; planted ones had to win it.
  const Decide ours = [](const Trial& t) { return Claims{t.proven ? std::optional(t.gain.log) : std::nullopt}; };
  table.add(row_of("**fresh pairs of processes, sign e-process, proven twice (ours)**", ours, trials));
  return table.text();
}

}  // namespace amdahl::trust

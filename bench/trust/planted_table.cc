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

struct Detected {
  int trials = 0, raced_out = 0, failed = 0, kept = 0;
  std::set<double> truths;
  std::vector<double> bias, seconds;
};

std::string percent(double log, int digits = 2) { return fmt::format("{:+.{}f}%", 100 * std::expm1(log), digits); }

std::string share(int hits, int n) {
  const Share s = share_of(hits, n);
  return fmt::format("{} of {} ({:.0f} .. {:.0f}%)", hits, n, 100 * s.lo, 100 * s.hi);
}

std::vector<std::string> row_of(double effect, const std::string& window, const Detected& d) {
  const std::string truth =
      d.truths.size() == 1 ? percent(*d.truths.begin()) : fmt::format("{} .. {}", percent(*d.truths.begin()), percent(*d.truths.rbegin()));
  const std::string bias =
      d.bias.empty() ? "–" : fmt::format("{:+.2f} ± {:.2f}", 100 * mean(d.bias), 100 * deviation(d.bias) / std::sqrt(static_cast<double>(d.bias.size())));
  return {fmt::format("{:+g}%", effect),           window, truth, share(d.kept, d.trials), fmt::format("{}", d.raced_out), fmt::format("{}", d.failed), bias,
          fmt::format("{:.1f}", median(d.seconds))};
}

}  // namespace

std::string planted_table(const std::vector<Trial>& trials) {
  std::map<double, std::map<std::string, Detected>> found;
  for (const Trial& t : trials) {
    if (t.effect == 0) continue;
    for (const std::string& window : {std::string("all"), t.window}) {
      Detected& d = found[t.effect][window];
      ++d.trials;
      d.failed += !t.failure.empty();
      d.raced_out += t.failure.empty() && t.stages.empty();
      d.kept += t.kept();
      d.truths.insert(t.true_log);
      d.seconds.push_back(t.seconds);
      if (t.kept()) d.bias.push_back(t.gain.log - t.true_log);
    }
  }
  MarkdownTable table({"planted", "window", "measured over many pairs", "kept (95%)", "out after the race", "failed validation",
                       "reported gain less the measured, points", "seconds to decide"});
  for (auto effect = found.rbegin(); effect != found.rend(); ++effect)
    for (const auto& [window, detected] : effect->second) table.add(row_of(effect->first, window, detected));
  return table.text();
}

}  // namespace amdahl::trust

#include "bench/trust/rival_rules.h"

#include <algorithm>
#include <cmath>

#include "base/statistics.h"
#include "bench/trust/statistics.h"

namespace amdahl::trust {
namespace {

using Claim = std::optional<double>;
using Segments = std::vector<double>;

// A decision on one process's segments of each arm.
using Judge = std::function<Claim(const Segments& a, const Segments& b)>;

std::vector<Claim> a_then_b(const std::vector<LoggedPair>& pairs, const Judge& judge) {
  std::vector<Claim> claims;
  for (size_t i = 0; i + 1 < pairs.size(); i += 2) claims.push_back(judge(pairs[i].a, pairs[i + 1].b));
  return claims;
}

std::vector<Claim> interleaved(const std::vector<LoggedPair>& pairs, const Judge& judge) {
  std::vector<Claim> claims;
  for (const LoggedPair& p : pairs) claims.push_back(judge(p.a, p.b));
  return claims;
}

Claim claim_if(bool kept, double gain) { return kept && gain > 0 ? Claim(gain) : std::nullopt; }

Claim single_run(const Segments& a, const Segments& b) {
  const double gain = std::log(median(a) / median(b));
  return claim_if(gain >= std::log(1.01), gain);
}

Claim welch(const Segments& a, const Segments& b) { return claim_if(welch_p(a, b) < 0.05, std::log(mean(a) / mean(b))); }

Claim mann_whitney(Segments a, Segments b) {
  a.resize(std::min<size_t>(a.size(), 9));
  b.resize(std::min<size_t>(b.size(), 9));
  return claim_if(mann_whitney_p(a, b) < 0.05, std::log(median(a) / median(b)));
}

// A block is ABBA or BAAB: the first A and the first B of it are neighbours in time, and so are the second ones.
Segments differences(const Segments& a, const Segments& b) {
  Segments d;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) d.push_back(std::log(a[i] / b[i]));
  return d;
}

Claim paired_test(const Segments& a, const Segments& b) {
  const Segments d = differences(a, b);
  return claim_if(paired_p(d) < 0.05, mean(d));
}

Claim lower_bound(const Segments& a, const Segments& b) {
  const Segments d = differences(a, b);
  const double n = static_cast<double>(d.size());
  const double lower = mean(d) - student_quantile(0.025, n - 1) * deviation(d) / std::sqrt(n);
  return claim_if(lower > std::log(1.01), mean(d));
}

// Looks after every difference from the fifth on, and stops when it likes what it sees.
Claim with_peeking(const Segments& a, const Segments& b) {
  const Segments d = differences(a, b);
  for (size_t n = 5; n <= d.size(); ++n) {
    const Segments so_far(d.begin(), d.begin() + static_cast<std::ptrdiff_t>(n));
    if (const Claim claim = claim_if(paired_p(so_far) < 0.05, mean(so_far))) return claim;
  }
  return std::nullopt;
}

RivalRule on_processes(const char* name, Judge judge) {
  return {name, [judge = std::move(judge)](const std::vector<LoggedPair>& pairs) { return a_then_b(pairs, judge); }};
}
RivalRule on_one_pair(const char* name, Judge judge) {
  return {name, [judge = std::move(judge)](const std::vector<LoggedPair>& pairs) { return interleaved(pairs, judge); }};
}

}  // namespace

const std::vector<RivalRule>& rival_rules() {
  static const std::vector<RivalRule> rules{
      on_processes("single run, at least 1%", single_run),
      on_processes("Welch's test, p < .05, A then B", welch),
      on_processes("Mann-Whitney 9 + 9, A then B", mann_whitney),
      on_one_pair("Mann-Whitney 9 + 9, interleaved, one pair of processes", mann_whitney),
      on_one_pair("paired t-test x 20, ABBA, one pair of processes", paired_test),
      on_one_pair("the same, lower 95% bound above 1%", lower_bound),
      on_one_pair("paired t-test, looking after each", with_peeking),
  };
  return rules;
}

}  // namespace amdahl::trust

#include "tuner/measurement/decision.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/statistics.h"

namespace amdahl {
namespace {

// Large stakes win fast when nearly all pairs agree, small ones survive a few losses.
constexpr std::array<double, 4> kStakes = {0.25, 0.5, 0.75, 0.9};

// Largest k with P(Binomial(n, 1/2) <= k-1) <= 2.5%: the k-th smallest and k-th largest bound the median with 95%.
int interval_rank(int n) {
  double probability = std::pow(0.5, n), cumulative = 0;
  int k = 0;
  for (int i = 0; i < n; ++i) {
    cumulative += probability;
    if (cumulative > 0.025) break;
    k = i + 1;
    probability *= static_cast<double>(n - i) / (i + 1);
  }
  return k;
}

double wealth_of(int wins, int losses) {
  double sum = 0;
  for (double stake : kStakes) sum += std::pow(1 + stake, wins) * std::pow(1 - stake, losses);
  return sum / kStakes.size();
}

}  // namespace

SignTest::SignTest(const DecisionRule& rule, const std::vector<double>& log_ratios) : rule_(rule) {
  for (double r : log_ratios) add(r);
}

void SignTest::add(double log_ratio) {
  ++pairs_;
  wins_ += log_ratio > rule_.delta;
}

double SignTest::wealth() const { return wealth_of(wins_, pairs_ - wins_); }

double SignTest::pairs_for(double wealth_factor) const {
  const double p = (wins_ + 1.0) / (pairs_ + 2.0);
  double growth = 0;  // of the log of the wealth, a pair, with the best stake
  for (double stake : kStakes) growth = std::max(growth, p * std::log1p(stake) + (1 - p) * std::log1p(-stake));
  return std::min<double>(rule_.max_pairs, std::log(std::max(wealth_factor, 1.0)) / std::max(growth, 1e-9));
}

double SignTest::pairs_left() const { return std::clamp<double>(pairs_for(rule_.wealth / wealth()), 1, std::max(1, rule_.max_pairs - pairs_)); }

double SignTest::pairs_of_a_stage() const { return pairs_for(rule_.wealth); }

SignTest::Verdict SignTest::verdict() const {
  if (wealth() >= rule_.wealth) return Verdict::kPassed;
  // Not even if all further pairs agreed.
  if (wealth_of(rule_.max_pairs - (pairs_ - wins_), pairs_ - wins_) < rule_.wealth) return Verdict::kFailed;
  // Stopping early never makes a false keep likelier; a true gain of 3% loses three of its first four pairs once in a thousand.
  if (pairs_ >= 4 && 3 * wins_ < pairs_) return Verdict::kFailed;
  if (pairs_ >= rule_.futility_pairs && 2 * wins_ < pairs_) return Verdict::kFailed;
  return Verdict::kOpen;
}

bool loses_in_sum(const std::vector<double>& log_ratios) {
  const double most = std::log(4);
  double sum = 0;
  for (double r : log_ratios) sum += std::clamp(r, -most, most);
  return sum < 0;
}

bool works_more(double worked_incumbent, double worked_challenger) { return worked_challenger > 1.1 * worked_incumbent; }

Gain estimate(std::vector<double> log_ratios) {
  Gain gain;
  gain.pairs = static_cast<int>(log_ratios.size());
  if (log_ratios.empty()) return gain;
  std::sort(log_ratios.begin(), log_ratios.end());
  gain.log = median(log_ratios);
  const int k = std::max(interval_rank(gain.pairs), 1);
  gain.lo = log_ratios[static_cast<size_t>(k - 1)];
  gain.hi = log_ratios[log_ratios.size() - static_cast<size_t>(k)];
  return gain;
}

bool contradicts(double predicted, const Gain& measured) {
  if (measured.pairs == 0) return false;
  // A promise large enough to be seen must be seen: a median below zero is not excused by a wide interval.
  const bool should_show = predicted > 0.02;
  if (measured.lo > 0) return false;  // less than was promised is still a gain
  return measured.hi < predicted / 2 || measured.hi <= 0 || (should_show && measured.log <= 0);
}

ModelTest::ModelTest(double predicted, const GateRule& rule) : predicted_(predicted), rule_(rule), slower_({rule.delta, rule.wealth, rule.max_pairs}) {}

void ModelTest::add(double log_ratio) {
  log_ratios_.push_back(log_ratio);
  slower_.add(-log_ratio);
}

ModelTest::Verdict ModelTest::verdict() const {
  if (slower_.wealth() >= rule_.wealth) return Verdict::kContradicted;
  const int pairs = static_cast<int>(log_ratios_.size());
  if (pairs < rule_.min_pairs) return Verdict::kOpen;
  const Gain gain = measured();
  const bool against = contradicts(predicted_, gain);
  if (pairs >= rule_.max_pairs) return against ? Verdict::kContradicted : Verdict::kArrived;
  return gain.lo > 0 && !against ? Verdict::kArrived : Verdict::kOpen;
}

}  // namespace amdahl

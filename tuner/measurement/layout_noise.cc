#include "tuner/measurement/layout_noise.h"

#include <algorithm>
#include <cmath>

#include "base/statistics.h"

namespace amdahl {
namespace {

// Deviations from the median, spread so that they have the variance of single values: n values around their own centre
// vary less than around the true one.
void add_residuals(const std::vector<double>& values, std::vector<double>* residuals) {
  if (values.size() < 2) return;
  const double n = static_cast<double>(values.size()), centre = median(values);
  for (double v : values) residuals->push_back((v - centre) * std::sqrt(n / (n - 1)));
}

double robust_sd(std::vector<double> residuals) {
  for (double& r : residuals) r = std::abs(r);
  return 1.4826 * median(std::move(residuals));
}

}  // namespace

LayoutNoise estimate_layout_noise(const std::vector<double>& same, const std::vector<std::vector<double>>& by_build) {
  LayoutNoise noise;
  add_residuals(same, &noise.residuals);
  std::vector<double> centres;
  double pairs = 0;
  for (const std::vector<double>& build : by_build) {
    if (build.size() < 2) continue;
    add_residuals(build, &noise.residuals);
    centres.push_back(median(build));
    pairs += static_cast<double>(build.size());
  }
  if (noise.residuals.empty()) return noise;
  noise.process_sd = robust_sd(noise.residuals);
  if (centres.size() < 2) return noise;
  const double builds = static_cast<double>(centres.size());
  double mean = 0, between = 0;
  for (double c : centres) mean += c / builds;
  for (double c : centres) between += (c - mean) * (c - mean) / (builds - 1);
  // A median of n values varies by pi/2 of what their mean does.
  const double within = 1.5708 * noise.process_sd * noise.process_sd * builds / pairs;
  noise.layout_sd = std::sqrt(std::max(0.0, between - within));
  // Where the processes' noise hides the builds', the estimate is zero and its error is not.
  noise.layout_high = std::sqrt(std::max(0.0, between - within) + std::max(between, within) * std::sqrt(2 / (builds - 1)));
  return noise;
}

}  // namespace amdahl

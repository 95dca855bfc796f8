#pragma once
// How much of the difference between builds of the same code is the build: a variance component, apart from the noise
// between processes of one build.

#include <vector>

namespace amdahl {

struct LayoutNoise {
  double process_sd = 0;          // robust, of a pair of processes of the same builds
  double layout_sd = 0;           // of a build, beyond that
  double layout_high = 0;         // layout_sd as it may be, one standard error up: what a rule should be set for
  std::vector<double> residuals;  // of single pairs
};

// Log ratios of pairs. `same`: one build in both arms; by_build[i]: build i against the one build that all share, at least
// two each.
LayoutNoise estimate_layout_noise(const std::vector<double>& same, const std::vector<std::vector<double>>& by_build);

}  // namespace amdahl

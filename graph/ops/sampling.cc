#include "graph/ops/sampling.h"

#include <algorithm>

namespace amdahl {
namespace {

constexpr double kA = -0.75;
constexpr double kMostCurvature = 4.5;  // of Keys' kernel, at 0; its slope is continuous

double cubic(double distance) {
  const double t = std::fabs(distance);
  if (t < 1) return ((kA + 2) * t - (kA + 3)) * t * t + 1;
  return t < 2 ? ((kA * t - 5 * kA) * t + 8 * kA) * t - 4 * kA : 0;
}

double cubic_slope(double distance) {
  const double t = std::fabs(distance);
  if (t < 1) return std::fabs((3 * (kA + 2) * t - 2 * (kA + 3)) * t);
  return t < 2 ? std::fabs(kA * ((3 * t - 10) * t + 8)) : 0;
}

// A fraction that is zero in every computation gives weights of 0 and 1 in each.
bool is_whole(const Place& place) { return place.error == 0 && std::floor(place.at) == place.at; }

template <typename Tap>
std::vector<SampleTap> taps_between(double first, double last, Tap tap) {
  std::vector<SampleTap> taps;
  for (double at = first; at <= last; ++at) taps.push_back(tap(at));
  return taps;
}

}  // namespace

// 1 - t rounds, and t moves with the position.
std::vector<SampleTap> linear_taps(const Place& place, double u) {
  const double slack = place.error + (is_whole(place) ? 0 : 2 * u);
  return taps_between(std::floor(place.low()), std::floor(place.high()) + 1, [&](double at) {
    return SampleTap{static_cast<int64_t>(at), std::fmax(0, 1 - std::fabs(place.at - at)), slack};
  });
}

// Weights far from the position are what is left of numbers of up to 6: their roundings come to 24 units, of those near it to 6.
std::vector<SampleTap> cubic_taps(const Place& place, double u) {
  const double e = place.error;
  return taps_between(std::floor(place.low()) - 1, std::floor(place.high()) + 2, [&](double at) {
    const double distance = place.at - at, rounding = is_whole(place) ? 0 : std::fabs(distance) > 1 - e ? 24 * u : 6 * u;
    return SampleTap{static_cast<int64_t>(at), cubic(distance), (cubic_slope(distance) + kMostCurvature * e) * e + rounding};
  });
}

std::vector<SampledElement> elements_of(std::span<const std::vector<SampleTap>> taps, std::span<const int64_t> sizes) {
  std::vector<SampledElement> elements{{0, 1, 1, 1}}, longer;
  for (size_t d = 0; d < taps.size(); ++d) {
    longer.clear();
    for (const SampledElement& e : elements)
      for (const SampleTap& tap : taps[d]) {
        if (tap.at < 0) continue;
        const double magnitude = std::fabs(tap.weight);
        longer.push_back({e.at * sizes[d] + tap.at, e.weight * tap.weight, e.least * std::fmax(0, magnitude - tap.slack), e.most * (magnitude + tap.slack)});
      }
    elements.swap(longer);
  }
  return elements;
}

}  // namespace amdahl

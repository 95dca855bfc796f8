#pragma once
// How long the planted chain takes: calibrated once a window, then measured again for each effect over many pairs. That
// measurement is the true effect that trials are compared with.

#include <map>

#include "bench/trust/window_under_test.h"

namespace amdahl::trust {

struct PlantedEffect {
  int64_t iterations = 0;
  Gain truth;  // of taking it out; log
};

// By effect in percent (above zero).
using PlantedEffects = std::map<double, PlantedEffect>;

// Read from `file` what is there; measures the rest with `pairs` pairs each, and writes it there.
PlantedEffects planted_effects(WindowUnderTest& window, const std::vector<double>& percents, int pairs, const std::string& file);

}  // namespace amdahl::trust

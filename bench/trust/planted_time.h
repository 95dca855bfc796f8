#pragma once
// How many turns of the planted chain an effect takes: from the time of a turn (on a card, of what many of them add to a call) and of a call, once a window. What it comes to is
// then measured over many pairs: that measurement is the true effect that trials are compared with.

#include <map>

#include "bench/trust/window_under_test.h"

namespace amdahl::trust {

struct PlantedEffect {
  int64_t iterations = 0;
  Gain truth;  // of taking it out; log
};

// By effect in percent (above zero).
using PlantedEffects = std::map<double, PlantedEffect>;

// The window with so many turns planted, for whatever it is judged on.
std::vector<Step> with_planted(WindowUnderTest& window, int64_t iterations);

// Read from `file` what is there; measures the rest with `pairs` pairs each, and writes it there.
PlantedEffects planted_effects(WindowUnderTest& window, const std::vector<double>& percents, int pairs, const std::string& file);

}  // namespace amdahl::trust

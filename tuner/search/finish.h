#pragma once
// What a session ends with, whoever ran it: the headline, and a kept plan that stands up to it.

#include "tuner/search/tuner.h"

namespace amdahl {

// Whether a gate has let anything through: only then is there something to measure.
bool any_kept(const SessionStore& store);

// Measures starter against kept plan as wholes and commits the headline with the seconds that it took; for a model of several shapes also closing profiles.
// A kept plan that turns out slower than the starter loses its newest steps until it is not. What was reserved for the end and not needed is spent on
// more pairs where the run ended because time was up. `run`: what Tuner::run() returned just before. Without enough pairs in time there is no headline.
// Throws what measure_headline() throws.
void finish_session(const TuneContext& context, const TuneSummary& run);

}  // namespace amdahl

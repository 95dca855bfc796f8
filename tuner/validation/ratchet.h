#pragma once
// What a challenger's error may be beside the starter's on the same numbers.
//
// Bounds of long sums and those propagated through nonlinear nodes may be far above any honest error: then no more than `times` the starter's
// error is asked for too (twice, unless an algorithm declares another constant) but for luck, and where the starter is nearly exact by luck,
// four roundings for each of these times. Where bounds are tight (1e-4 of the value) they are the judge alone.

#include <optional>
#include <string>

#include "tuner/validation/reference.h"

namespace amdahl {

// By how much the rms of the errors of an honest program on `elements` numbers may be above another's by luck: once in a thousand for errors that are
// normally distributed (the root of the quantile of F(n, n): 7.3 for 4, 1.7 for 34, 1.37 for 100; this is 7.4, 2.0 and 1.49, neighbours' errors being alike).
double luck_of(double elements);

// What was exceeded; nothing if nothing was. `times` infinite: nothing is asked for.
std::optional<std::string> beyond_ratchet(double starter_rms_error, double starter_max_error, double times, const Discrepancy& d);

}  // namespace amdahl

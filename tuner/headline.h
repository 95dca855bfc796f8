#pragma once
// The one number of a session: the starter plan against the kept plan, both measured as wholes, now.

#include "tuner/laboratory.h"

namespace amdahl {

// `pairs` pairs of fresh processes. Throws Error(kNotVerified) when one of the plans does not run, Stopped on Ctrl-C.
Headline measure_headline(Laboratory& laboratory, const Plan& starter, const Plan& kept, int64_t kept_id, int pairs,
                          Random& random);

}  // namespace amdahl

#pragma once
// Whether bounds go on through an operator: inputs that are off move an output no further than its bound says. A bound that is lost on the way condemns kernels that
// round as honestly as the oracle does, and shows on no input that is exact.

#include <string>

#include "bench/conformance/stated_case.h"

namespace amdahl::conformance {

// Recurrences are not asked. "" or an element that moved inputs move beyond its bound. Drawn by the case's name alone: the same at every call.
std::string element_beyond_its_bound(const StatedCase& c);

}  // namespace amdahl::conformance

#pragma once
// What this machine's processor can do at most.

#include "profiler/ceiling_probe.h"

namespace amdahl {

// Takes about two seconds.
const CeilingProbe& cpu_probe();

}  // namespace amdahl

// amdahl-bench-core-distance: nanoseconds that a cache line takes from the first core to the last, now. 0: not measured.

#include <fmt/format.h>

#include "profiler/core_distance.h"

int main() { fmt::print("{:.1f}\n", 1e9 * amdahl::core_distance_seconds()); }

// amdahl-bench-handover: nanoseconds that a cache line takes from the first core to the last, now. 0: not measured.

#include <fmt/format.h>

#include "profiler/handover.h"

int main() { fmt::print("{:.1f}\n", 1e9 * amdahl::handover_seconds()); }

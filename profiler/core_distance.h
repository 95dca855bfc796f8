#pragma once
// How long a cache line takes from one core to another, as it does whenever a thread reads what another has written. Under one last-level
// cache some 40 ns (Zen 4), through the fabric between two of them some 170: every step whose operands both threads wrote is that much slower, while
// two such caches hold twice as much. A hypervisor that moves its virtual CPUs changes this by the minute, so it is measured when it is asked
// for and never kept.

namespace amdahl {

// Seconds one way, between the first and the last CPU of this process: median of short repetitions. 0 where there is only one CPU, or where
// the two did not run at once. Takes at most 50 ms.
double core_distance_seconds();

}  // namespace amdahl

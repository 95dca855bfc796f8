#pragma once
// How long a cache line takes from one core to another, as it does whenever a thread reads what another has written. Cores of one last-level cache hand it over
// in 20 to 60 ns (the hyperthreads of one core in 10); through the fabric between caches it takes two to five times as long, and every step of a model whose
// operands were written by both threads is that much slower. A hypervisor that moves its virtual CPUs changes this by the minute, so it is
// measured when it is asked for and never kept.

namespace amdahl {

// Seconds one way, between the first and the last CPU of this process: median of short repetitions. 0 where there is only one CPU, or where
// the two did not run at once. Takes at most 50 ms.
double handover_seconds();

}  // namespace amdahl

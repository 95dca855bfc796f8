#pragma once

namespace amdahl {

// The calling thread, number `thread` of as many as this process has CPUs, to a CPU of its own: a kernel may put threads that wake onto one
// CPU first (6 ms long after 30 ms of rest), and each would seem to run at half its speed. Fewer threads are left where they are put.
void take_cpu(int thread, int threads);

}  // namespace amdahl

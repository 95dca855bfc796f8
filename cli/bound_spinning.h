#pragma once

#include <string>

namespace amdahl {

// How often the threads of an OpenMP team look for work before they sleep (GOMP_SPINCOUNT), by /proc/stat's number of running tasks. Where all processors
// are ours 20,000 looks, some 50 us, are long enough for the next kernel and for the team's slowest thread. Where others run on them a thread that
// spins keeps its own team from a processor: regions of 10 us on two threads beside ten programs on two cores took 31 ms with the library's 300,000,
// 2 ms with 20,000, 0.2 ms with 1,000.
int spin_count(const std::string& stat, int cores);

// The OpenMP library reads its environment before main() runs: unless the user has chosen how teams wait, this program begins once more, with that chosen.
void bound_spinning(char** argv);

}  // namespace amdahl

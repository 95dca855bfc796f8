#pragma once
// What the peers of single kernels have in common: a process that speaks the protocol of docs/compare.md around one kernel.

#include <functional>
#include <vector>

#include "bench/kernels/operands.h"

namespace amdahl {

using Run = std::function<void()>;  // computes operands.output once; allocates nothing

// main() of a peer: ARM MODEL.onnx INPUT_DIR THREADS. `prepare` gives one way to compute the kernel or several, of which the one that is
// fastest here is served. Each thread that the first runs have started gets a CPU of its own.
int peer_main(int argc, char** argv, const std::function<std::vector<Run>(const Operands&, int threads)>& prepare);

}  // namespace amdahl

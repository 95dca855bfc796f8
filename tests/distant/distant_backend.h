#pragma once
// A second backend for tests: the distant device with its arena, its worker program and its confinement. Kernels are the processor's.

#include "tests/distant/distant_arena.h"
#include "tuner/worker/worker_backend.h"

namespace amdahl::testing {

const WorkerBackend& distant_backend(Forgets forgets = Forgets::kNothing);

}  // namespace amdahl::testing

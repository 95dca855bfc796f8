#pragma once
// The backends that amdahl-worker serves.

#include <vector>

#include "tuner/worker/worker_backend.h"

namespace amdahl {

const std::vector<const WorkerBackend*>& worker_backends();
const WorkerBackend& cpu_worker_backend();  // rows of the table
const WorkerBackend& cuda_worker_backend();

}  // namespace amdahl

#pragma once
// The backends that amdahl-worker serves.

#include <vector>

#include "tuner/worker/worker_backend.h"

namespace amdahl {

const std::vector<const WorkerBackend*>& worker_backends();
const WorkerBackend& cpu_worker_backend();                            // rows of the table
std::unique_ptr<WorkerBackend> make_cuda_worker_backend(int number);  // of one card

}  // namespace amdahl

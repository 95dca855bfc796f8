#pragma once
// A worker's side of an NVIDIA card. Only device code of a candidate runs, so this process's own word is good: it copies the supervisor's operands to
// the card before a call and back after it, and times rows of calls by the card's clock.
//
// Buffers that are judged lie between unmapped addresses, which the card's own memory management watches byte by byte; inputs are mapped for
// reading alone, and filled through a second mapping that no kernel is told of. Data begins on a 64-byte boundary in every layout, as in a model: a
// kernel for a card may count on that, unlike one for the processor.

#include <memory>

#include "tuner/worker/worker_device.h"

namespace amdahl {

// The card whose number is in the environment as kCardVariable, else the first. Throws Error(kNoDevice).
inline constexpr const char* kCardVariable = "AMDAHL_CUDA_CARD";
std::unique_ptr<WorkerDevice> make_cuda_worker_device();

}  // namespace amdahl

#pragma once

#include <string>
#include <vector>

#include "plan/plan.h"

namespace amdahl {

// Knobs that choose between algorithms, where all others choose blocks, unrolling and memory.
constexpr const char* kAlgorithmKnobs[] = {"ALGORITHM", "WINO_M", "GEMV", "ONLINE"};

// What steps compute by, whatever their blocks: kinds with the declared form of a product, and the knobs that choose between algorithms. Two forms of
// one window with equal text differ in blocking, flags and memory alone.
std::string algorithm_of(const std::vector<Step>& steps);

}  // namespace amdahl

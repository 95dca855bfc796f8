#pragma once
// One-node graphs that the conformance tests run the conv and pool kinds on.

#include <vector>

#include "graph/graph.h"

namespace amdahl {

std::vector<Graph> conv_examples();
std::vector<Graph> pool_examples();

}  // namespace amdahl

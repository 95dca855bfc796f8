#pragma once
// One-node graphs that the conformance tests run the conv and pool kinds on.

#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace amdahl {

std::vector<Graph> conv_examples();
// Of u8 inputs and constant i8 weights; `quantized`: with a bias, a ReLU and its result rounded to bytes again.
Graph convolution_of_bytes(const char* name, Shape x, Shape w, std::map<std::string, Attribute> attributes, bool quantized);
std::vector<Graph> pool_examples();

}  // namespace amdahl

#pragma once
// A file has one opset for all its nodes; a Graph may hold nodes of several.

#include "graph/graph.h"

namespace amdahl {

// Rewrites ai.onnx nodes of older versions into their `opset` form (attributes that became inputs, changed defaults).
// `opset` is at least 17 and at least every node's version.
void upgrade_opset(Graph& graph, int opset);

}  // namespace amdahl

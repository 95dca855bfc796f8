#pragma once
// How many inputs a node has, of which types, and how many outputs, beside what its operator's row says (OpDef::inputs). Checked once for
// every node, so that shape rules, evaluators and kernels may rely on it.

#include "graph/op.h"

namespace amdahl {

// Throws Refusal that names the first input or output that does not fit.
void check_signature(const OpDef& op, const Graph& graph, const Node& node);

}  // namespace amdahl

#pragma once
// The float64 interpreter: the only judge of correctness for operators, windows and whole models.

#include <functional>
#include <map>

#include "graph/op.h"

namespace amdahl {

// Values by id; only those that are asked for or still needed are held.
using RefValues = std::map<ValueId, RefTensor>;

// Evaluates `nodes` (ids, ascending = topological) of the graph from `given` (all non-constant inputs that the nodes need
// from outside) and returns the values in `wanted`. With `bounds`, float outputs carry error bounds as derived in
// graph/op.h; bounds are for windows, they say nothing over a deep model. `products`: as in EvalContext.
RefValues evaluate(const Graph& graph, const std::vector<NodeId>& nodes, const RefValues& given, const std::vector<ValueId>& wanted, bool bounds,
                   const ProductArithmetic& products = {});

// One node on concrete tensors, rounded to the node's dtypes: constant folding and conformance tests.
std::vector<Tensor> evaluate_node(const Graph& graph, const Node& node, const std::vector<const Tensor*>& inputs);

}  // namespace amdahl

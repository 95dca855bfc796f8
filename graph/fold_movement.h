#pragma once
// Folding of operators that only move elements, on the bytes: the oracle would take a weight of 150 MB through float64.

#include <optional>

#include "graph/graph.h"

namespace amdahl {

// The result of a Transpose or of a view (Reshape, Squeeze, …; shares its input's memory) of a constant, or nullopt for
// other operators. `shape` is that of the result.
std::optional<Tensor> fold_movement(const Node& node, const Tensor& input, const Shape& shape);

}  // namespace amdahl

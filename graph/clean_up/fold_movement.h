#pragma once
// Folding of operators that only move elements, on the bytes: the oracle would take a weight of 150 MB through float64.

#include <optional>

#include "graph/graph.h"

namespace amdahl {

// Reshape, Squeeze, …: the result shares its input's memory and costs nothing.
bool is_view(const Node& node);

// Those and Transpose: done on the bytes, without a copy in float64.
bool moves_bytes(const Node& node);

// The result of a Transpose or of a view of a constant, or nullopt for other operators. `shape` is that of the result.
std::optional<Tensor> fold_movement(const Node& node, const Tensor& input, const Shape& shape);

}  // namespace amdahl

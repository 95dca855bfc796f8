#pragma once
// Indices that lie outside of what they index. ONNX calls one an error; a kernel, which cannot raise one, takes the nearest element instead. So whoever has
// a run's tensors in hand looks first.

#include <vector>

#include "graph/graph.h"

namespace amdahl {

// Throws Error(kBadInput), which names node, tensor, index and range, for the first index outside: of Gather, GatherElements, GatherND and the scatters,
// labels of losses and positions of RotaryEmbedding; constants, inputs of the graph, and what it computes from them. Not looked at are indices whose computation
// takes more than 20 million operations, and those that rounded numbers decide. `inputs`: in the graph's order, of its types and shapes.
void check_indices(const Graph& graph, const std::vector<Tensor>& inputs);

}  // namespace amdahl

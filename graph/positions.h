#pragma once

#include "graph/graph.h"

namespace amdahl {

// Whether the node's input 1 holds positions along `axis` of its input 0 (Gather, ScatterElements …): whatever they are drawn or given as must lie in it.
bool has_positions_along_axis(const Node& node);

}  // namespace amdahl

#pragma once
// What an integer input may hold, as far as the nodes that it indexes say.

#include <cstdint>

#include "graph/graph.h"

namespace amdahl {

inline constexpr int64_t kNoIndexLimit = int64_t{1} << 30;

// The length of the smallest axis that values of this input choose from, followed through what keeps integers as they are; kNoIndexLimit: it is no index.
int64_t index_limit(const Graph& graph, ValueId input);

}  // namespace amdahl

#pragma once
// How the sizes of a model's inputs and outputs go together over the shapes of a graph of several (graph/models/buckets.h).

#include <optional>
#include <vector>

#include "graph/graph.h"

namespace amdahl {

// Buckets by elements of their inputs, fewest first.
std::vector<size_t> buckets_by_size(const Graph& graph);

// The input axis whose size an output's axis has in every bucket. input -1: its size is the same in all of them.
struct AxisSource {
  int input = -1, axis = -1;
};
// By output and axis. No value: some output's size follows no input's.
std::optional<std::vector<std::vector<AxisSource>>> output_axes(const Graph& graph);

// [input][axis]: whether the size differs between buckets.
std::vector<std::vector<bool>> open_axes(const Graph& graph);

}  // namespace amdahl

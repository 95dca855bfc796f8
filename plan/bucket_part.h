#pragma once
// One shape out of a graph and plan of several (graph/models/buckets.h), as a graph and plan of their own.

#include "plan/plan.h"

namespace amdahl {

struct BucketPart {
  Graph graph;  // inputs and outputs have the names they have in the model
  Plan plan;
};

// The whole of it when the graph has no buckets.
BucketPart bucket_part(const Graph& graph, const Plan& plan, size_t bucket);

}  // namespace amdahl

#pragma once
// Whether a model tuned for several shapes computes the shapes between them, by zeros appended to its inputs. That holds for
// batches, for causal models, for masks that are 0 where there is nothing; not where every element sees every other one.
// It is found out, not assumed: the model is loaded at shapes between, and what the next larger plan makes of the padded inputs
// is held against float64.

#include "cli/commands.h"
#include "export/exporter.h"
#include "graph/models/buckets.h"

namespace amdahl {

struct ShapedPlan {
  const std::string& model;
  const std::vector<BucketSizes>& sizes;
  const Graph& graph;  // with buckets
  const Plan& plan;
};

// `limit`: relative norm of an output's error up to which it is right. Tries one shape below the smallest, one between any two.
PaddingFinding find_padding(const ShapedPlan& shaped, double limit, const GlobalOptions& global);

}  // namespace amdahl

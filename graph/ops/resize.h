#pragma once
// Where each output position of a Resize comes from. Kernels build their index and weight tables from the same plan, so that
// a nearest-neighbour tie is never decided twice.

#include <string>
#include <vector>

#include "graph/op.h"

namespace amdahl {

// One output position of one dimension: sum of weight[i] * in[index[i]]. Indices lie inside the tensor; an index may occur
// more than once. `outside`: the extrapolation value instead (tf_crop_and_resize).
struct ResizeTaps {
  std::vector<int64_t> index;
  std::vector<double> weight;
  bool outside = false;
};

struct ResizePlan {
  std::string mode;  // "nearest" (one tap of weight 1), "linear", "cubic"
  Shape out;
  std::vector<std::vector<ResizeTaps>> taps;  // a dimension; empty where it is copied as it is
  double extrapolation = 0;
};

// Of a Resize or Upsample node of `graph`. Throws Refusal.
ResizePlan resize_plan(const Graph& graph, const Node& node);

}  // namespace amdahl

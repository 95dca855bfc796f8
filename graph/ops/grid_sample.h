#pragma once
// What the attributes of a GridSample say, for the oracle and for kernels.

#include "graph/graph.h"

namespace amdahl {

struct GridSampleForm {
  enum Mode { kNearest, kLinear, kCubic } mode;
  enum Padding { kZeros, kBorder, kReflection } padding;
  bool align_corners;  // -1 and 1 are the centres of the outermost elements, not their outer edges
};

GridSampleForm grid_sample_form(const Node& node);  // throws Refusal

}  // namespace amdahl

#pragma once
// What the attributes of a RoiAlign say, for the oracle and for kernels.

#include "graph/graph.h"

namespace amdahl {

struct RoiAlignForm {
  bool takes_largest;  // of the weighted elements, not the mean of the samples
  bool half_pixel;     // coordinates are moved by half an element, and regions may be smaller than one
  int64_t height, width;
  int64_t samples;  // of a bin in each dimension; 0: as many as it has elements
  double scale;

  static constexpr int64_t kMostSamples = 256;  // of a bin in each dimension that kernels take: without a limit, a corner far away would cost hours
};

RoiAlignForm roi_align_form(const Node& node);  // throws Refusal

}  // namespace amdahl

#pragma once
// Where a model was tuned for several shapes (graph/models/buckets.h): the time of each, before and now.

#include <string>
#include <vector>

#include "experiments/session.h"

namespace amdahl {

struct BucketTime {
  std::string name;
  // One run at this shape: sums of its steps' times in place, of the starter plan and of the plan profiled last; what rooflines allow.
  double starter_seconds = 0, kept_seconds = 0, floor_seconds = 0;
  // What a run at this shape costs when its inputs are padded to the next larger shape, over kept_seconds: the price of not
  // having tuned this one. 0 for the largest.
  double padded_ratio = 0;
};

// By kept time, smallest first; empty when there is one shape, or no profile yet.
std::vector<BucketTime> bucket_times(const SessionStore& store, const SessionIdentity& identity);

}  // namespace amdahl

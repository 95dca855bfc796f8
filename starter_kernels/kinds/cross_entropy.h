#pragma once
// The parameters of a cross_entropy problem (cross_entropy.cc says what its operands are).

#include <optional>

#include "starter_kernels/kinds/problem.h"

namespace amdahl {

struct CrossEntropyParams {
  enum class Reduction : char { kMean = 'm', kSum = 's', kNone = 'n' };  // of the losses of all positions; texts have the letters

  Reduction reduction = Reduction::kMean;
  std::optional<int64_t> ignore_index;  // a label whose positions count nothing
  bool logarithms = false;              // the scores are log-probabilities already
  bool weighted = false;                // in[2] has a weight of each class

  static CrossEntropyParams of(const Problem& problem);
  void write(Problem& problem) const;
};

}  // namespace amdahl

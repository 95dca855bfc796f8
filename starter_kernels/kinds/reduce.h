#pragma once
// The parameters of a reduce problem (reduce.cc says what its operands are).

#include <string>
#include <vector>

#include "starter_kernels/kinds/problem.h"

namespace amdahl {

struct ReduceParams {
  std::string op;             // the graph's operator in lower case, without "reduce": "sum", "logsumexp"
  std::vector<int64_t> axes;  // that are folded, counted from the front, ascending

  static ReduceParams of(const Problem& problem);
  void write(Problem& problem) const;

  // Whether rows are summed around their maximum, as exponentials are.
  bool is_shifted() const { return op == "logsumexp"; }
};

}  // namespace amdahl

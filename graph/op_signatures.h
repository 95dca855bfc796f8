#pragma once
// What an operator may be given: how many inputs, of which types, and how many outputs. Checked once for every node, so that shape
// rules, evaluators and kernels may rely on it.

#include "graph/op.h"

namespace amdahl {

struct OpSignature {
  std::string_view domain, name;
  // A letter an input: a any type, n a number (no bool), f a float, i an integer, b bool. A capital: the input may be absent.
  // A '+' at the end: any number of the last one.
  std::string_view inputs;
  int outputs = 1;  // at most; 0: any number
};

const std::vector<OpSignature>& op_signatures();

// Throws Refusal that names the first input or output that does not fit.
void check_signature(const Graph& graph, const Node& node);

}  // namespace amdahl

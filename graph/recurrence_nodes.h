#pragma once
// LSTM, GRU and RNN, which have their inputs and attributes in common (graph/ops/recurrence.h says what they compute).

#include "graph/graph.h"

namespace amdahl {

inline bool is_recurrence(const Node& node) { return node.domain.empty() && (node.op == "LSTM" || node.op == "GRU" || node.op == "RNN"); }

}  // namespace amdahl

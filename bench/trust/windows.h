#pragma once
// The windows on which trust is measured: one each of three kinds, small enough that a pair of processes costs a third of a
// second, and different in what bounds them.

#include <string>
#include <vector>

#include "graph/graph.h"

namespace amdahl::trust {

struct NamedWindow {
  std::string name;  // "gemm"
  std::string what;  // for people
  Graph graph;       // of one node
};

std::vector<std::string> window_names();
// Throws Error(kUsage) for a name that is not one of window_names().
NamedWindow make_window(const std::string& name);

}  // namespace amdahl::trust

#include "graph/positions.h"

#include <set>
#include <string_view>

namespace amdahl {

bool has_positions_along_axis(const Node& node) {
  static const std::set<std::string_view> kOps{"Gather", "GatherElements", "ScatterElements", "Scatter"};
  return node.domain.empty() && kOps.count(node.op) > 0;
}

}  // namespace amdahl

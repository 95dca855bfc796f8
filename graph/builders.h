#pragma once
// The shipped architectures, written in primitive operators as exporters write them, with seeded random weights.

#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace amdahl {

struct BuilderSizes {
  int64_t batch = 0, seq = 0, image = 0;  // 0: default
};

struct Builder {
  std::string_view name;          // "gpt2", "gpt2-mini", ...
  std::string_view description;   // one line, with parameter count and default sizes
  Graph (*build)(const BuilderSizes&);
};
const std::vector<Builder>& builder_list();
const Builder* find_builder(std::string_view name);

}  // namespace amdahl

#pragma once
// The shipped architectures, written in primitive operators as exporters write them, with seeded random weights.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace amdahl {

struct BuilderSizes {
  int64_t batch = 0, seq = 0, image = 0;  // 0: default
};

struct ShippedModel {
  std::string_view name;         // "gpt2", "gpt2-mini", ...
  std::string_view description;  // one line, with parameter count and default sizes
  Graph (*build)(const BuilderSizes&);
};
const std::vector<ShippedModel>& shipped_models();
const ShippedModel* find_shipped_model(std::string_view name);
// Also "gpt2@fp16" or "gpt2@bf16": the same with its floats in that type (narrowed.h). Nothing where there is no such model or type.
std::optional<Graph> build_shipped_model(std::string_view name, const BuilderSizes& sizes);

}  // namespace amdahl

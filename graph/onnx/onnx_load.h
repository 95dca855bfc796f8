#pragma once
// ONNX in: a file or its bytes to a clean Graph.

#include <map>
#include <set>
#include <string>

#include "graph/graph.h"

namespace amdahl {

struct LoadOptions {
  // --shape NAME=1,128: replaces the whole shape of graph input NAME.
  std::map<std::string, Shape> input_shapes;
  // --value NAME=V: graph input NAME holds this number everywhere, at every call: a constant. What depends on it alone is decided now.
  std::map<std::string, double> values;
  // Initializers that are inputs too: those of these names are inputs, for others the file's value is a constant.
  std::set<std::string> given;
  // For builtin: models.
  int64_t batch = 0, seq = 0, image = 0;  // 0: the architecture's default
  bool clean = true;                      // false: as in the file, shapes inferred, nothing folded (tests)
  bool operator==(const LoadOptions&) const = default;
};

// Throws Error: kBadModel, kUnsetDimension, kUsage (a shape that does not fit the model), kUnsupported (with *all* reasons).
Graph load_onnx_file(const std::string& path, const LoadOptions& options);

// From the serialized bytes of a ModelProto; external data is looked for below `folder` only.
Graph load_onnx_bytes(const std::string& bytes, const std::string& folder, const LoadOptions& options);

}  // namespace amdahl

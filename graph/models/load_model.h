#pragma once
// A model by what a user calls it: a file, or one of the shipped architectures.

#include <string>

#include "graph/onnx/onnx_load.h"

namespace amdahl {

// `model` is a path or "builtin:NAME". Throws Error: kBadModel, kUnsetDimension, kUsage (a shape that does not fit the
// model), kUnsupported (with *all* reasons).
Graph load_model(const std::string& model, const LoadOptions& options);

}  // namespace amdahl

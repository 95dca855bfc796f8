#pragma once
// Symbolic dimensions of the model's inputs, set once and for all from the command line.

#include <map>
#include <string>

#include "graph/onnx/parsed_model.h"

namespace amdahl {

// The shape of every input. Naming a symbol in one input sets it in all. Throws Error: kUnsetDimension (the message
// holds the options to type), kUsage (a given shape names no input, has another rank, or contradicts the model or
// another one).
std::map<std::string, Shape> resolve_input_shapes(const ParsedModel& model, const std::map<std::string, Shape>& given);

}  // namespace amdahl

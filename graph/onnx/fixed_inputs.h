#pragma once
// Inputs that always hold the same number become constants.

#include "graph/onnx/parsed_model.h"

namespace amdahl {

// `shapes`: of every input. Returns what was fixed. Throws Error(kUsage) for a name that is no input, or a number that its type does not hold.
std::vector<FixedInput> fix_inputs(ParsedModel& model, const std::map<std::string, Shape>& shapes, const std::map<std::string, double>& values);

}  // namespace amdahl

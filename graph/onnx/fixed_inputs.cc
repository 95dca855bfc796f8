#include "graph/onnx/fixed_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/printable.h"

namespace amdahl {
namespace {

std::string names_of(const std::vector<ParsedInput>& inputs) {
  std::vector<std::string> names;
  for (const ParsedInput& i : inputs) names.push_back(shown(i.name));
  return listed(names, ", ", 30);
}

Tensor filled(const ParsedInput& input, const Shape& shape, double value) {
  const auto refuse = [&](const std::string& why) { throw Error(ExitCode::kUsage, fmt::format("--value {}={}: {}", shown(input.name), value, why)); };
  if (!checked_numel(shape, input.dtype) || numel(shape) > (int64_t{1} << 26)) refuse("the input has too many elements for one number");
  const auto count = static_cast<size_t>(numel(shape));
  if (is_float(input.dtype)) return from_doubles(input.dtype, shape, std::vector<double>(count, value));
  if (std::floor(value) != value || std::fabs(value) > 0x1p53) refuse(fmt::format("the input's type is {}, which holds whole numbers", name_of(input.dtype)));
  const Tensor tensor = from_ints(input.dtype, shape, std::vector<int64_t>(count, static_cast<int64_t>(value)));
  if (count > 0 && to_doubles(tensor)[0] != value) refuse(fmt::format("the input's type is {}, which does not hold that number", name_of(input.dtype)));
  return tensor;
}

}  // namespace

std::vector<FixedInput> fix_inputs(ParsedModel& model, const std::map<std::string, Shape>& shapes, const std::map<std::string, double>& values) {
  std::vector<FixedInput> fixed;
  for (const auto& [name, value] : values) {
    const auto input = std::find_if(model.inputs.begin(), model.inputs.end(), [&wanted = name](const ParsedInput& i) { return i.name == wanted; });
    if (input == model.inputs.end())
      throw Error(ExitCode::kUsage, fmt::format("--value {}=…: the model has no such input; its inputs are: {}", shown(name), names_of(model.inputs)));
    if (!input->refusal.empty()) continue;  // reported with the other reasons that the model cannot run
    fixed.push_back({name, filled(*input, shapes.at(name), value)});
    model.constants.push_back({name, fixed.back().tensor, ""});
    model.inputs.erase(input);
  }
  return fixed;
}

}  // namespace amdahl

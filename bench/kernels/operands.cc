#include "bench/kernels/operands.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "graph/models/load_model.h"
#include "graph/onnx/tensor_io.h"

namespace amdahl {

HugeArray copy_of(const Tensor& tensor) {
  if (tensor.dtype() != DType::kF32) throw Error(ExitCode::kBadInput, "the peers' kernels are for float32");
  const HugeArray copy = huge_array(static_cast<size_t>(tensor.numel()));
  std::ranges::copy(tensor.as<float>(), copy.get());
  return copy;
}

const Tensor& Operands::constant(const std::string& name) const {
  const auto found = constants.find(name);
  if (found == constants.end()) throw Error(ExitCode::kBadModel, fmt::format("{} has no initializer {}", kernel, name));
  return found->second;
}

Operands read_operands(const std::string& onnx_file, const std::string& input_folder) {
  LoadOptions as_in_the_file;
  as_in_the_file.clean = false;
  const Graph graph = load_model(onnx_file, as_in_the_file);
  Operands operands;
  operands.kernel = std::filesystem::absolute(onnx_file).parent_path().filename();
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const Tensor input = load_tensor(fmt::format("{}/{}.npy", input_folder, i));
    operands.inputs.push_back({input.shape(), copy_of(input)});
  }
  for (const Value& value : graph.values)
    if (value.constant) operands.constants[value.name] = *value.constant;
  const Shape& result = graph.value(graph.outputs.at(0)).shape;
  operands.output = {result, huge_array(static_cast<size_t>(numel(result)))};
  return operands;
}

}  // namespace amdahl

#include "graph/node_writer.h"

#include <fmt/format.h>

namespace amdahl {

ValueId NodeWriter::add(const std::string& op, const std::vector<ValueId>& inputs, DType dtype, Shape shape, std::map<std::string, Attribute> attributes) {
  const ValueId v = graph_.add_value(fmt::format("{}/{}_{}", name_, op, graph_.values.size()), dtype, std::move(shape));
  add_to(op, inputs, v, std::move(attributes));
  return v;
}

void NodeWriter::add_to(const std::string& op, const std::vector<ValueId>& inputs, ValueId output, std::map<std::string, Attribute> attributes) {
  Node node;
  node.name = fmt::format("{}/{}_{}", name_, op, output);
  node.op = op;
  node.version = version_;
  node.attributes = std::move(attributes);
  node.inputs = inputs;
  node.outputs = {output};
  out_.push_back(std::move(node));
}

ValueId NodeWriter::constant(const std::string& what, Tensor tensor) {
  return graph_.add_constant(fmt::format("{}/{}_{}", name_, what, graph_.values.size()), std::move(tensor));
}

ValueId NodeWriter::reshape(ValueId x, const Shape& shape) {
  if (graph_.value(x).shape == shape) return x;
  const DType dtype = graph_.value(x).dtype;
  return add("Reshape", {x, constant("shape", from_ints(DType::kI64, {static_cast<int64_t>(shape.size())}, shape))}, dtype, shape);
}

ValueId NodeWriter::transpose(ValueId x, const std::vector<int64_t>& perm) {
  Shape shape;
  bool identity = true;
  for (size_t i = 0; i < perm.size(); ++i) {
    shape.push_back(graph_.value(x).shape[static_cast<size_t>(perm[i])]);
    identity &= perm[i] == static_cast<int64_t>(i);
  }
  if (identity) return x;
  return add("Transpose", {x}, graph_.value(x).dtype, shape, {{"perm", perm}});
}

}  // namespace amdahl

#include "starter_kernels/examples/example_graph.h"

#include <fmt/format.h>

#include "base/random.h"
#include "graph/op.h"

namespace amdahl {

ValueId ExampleGraph::input(DType dtype, Shape shape) {
  const ValueId v = graph_.add_value(fmt::format("x{}", graph_.inputs.size()), dtype, std::move(shape));
  graph_.inputs.push_back(v);
  return v;
}

ValueId ExampleGraph::floats(Shape shape, const std::vector<double>& values, DType dtype) {
  return graph_.add_constant(fmt::format("c{}", graph_.values.size()), from_doubles(dtype, std::move(shape), values));
}

ValueId ExampleGraph::ints(Shape shape, const std::vector<int64_t>& values, DType dtype) {
  return graph_.add_constant(fmt::format("c{}", graph_.values.size()), from_ints(dtype, std::move(shape), values));
}

ValueId ExampleGraph::normal(Shape shape, uint64_t seed, double mean, double deviation, DType dtype) {
  Random random(seed);
  std::vector<double> values(static_cast<size_t>(numel(shape)));
  for (double& v : values) v = mean + deviation * random.normal();
  return floats(std::move(shape), values, dtype);
}

ValueId ExampleGraph::bytes(Shape shape, uint64_t seed) {
  Random random(seed);
  std::vector<int64_t> values(static_cast<size_t>(numel(shape)));
  for (int64_t& v : values) v = static_cast<int64_t>(random.below(256)) - 128;
  return ints(std::move(shape), values, DType::kI8);
}

ValueId ExampleGraph::node(const std::string& op, std::vector<ValueId> inputs, Attributes attributes, size_t count) {
  const size_t dot = op.rfind('.');
  Node node;
  node.name = fmt::format("n{}", graph_.nodes.size());
  node.domain = dot == std::string::npos ? "" : op.substr(0, dot);
  node.op = dot == std::string::npos ? op : op.substr(dot + 1);
  node.version = node.domain.empty() ? version_ : 1;
  node.attributes = std::move(attributes);
  node.inputs = std::move(inputs);
  node.outputs.assign(count, kNoValue);
  for (size_t i = 0; i < count; ++i) node.outputs[i] = graph_.add_value(fmt::format("{}.{}", node.name, i), DType::kF32, {});
  const auto types = infer_node(graph_, node);
  for (size_t i = 0; i < count; ++i) {
    Value& value = graph_.values[static_cast<size_t>(node.outputs[i])];
    value.dtype = types[i].dtype;
    value.shape = types[i].shape;
  }
  graph_.nodes.push_back(std::move(node));
  return graph_.nodes.back().outputs[0];
}

Graph ExampleGraph::finish(const std::vector<ValueId>& outputs) {
  graph_.outputs = outputs;
  return std::move(graph_);
}
Graph ExampleGraph::finish(std::initializer_list<ValueId> outputs) { return finish(std::vector<ValueId>(outputs)); }

}  // namespace amdahl

#pragma once
// Small convolutional networks, whose operators are written one after the other.

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "graph/graph.h"
#include "graph/op.h"

namespace amdahl::testing {

class Network {
 public:
  explicit Network(DType type = DType::kF32) : type_(type) { graph.name = "network"; }

  ValueId input(const Shape& shape) {
    graph.inputs.push_back(graph.add_value("x", type_, shape));
    return graph.inputs.back();
  }
  ValueId op(const std::string& name, std::vector<ValueId> inputs, std::map<std::string, Attribute> attributes = {}) {
    Node node;
    node.op = name;
    node.name = fmt::format("{}_{}", name, graph.nodes.size());
    node.version = 17;
    node.attributes = std::move(attributes);
    node.inputs = std::move(inputs);
    node.outputs = {0};
    const auto type = infer_node(graph, node)[0];
    node.outputs = {graph.add_value(node.name, type.dtype, type.shape)};
    graph.nodes.push_back(node);
    return node.outputs[0];
  }
  ValueId conv(ValueId x, int64_t channels, int64_t kernel, int64_t stride, int64_t group = 1) {
    const Shape w{channels, graph.value(x).shape[1] / group, kernel, kernel};
    const int64_t pad = kernel / 2;
    return op("Conv", {x, weight(w), weight({channels})},
              {{"strides", std::vector<int64_t>{stride, stride}}, {"pads", std::vector<int64_t>{pad, pad, pad, pad}}, {"group", group}});
  }
  ValueId max_pool(ValueId x) {
    return op("MaxPool", {x},
              {{"kernel_shape", std::vector<int64_t>{3, 3}}, {"strides", std::vector<int64_t>{2, 2}}, {"pads", std::vector<int64_t>{1, 1, 1, 1}}});
  }
  void output(ValueId v) { graph.outputs.push_back(v); }

  Graph graph;

 private:
  ValueId weight(const Shape& shape) {
    Random random(graph.values.size());
    std::vector<double> values(static_cast<size_t>(numel(shape)));
    const double scale = 1 / std::sqrt(static_cast<double>(numel(shape) / shape[0]));
    for (double& v : values) v = scale * random.normal();
    return graph.add_constant(fmt::format("w{}", graph.values.size()), from_doubles(type_, shape, values));
  }

  DType type_;
};

// Everything that a region of one storage format meets: an image, pooling, a residual sum, depthwise, a gate by channel, an output in the middle.
inline Graph residual_network(DType type = DType::kF32) {
  Network n(type);
  const ValueId x = n.max_pool(n.op("Relu", {n.conv(n.input({1, 3, 20, 18}), 24, 7, 2)}));
  const ValueId wide = n.op("Relu", {n.conv(x, 40, 1, 1)});
  const ValueId deep = n.op("Relu", {n.conv(wide, 40, 3, 1, 40)});
  const ValueId sum = n.op("Add", {n.conv(deep, 24, 1, 1), x});
  n.output(sum);
  const ValueId next = n.op("Relu", {n.conv(sum, 32, 3, 1)});
  const ValueId gate = n.op("Sigmoid", {n.conv(n.op("GlobalAveragePool", {next}), 32, 1, 1)});
  n.output(n.op("GlobalAveragePool", {n.op("Mul", {next, gate})}));
  return n.graph;
}

}  // namespace amdahl::testing

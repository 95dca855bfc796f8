#include "graph/models/layer_writer.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "base/hash.h"
#include "graph/models/seeded_weights.h"
#include "graph/op.h"

namespace amdahl {
namespace {

// Numbers values as the loader does, inputs, constants, then results in node order: a saved file comes back as the very
// same Graph, and a session begun on one goes on with the other.
Graph renumbered(Graph graph) {
  std::vector<ValueId> order = graph.inputs;
  for (size_t v = 0; v < graph.values.size(); ++v)
    if (graph.values[v].constant) order.push_back(static_cast<ValueId>(v));
  for (const Node& n : graph.nodes) order.insert(order.end(), n.outputs.begin(), n.outputs.end());
  std::vector<ValueId> number(graph.values.size(), kNoValue);
  std::vector<Value> values;
  for (ValueId v : order) {
    number[static_cast<size_t>(v)] = static_cast<ValueId>(values.size());
    values.push_back(std::move(graph.values[static_cast<size_t>(v)]));
  }
  graph.values = std::move(values);
  const auto rename = [&](std::vector<ValueId>& ids) {
    for (ValueId& v : ids) v = v == kNoValue ? v : number[static_cast<size_t>(v)];
  };
  rename(graph.inputs);
  rename(graph.outputs);
  for (Node& n : graph.nodes) rename(n.inputs), rename(n.outputs);
  return graph;
}

}  // namespace

LayerWriter::LayerWriter(std::string model) { graph_.name = std::move(model); }

ValueId LayerWriter::input(const std::string& name, DType dtype, Shape shape) {
  const ValueId v = graph_.add_value(name, dtype, std::move(shape));
  graph_.inputs.push_back(v);
  return v;
}

ValueId LayerWriter::constant(const std::string& name, Tensor tensor) { return graph_.add_constant(qualified(name), std::move(tensor)); }

ValueId LayerWriter::scalar(float value) {
  const auto [it, fresh] = scalars_.try_emplace(value, kNoValue);
  if (fresh) it->second = graph_.add_constant(fmt::format("scalar_{}", scalars_.size()), Tensor::of<float>(DType::kF32, {}, {value}));
  return it->second;
}

ValueId LayerWriter::int_list(const std::vector<int64_t>& values) {
  const auto [it, fresh] = lists_.try_emplace(values, kNoValue);
  if (fresh) it->second = graph_.add_constant(fmt::format("ints_{}", lists_.size()), Tensor::of(DType::kI64, {static_cast<int64_t>(values.size())}, values));
  return it->second;
}

ValueId LayerWriter::normal_weight(const std::string& name, Shape shape, double deviation) {
  const std::string full = qualified(name);
  return graph_.add_constant(full, seeded_normals(std::move(shape), hash64(graph_.name + "/" + full), deviation));
}

ValueId LayerWriter::norm_scale(const std::string& name, int64_t size) {
  const std::string full = qualified(name);
  return graph_.add_constant(full, seeded_uniforms({size}, hash64(graph_.name + "/" + full), 0.5, 1.5));
}

ValueId LayerWriter::bias(const std::string& name, int64_t size) { return normal_weight(name, {size}, 0.1); }

std::vector<ValueId> LayerWriter::node_with_outputs(size_t outputs, const std::string& op, const std::vector<ValueId>& inputs,
                                                    std::map<std::string, Attribute> attributes) {
  std::string name = scope_.empty() ? op : scope_ + "/" + op;
  if (const int n = used_[name]++; n > 0) name += fmt::format("_{}", n);
  Node node{name, "", op, 17, std::move(attributes), inputs, {}};
  for (size_t i = 0; i < outputs; ++i) node.outputs.push_back(graph_.add_value(fmt::format("{}_output_{}", name, i), DType::kF32, {}));
  try {
    const auto types = infer_node(graph_, node);
    for (size_t i = 0; i < outputs; ++i) {
      Value& v = graph_.values[static_cast<size_t>(node.outputs[i])];
      v.dtype = types[i].dtype;
      v.shape = types[i].shape;
    }
  } catch (const Refusal& refusal) {
    throw Error(ExitCode::kUnsupported, fmt::format("{}: node '{}': {}", graph_.name, name, refusal.what()));
  }
  graph_.nodes.push_back(node);
  return node.outputs;
}

ValueId LayerWriter::node(const std::string& op, const std::vector<ValueId>& inputs, std::map<std::string, Attribute> attributes) {
  return node_with_outputs(1, op, inputs, std::move(attributes))[0];
}

ValueId LayerWriter::linear(const std::string& name, ValueId x, int64_t out, bool with_bias, double gain) {
  const int64_t in = shape(x).back();
  const ValueId y = node("MatMul", {x, normal_weight(name + ".weight", {in, out}, gain / std::sqrt(static_cast<double>(in)))});
  return with_bias ? add(bias(name + ".bias", out), y) : y;
}

ValueId LayerWriter::gemm(const std::string& name, ValueId x, int64_t out) {
  const int64_t in = shape(x).back();
  const ValueId w = normal_weight(name + ".weight", {out, in}, 1.0 / std::sqrt(static_cast<double>(in)));
  return node("Gemm", {x, w, bias(name + ".bias", out)}, {{"alpha", 1.0}, {"beta", 1.0}, {"transB", int64_t{1}}});
}

ValueId LayerWriter::layer_norm(const std::string& name, ValueId x, double epsilon) {
  const int64_t size = shape(x).back();
  const ValueId scale = norm_scale(name + ".weight", size), shift = bias(name + ".bias", size);
  // Attributes are fp32 in the file.
  return node("LayerNormalization", {x, scale, shift}, {{"axis", int64_t{-1}}, {"epsilon", static_cast<double>(static_cast<float>(epsilon))}});
}

ValueId LayerWriter::gelu_erf(ValueId x) {
  const ValueId erf = node("Erf", {node("Div", {x, scalar(static_cast<float>(std::sqrt(2.0)))})});
  return mul(mul(x, add(erf, scalar(1.0f))), scalar(0.5f));
}

Graph LayerWriter::finish(const std::vector<std::pair<std::string, ValueId>>& outputs) {
  for (const auto& [name, v] : outputs) {
    graph_.values[static_cast<size_t>(v)].name = name;
    graph_.outputs.push_back(v);
  }
  return renumbered(std::move(graph_));
}

int64_t size_or(int64_t given, int64_t otherwise, int64_t most, const char* what, const std::string& model) {
  if (given == 0) return otherwise;
  if (given < 1 || given > most) throw Error(ExitCode::kUsage, fmt::format("{} {} for {}: between 1 and {} is possible", what, given, model, most));
  return given;
}

void reject_size(int64_t given, const char* what, const std::string& model) {
  if (given != 0) throw Error(ExitCode::kUsage, fmt::format("{} has no {}", model, what));
}

}  // namespace amdahl

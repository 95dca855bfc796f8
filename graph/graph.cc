#include "graph/graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/printable.h"

namespace amdahl {
namespace {

template <typename T>
const T* find_attribute(const Node& node, const std::string& name) {
  const auto it = node.attributes.find(name);
  if (it == node.attributes.end()) return nullptr;
  const T* value = std::get_if<T>(&it->second);
  if (!value) throw Error(ExitCode::kBadModel, fmt::format("node '{}' ({}): attribute '{}' has the wrong type", shown(node.name), node.op, name));
  return value;
}

}  // namespace

std::string to_text(const Attribute& attribute) {
  struct Visitor {
    std::string operator()(int64_t v) const { return fmt::format("{}", v); }
    std::string operator()(double v) const { return fmt::format("{:a}", v); }
    std::string operator()(const std::string& v) const { return "s:" + v; }
    std::string operator()(const std::vector<int64_t>& v) const { return fmt::format("[{}]", fmt::join(v, ", ")); }
    std::string operator()(const std::vector<double>& v) const {
      std::string s;
      for (double d : v) s += fmt::format("{:a},", d);
      return s;
    }
    std::string operator()(const std::vector<std::string>& v) const {
      std::string s;
      for (const auto& t : v) s += t + ",";
      return s;
    }
    std::string operator()(const Tensor& t) const { return fmt::format("{}{}{}", name_of(t.dtype()), to_string(t.shape()), hash_hex(t.data(), t.bytes())); }
  };
  return std::visit(Visitor{}, attribute);
}

int64_t Node::attr_int(const std::string& name, int64_t otherwise) const {
  const auto* v = find_attribute<int64_t>(*this, name);
  return v ? *v : otherwise;
}
double Node::attr_float(const std::string& name, double otherwise) const {
  const auto* v = find_attribute<double>(*this, name);
  return v ? *v : static_cast<double>(static_cast<float>(otherwise));
}
std::string Node::attr_string(const std::string& name, const std::string& otherwise) const {
  const auto* v = find_attribute<std::string>(*this, name);
  return v ? *v : otherwise;
}
std::vector<int64_t> Node::attr_ints(const std::string& name, const std::vector<int64_t>& otherwise) const {
  const auto* v = find_attribute<std::vector<int64_t>>(*this, name);
  return v ? *v : otherwise;
}

ValueId Graph::add_value(std::string value_name, DType dtype, Shape shape) {
  values.push_back({std::move(value_name), dtype, std::move(shape), std::nullopt});
  return static_cast<ValueId>(values.size() - 1);
}

ValueId Graph::add_constant(std::string value_name, Tensor tensor) {
  const ValueId v = add_value(std::move(value_name), tensor.dtype(), tensor.shape());
  values.back().constant = std::move(tensor);
  return v;
}

Uses uses_of(const Graph& graph) {
  Uses uses;
  uses.producer.assign(graph.values.size(), -1);
  uses.consumers.resize(graph.values.size());
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    for (ValueId v : graph.nodes[n].outputs)
      if (v != kNoValue) uses.producer[static_cast<size_t>(v)] = static_cast<NodeId>(n);
    for (ValueId v : graph.nodes[n].inputs)
      if (v != kNoValue) uses.consumers[static_cast<size_t>(v)].push_back(static_cast<NodeId>(n));
  }
  return uses;
}

std::string describe(const Node& node) {
  std::string text = fmt::format("{}{}{} v{}", node.domain, node.domain.empty() ? "" : ".", node.op, node.version);
  for (const auto& [key, value] : node.attributes) text += fmt::format(" {}={}", key, to_text(value));
  return text;
}

std::string fingerprint(const Graph& graph) {
  std::string text;
  for (const Value& v : graph.values) {
    text += fmt::format("v {} {}", name_of(v.dtype), to_string(v.shape));
    if (v.constant) text += hash_hex(v.constant->data(), v.constant->bytes());
    text += '\n';
  }
  for (const Node& n : graph.nodes) {
    text += describe(n);
    for (ValueId v : n.inputs) text += fmt::format(" i{}", v);
    for (ValueId v : n.outputs) text += fmt::format(" o{}", v);
    text += '\n';
  }
  for (ValueId v : graph.inputs) text += fmt::format("in {}\n", v);
  for (ValueId v : graph.outputs) text += fmt::format("out {}\n", v);
  return hash_hex(text);
}

}  // namespace amdahl

#pragma once
// The model as data: values and nodes, all shapes known, in topological order.
//
// A Graph is what the loader (graph/onnx/onnx_load.h) and the shipped builders make, and what everything above reads. It is
// immutable once cleaned up; node and value numbers are stable names for the rest of a session (same file, same options
// -> same numbers).

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "graph/tensor.h"

namespace amdahl {

using ValueId = int32_t;  // index into Graph::values; kNoValue marks an absent optional input or output
using NodeId = int32_t;   // index into Graph::nodes
inline constexpr ValueId kNoValue = -1;

struct Value {
  std::string name;
  DType dtype = DType::kF32;
  Shape shape;
  std::optional<Tensor> constant;  // set for initializers and folded results
  bool varies = false;  // a constant like a weight however small it is (scale, zero point): layers that are equal otherwise have others, so kernels read it
};

using Attribute = std::variant<int64_t, double, std::string, std::vector<int64_t>, std::vector<double>, std::vector<std::string>, Tensor>;

// Equal attributes have equal text, different ones different text (tensors by content hash).
std::string to_text(const Attribute& attribute);

struct Node {
  std::string name;    // unique, for messages
  std::string domain;  // "" is ai.onnx; com.microsoft operators keep theirs
  std::string op;      // ONNX operator type
  int version = 0;     // opset version of `domain` that the model imports: semantics are those of this version
  std::map<std::string, Attribute> attributes;
  std::vector<ValueId> inputs;   // kNoValue where an optional input is absent
  std::vector<ValueId> outputs;  // kNoValue where an optional output is not wanted

  bool has(const std::string& name) const { return attributes.count(name) > 0; }
  int64_t attr_int(const std::string& name, int64_t otherwise) const;
  // `otherwise` as a file would hold it, which is in fp32: an attribute left out and its default written out are the same.
  double attr_float(const std::string& name, double otherwise) const;
  std::string attr_string(const std::string& name, const std::string& otherwise) const;
  std::vector<int64_t> attr_ints(const std::string& name, const std::vector<int64_t>& otherwise = {}) const;
};

// One of several shapes of a model in one graph: see graph/models/buckets.h.
struct Bucket {
  std::string name;
  ValueId first_value = 0;  // its own values start here; shared constants stand in the bucket that had them first
};

// An input of the file that is a constant here (LoadOptions::values): whoever runs the file itself has to give it.
struct FixedInput {
  std::string name;
  Tensor tensor;
};

struct Graph {
  std::string name;
  std::vector<Value> values;
  std::vector<Node> nodes;      // topological order
  std::vector<ValueId> inputs;  // without initializers
  std::vector<ValueId> outputs;
  std::vector<Bucket> buckets;  // empty: a model of one shape
  std::vector<FixedInput> fixed_inputs;

  const Value& value(ValueId v) const { return values[static_cast<size_t>(v)]; }
  const Node& node(NodeId n) const { return nodes[static_cast<size_t>(n)]; }
  bool is_constant(ValueId v) const { return v != kNoValue && value(v).constant.has_value(); }
  ValueId add_value(std::string name, DType dtype, Shape shape);
  ValueId add_constant(std::string name, Tensor tensor);
};

// producer[v] is the node that writes value v, or -1 (inputs, constants). consumers[v] lists readers in order.
struct Uses {
  std::vector<NodeId> producer;
  std::vector<std::vector<NodeId>> consumers;
};
Uses uses_of(const Graph& graph);

// "Op v17 axis=1 …": what a node does, without the values it reads and writes. Equal nodes, equal text.
std::string describe(const Node& node);

// Hash of everything that determines the graph's results: nodes, attributes, shapes, constants' bytes.
std::string fingerprint(const Graph& graph);

}  // namespace amdahl

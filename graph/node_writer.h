#pragma once
// New nodes in the place of one that a pass takes out of a graph.

#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace amdahl {

// Appends nodes to a list, with names and versions derived from the node that they stand in for.
class NodeWriter {
 public:
  NodeWriter(Graph& graph, std::vector<Node>& out, const Node& replaced) : NodeWriter(graph, out, replaced, replaced.version) {}
  NodeWriter(Graph& graph, std::vector<Node>& out, const Node& replaced, int version) : graph_(graph), out_(out), name_(replaced.name), version_(version) {}

  ValueId add(const std::string& op, const std::vector<ValueId>& inputs, DType dtype, Shape shape, std::map<std::string, Attribute> attributes = {});
  void add_to(const std::string& op, const std::vector<ValueId>& inputs, ValueId output, std::map<std::string, Attribute> attributes = {});
  ValueId constant(const std::string& what, Tensor tensor);
  ValueId reshape(ValueId x, const Shape& shape);                  // x itself when it has that shape
  ValueId transpose(ValueId x, const std::vector<int64_t>& perm);  // x itself for the identity

 private:
  Graph& graph_;
  std::vector<Node>& out_;
  std::string name_;
  int version_;
};

}  // namespace amdahl

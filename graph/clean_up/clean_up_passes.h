#pragma once
// The passes of clean_up, one file each. A pass keeps what the graph computes and the names of its inputs and outputs,
// and returns whether it changed anything.

#include <string>
#include <vector>

#include "graph/graph.h"

namespace amdahl {

struct FoldBudget;

void clean_up(Graph& graph, FoldBudget& budget);  // all of them, as onnx_load.h says, with what loading has left of the budget

bool fold_constants(Graph& graph, FoldBudget& budget);  // clean_up_fold.cc: nodes whose results are known become constants
bool remove_no_ops(Graph& graph);                       // clean_up_no_ops.cc: nodes that hand their input through
bool simplify_movement(Graph& graph);                   // clean_up_movement.cc: views become Reshape, chains of them one node
bool lower_normalization(Graph& graph);                 // clean_up_normalization.cc: BatchNormalization to Mul + Add
bool lower_image_means(Graph& graph);  // clean_up_pooling.cc: means over height and width to GlobalAveragePool, which exporters write as either
bool lower_einsum(Graph& graph);       // clean_up_einsum.cc: to Transpose, Reshape, MatMul
bool merge_equal(Graph& graph);        // clean_up_merge.cc: equal constants, equal nodes on equal inputs
bool drop_unused(Graph& graph);        // clean_up_unused.cc: nodes and values without readers; renumbers values

// Readers of `from` read `to` instead, once apply() is called. Chains are followed.
class Replacements {
 public:
  explicit Replacements(const Graph& graph);
  void add(ValueId from, ValueId to);
  ValueId resolve(ValueId v) const;
  // Rewires all nodes' inputs; the graph's outputs stay as they are.
  void apply(Graph& graph) const;

 private:
  std::vector<ValueId> to_;
};

std::vector<bool> is_output(const Graph& graph);  // by value

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

#pragma once
// The passes of clean_up, one file each. A pass keeps what the graph computes and the names of its inputs and outputs,
// and returns whether it changed anything.

#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/node_writer.h"

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
bool merge_sibling_products(Graph& graph, FoldBudget& budget);  // clean_up_siblings.cc: products of the same rows that go on apart, as Q, K and V do
bool drop_unused(Graph& graph);                                 // clean_up_unused.cc: nodes and values without readers; renumbers values

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

}  // namespace amdahl

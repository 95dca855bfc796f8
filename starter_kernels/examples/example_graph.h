#pragma once
// Small graphs, written in a line each, for KernelKind::examples(). Output types and shapes come from the operators' rules.

#include <initializer_list>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace amdahl {

class ExampleGraph {
 public:
  explicit ExampleGraph(std::string name, int version = 18) : version_(version) { graph_.name = std::move(name); }

  ValueId input(DType dtype, Shape shape);
  ValueId input(Shape shape) { return input(DType::kF32, std::move(shape)); }
  ValueId floats(Shape shape, const std::vector<double>& values, DType dtype = DType::kF32);
  ValueId ints(Shape shape, const std::vector<int64_t>& values, DType dtype = DType::kI64);
  ValueId normal(Shape shape, uint64_t seed, double mean = 0, double deviation = 1, DType dtype = DType::kF32);

  ValueId bytes(Shape shape, uint64_t seed);  // of i8, all alike

  using Attributes = std::map<std::string, Attribute>;
  // `op` may carry a domain: "com.microsoft.Gelu". The node's `count` outputs; output 0 is returned.
  ValueId node(const std::string& op, std::vector<ValueId> inputs, Attributes attributes = {}, size_t count = 1);
  // Output `i` of the last node.
  ValueId output_of_last(size_t i) const { return graph_.nodes.back().outputs[i]; }

  // The graph with these outputs.
  Graph finish(std::initializer_list<ValueId> outputs);
  Graph finish(const std::vector<ValueId>& outputs);

 private:
  Graph graph_;
  int version_;
};

std::vector<Graph> pointwise_examples();
std::vector<Graph> movement_examples();
std::vector<Graph> row_examples(std::string_view kind);  // of a kind that works on rows
std::vector<Graph> recurrence_examples();
std::vector<Graph> plain_examples();

}  // namespace amdahl

#pragma once
// Writes a Graph layer by layer, in the primitive operators and with the attributes that PyTorch's ONNX exporter uses
// (opset 17). Shapes come from the operators' own shape rules.

#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/models/builders.h"

namespace amdahl {

class LayerWriter {
 public:
  // Weights are seeded from the model's name and their own.
  explicit LayerWriter(std::string model);

  // Prefix of the names of what follows: "h.0.attn".
  void scope(std::string prefix) { scope_ = std::move(prefix); }

  ValueId input(const std::string& name, DType dtype, Shape shape);
  ValueId constant(const std::string& name, Tensor tensor);
  ValueId scalar(float value);  // one constant a value, shared
  ValueId int_list(const std::vector<int64_t>& values);

  // Weights. `deviation` of a matrix is usually 1/sqrt(fan-in), which keeps activations near unit variance.
  ValueId normal_weight(const std::string& name, Shape shape, double deviation);
  ValueId norm_scale(const std::string& name, int64_t size);  // U(0.5, 1.5): a norm that forgets its scale shows
  ValueId bias(const std::string& name, int64_t size);        // deviation 0.1: a dropped bias shows

  // Appends a node and returns its output(s).
  ValueId node(const std::string& op, const std::vector<ValueId>& inputs, std::map<std::string, Attribute> attributes = {});
  std::vector<ValueId> node_with_outputs(size_t outputs, const std::string& op, const std::vector<ValueId>& inputs,
                                         std::map<std::string, Attribute> attributes = {});

  ValueId add(ValueId a, ValueId b) { return node("Add", {a, b}); }
  ValueId mul(ValueId a, ValueId b) { return node("Mul", {a, b}); }
  ValueId reshape(ValueId x, const Shape& shape) { return node("Reshape", {x, int_list(shape)}); }
  ValueId transpose(ValueId x, const std::vector<int64_t>& perm) { return node("Transpose", {x}, {{"perm", perm}}); }

  // x W (+ b) on the last dimension: MatMul and Add, as nn.Linear on a 3-D input is exported. `gain` scales W's deviation.
  ValueId linear(const std::string& name, ValueId x, int64_t out, bool with_bias = true, double gain = 1.0);
  // The same on a matrix: one Gemm with the weight as nn.Linear stores it, [out, in].
  ValueId gemm(const std::string& name, ValueId x, int64_t out);
  ValueId layer_norm(const std::string& name, ValueId x, double epsilon);
  // Exact GELU: x / 2 * (1 + erf(x / sqrt 2)).
  ValueId gelu_erf(ValueId x);

  const Shape& shape(ValueId v) const { return graph_.value(v).shape; }

  // Names the outputs and gives the graph away.
  Graph finish(const std::vector<std::pair<std::string, ValueId>>& outputs);

 private:
  std::string qualified(const std::string& name) const { return scope_.empty() ? name : scope_ + "." + name; }

  Graph graph_;
  std::string scope_;
  std::map<std::string, int> used_;  // node names so far
  std::map<float, ValueId> scalars_;
  std::map<std::vector<int64_t>, ValueId> lists_;
};

// A size from the command line, or the architecture's own; throws Error(kUsage) outside [1, most].
int64_t size_or(int64_t given, int64_t otherwise, int64_t most, const char* what, const std::string& model);
// Refuses a size that the architecture does not have.
void reject_size(int64_t given, const char* what, const std::string& model);

}  // namespace amdahl

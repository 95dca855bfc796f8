#pragma once
// An operator that is made of others. It is written in them while a model is loaded: oracle, kernels and rewrites know the others alone.
// Its row of the op list has a function of this kind instead of a shape rule and a value (`made_of_others`). A row that has all three writes out the forms
// that its shape rule does not know, and leaves the outputs of others unset.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/op.h"
#include "graph/quantized_form.h"

namespace amdahl {

class Expansion {
 public:
  // The standard that nodes are written in: the oldest that has all of them (Attention, RMSNormalization).
  static constexpr int kVersion = 23;
  // Makes a node part of the graph: finds out what its outputs are, and their values where they are known. Throws Refusal.
  using Place = std::function<std::vector<ValueId>(Node)>;

  Expansion(Graph& graph, const Node& node, Place place, QuantizedForms& forms)
      : node(node), graph_(graph), place_(std::move(place)), forms_(forms), outputs_(node.outputs.size(), kNoValue) {}

  const Node& node;  // that is to be written

  bool has_input(size_t i) const { return i < node.inputs.size() && node.inputs[i] != kNoValue; }
  bool wants_output(size_t i) const { return i < node.outputs.size() && node.outputs[i] != kNoValue; }
  ValueId in(size_t i) const;                                     // throws Refusal when absent
  Shape shape(ValueId v) const { return graph_.value(v).shape; }  // a copy: values move when one is added
  DType dtype(ValueId v) const { return graph_.value(v).dtype; }
  int64_t dim(ValueId v, size_t i) const;  // throws Refusal where v has no such dimension
  int64_t rank(ValueId v) const { return static_cast<int64_t>(shape(v).size()); }
  const Tensor* constant_of(ValueId v) const;                          // nullptr: depends on the data
  const Tensor& constant_in(size_t i, const char* what) const;         // throws Refusal: "<what> must be a constant"
  int64_t constant_number(size_t i, const char* what) const;           // the same of one integer
  static size_t axis_of(int64_t axis, size_t rank, const char* what);  // from the end where negative; out of range is a Refusal

  ValueId constant(const std::string& what, Tensor tensor);
  ValueId scalar(DType dtype, double value);
  ValueId ints(const std::vector<int64_t>& values);  // an int64 vector: a shape, axes, …
  ValueId numbers(const Shape& shape);               // 0, 1, 2, … of int64

  ValueId add(const std::string& op, const std::vector<ValueId>& inputs, const std::map<std::string, Attribute>& attributes = {});
  std::vector<ValueId> add_several(size_t outputs, const std::string& op, const std::vector<ValueId>& inputs,
                                   const std::map<std::string, Attribute>& attributes = {});
  ValueId cast(ValueId x, DType to);               // x itself when it is of that type
  ValueId reshape(ValueId x, const Shape& shape);  // x itself when it has that shape
  ValueId transpose(ValueId x, const std::vector<int64_t>& perm);

  // Of values that a DequantizeLinear made; nullptr: of others.
  const QuantizedForm* quantized_form(ValueId v) const;
  void set_quantized_form(ValueId v, const QuantizedForm& form) { forms_.of[v] = form; }
  ValueId promise_floats(const QuantizedForm& form);  // of a constant in bytes

  void mark_varying(ValueId v) { graph_.values[static_cast<size_t>(v)].varies |= constant_of(v) != nullptr; }  // Value::varies

  void set_output(size_t i, ValueId v);
  const std::vector<ValueId>& outputs() const { return outputs_; }

 private:
  Graph& graph_;
  Place place_;
  QuantizedForms& forms_;
  std::vector<ValueId> outputs_;
  int count_ = 0;
};

// A row of the op list.
OpDef made_of_others(std::string_view domain, std::string_view name, std::string_view inputs, void (*expand)(Expansion&), int outputs = 1,
                     std::vector<VersionChange> changes = {});

}  // namespace amdahl

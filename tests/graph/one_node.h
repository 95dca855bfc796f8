#pragma once
// A model of one node, through the loader and the oracle: for operators that are made of others, which no Graph has.

#include "graph/onnx/onnx_load.h"
#include "graph/onnx_types.h"
#include "graph/oracle.h"
#include "tests/graph/model_maker.h"

namespace amdahl::testing {

class OneNode {
 public:
  OneNode(const std::string& domain, const std::string& op, int opset = 17) : maker_(opset) {
    if (!domain.empty()) {
      auto* import = maker_.proto.add_opset_import();
      import->set_domain(domain);
      import->set_version(1);
    }
    maker_.proto.mutable_graph()->add_node();
    node().set_op_type(op);
    node().set_name("node");
    node().set_domain(domain);
  }

  onnx::NodeProto& node() { return *maker_.proto.mutable_graph()->mutable_node(0); }

  OneNode& data(const RefTensor& t) {
    const std::string name = next_name();
    std::vector<std::string> dims;
    for (const int64_t n : t.shape) dims.push_back(std::to_string(n));
    maker_.input(name, dims, onnx_of_dtype(t.dtype));
    given_.push_back(t);
    return *this;
  }
  OneNode& known(const RefTensor& t) {
    const Tensor tensor = t.to_tensor();
    auto& proto = maker_.initializer(next_name(), t.shape, {});
    proto.set_data_type(onnx_of_dtype(t.dtype));
    proto.set_raw_data(std::string(reinterpret_cast<const char*>(tensor.data()), tensor.bytes()));
    return *this;
  }
  OneNode& absent() {
    node().add_input("");
    return *this;
  }
  OneNode& set(const std::string& name, int64_t value) { return set_int(node(), name, value), *this; }
  OneNode& set(const std::string& name, int value) { return set(name, int64_t{value}); }
  OneNode& set(const std::string& name, double value) { return set_float(node(), name, static_cast<float>(value)), *this; }
  OneNode& set(const std::string& name, const char* value) { return set_string(node(), name, value), *this; }
  OneNode& set(const std::string& name, const std::vector<int64_t>& values) { return set_ints(node(), name, values), *this; }

  Graph load(size_t outputs) {
    for (size_t i = 0; i < outputs; ++i) {
      node().add_output("y" + std::to_string(i));
      maker_.output("y" + std::to_string(i));
    }
    return load_onnx_bytes(maker_.bytes(), "", {});
  }
  std::vector<RefTensor> outputs(size_t count) { return values_of(load(count)); }
  // Where the node has its outputs already, some of them absent.
  std::vector<RefTensor> named_outputs(const std::vector<std::string>& names) {
    for (const std::string& name : names) maker_.output(name);
    return values_of(load(0));
  }
  RefTensor output() { return outputs(1)[0]; }
  // What the loader says; "" where it loads.
  std::string refusal(size_t outputs = 1) {
    try {
      load(outputs);
    } catch (const std::exception& e) {
      return e.what();
    }
    return "";
  }

 private:
  std::vector<RefTensor> values_of(const Graph& graph) const {
    RefValues values;
    for (size_t i = 0; i < given_.size(); ++i) values[graph.inputs[i]] = given_[i];
    std::vector<NodeId> nodes(graph.nodes.size());
    for (size_t n = 0; n < nodes.size(); ++n) nodes[n] = static_cast<NodeId>(n);
    const RefValues found = evaluate(graph, nodes, values, graph.outputs, false);
    std::vector<RefTensor> all;
    for (const ValueId v : graph.outputs) all.push_back(found.at(v));
    return all;
  }

  std::string next_name() {
    node().add_input("x" + std::to_string(node().input_size()));
    return node().input(node().input_size() - 1);
  }

  ModelMaker maker_;
  std::vector<RefTensor> given_;
};

}  // namespace amdahl::testing

#include "graph/onnx/infer_graph.h"

#include "graph/onnx/inference.h"

namespace amdahl {
namespace {

// A value of the model's own name, whoever made it: a branch, nodes that an operator is made of, another output.
ValueId under_name(Inference& inference, ValueId v, const std::string& name) {
  if (inference.graph().value(v).name == name) return v;
  Node node;
  node.name = inference.unique_name(name + "/Identity");
  node.op = "Identity";
  node.version = 1;
  node.inputs = {v};
  node.outputs = {0};
  return inference.place(std::move(node), {name})[0];
}

}  // namespace

void require_known_operators(const ParsedModel& model) {
  Refusals refusals;
  for (const ParsedNode& node : model.nodes)
    if (const std::string why = refusal_of(node); !why.empty()) refusals.add(operator_text(node.domain, node.op, node.version), "node", node.name, why);
  refusals.raise();
}

InferredGraph infer_graph(ParsedModel model, const std::map<std::string, Shape>& shapes) {
  Inference inference(model.name);
  Scope scope;
  for (const ParsedInput& input : model.inputs) inference.add_input(input, input.refusal.empty() ? shapes.at(input.name) : Shape{}, scope);
  inference.add_constants(model.constants, "", scope);
  inference.budget();  // of these: what nodes add is no reason to fold more
  inference.add_nodes(model.nodes, "", scope);
  inference.refusals().raise();
  for (const std::string& name : model.outputs) {
    const ValueId v = under_name(inference, scope.find(name), name);
    inference.graph().outputs.push_back(v);
  }
  inference.keep_promises();
  return {std::move(inference.graph()), inference.budget()};
}

}  // namespace amdahl

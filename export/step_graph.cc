#include "export/step_graph.h"

#include <algorithm>

namespace amdahl {
namespace {

class StepGraph {
 public:
  StepGraph(const ExportRequest& request, const Program& program, const Blob& blob)
      : request_(request), program_(program), value_of_(program.buffers.size(), kNoValue) {
    graph_.name = request.name;
    name_outputs();
    auto piece = blob.pieces.begin();
    for (size_t b = 0; b < program.buffers.size(); ++b) {
      const Program::Buffer& buffer = program.buffers[b];
      if (buffer.role == Program::Role::kConstant) value_of_[b] = graph_.add_constant(buffer.name, (piece++)->second);
      else if (value_of_[b] == kNoValue) value_of_[b] = graph_.add_value(buffer.name, buffer.dtype, storage_shape(buffer));
    }
    for (int b : program.inputs) graph_.inputs.push_back(value_of_[static_cast<size_t>(b)]);
  }

  void add_step(const Program::Call& call, const std::string& op, const std::string& domain, int64_t step, int64_t identity) {
    Node node;
    node.name = request_.name + "_step_" + std::to_string(step);
    node.domain = domain;
    node.op = op;
    node.version = 1;
    std::vector<std::string> computes;
    for (NodeId n : request_.plan.steps[static_cast<size_t>(call.step)].nodes) computes.push_back(request_.graph.node(n).name);
    node.attributes = {{"step", step}, {"plan", identity}, {"computes", computes}};
    for (int b : call.inputs) node.inputs.push_back(value_of_[static_cast<size_t>(b)]);
    for (int b : call.outputs) node.outputs.push_back(value_of_[static_cast<size_t>(b)]);
    graph_.nodes.push_back(std::move(node));
  }

  Graph finish() {
    for (size_t o = 0; o < program_.outputs.size(); ++o) {
      const ValueId held = value_of_[static_cast<size_t>(program_.outputs[o])];
      const Value& want = request_.graph.value(request_.graph.outputs[o]);
      const bool is_it = graph_.value(held).name == want.name && graph_.value(held).shape == want.shape;
      graph_.outputs.push_back(is_it ? held : add_view(held, want));
    }
    return std::move(graph_);
  }

 private:
  // A buffer that is written for an output is that output, whatever shape its writer knows it by.
  void name_outputs() {
    for (size_t o = 0; o < program_.outputs.size(); ++o) {
      const auto b = static_cast<size_t>(program_.outputs[o]);
      const Value& want = request_.graph.value(request_.graph.outputs[o]);
      if (program_.buffers[b].role == Program::Role::kOutput && value_of_[b] == kNoValue)
        value_of_[b] = graph_.add_value(want.name, want.dtype, want.shape);
    }
  }

  ValueId add_view(ValueId held, const Value& want) {
    constexpr int kReshapeVersion = 14;  // the first that reads a 0 in the shape as 0 elements when told to
    const auto rank = static_cast<int64_t>(want.shape.size());
    const ValueId shape = graph_.add_constant(want.name + "_shape", from_ints(DType::kI64, {rank}, want.shape));
    const ValueId view = graph_.add_value(want.name, want.dtype, want.shape);
    graph_.nodes.push_back({want.name + "_view", "", "Reshape", kReshapeVersion, {{"allowzero", int64_t{1}}}, {held, shape}, {view}});
    return view;
  }

  const ExportRequest& request_;
  const Program& program_;
  Graph graph_;
  std::vector<ValueId> value_of_;  // by buffer
};

}  // namespace

Shape storage_shape(const Program::Buffer& buffer) {
  if (buffer.format.empty()) return buffer.shape;
  return {static_cast<int64_t>(buffer.bytes / size_of(buffer.dtype))};
}

Graph step_graph(const ExportRequest& request, const Program& program, const Blob& blob, const std::vector<CxxKernel>& kernels,
                 const std::string& domain, int64_t identity) {
  StepGraph graph(request, program, blob);
  for (size_t c = 0; c < program.calls.size(); ++c) {
    const std::string& file = kernels[static_cast<size_t>(program.calls[c].kernel)].file;
    graph.add_step(program.calls[c], file.substr(0, file.find('.')), domain, static_cast<int64_t>(c), identity);
  }
  return graph.finish();
}

}  // namespace amdahl

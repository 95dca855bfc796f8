#include "export/part_graph.h"

#include <fmt/format.h>

namespace amdahl {
namespace {

// What a buffer holds as a dense tensor: its value's shape, or of a channel-blocked format the elements in a row.
Shape storage_shape(const Program::Buffer& buffer) {
  if (buffer.format.empty()) return buffer.shape;
  return {static_cast<int64_t>(buffer.bytes / size_of(buffer.dtype))};
}

class PartGraph {
 public:
  PartGraph(const ExportRequest& request, const Program& program, const Blob& blob)
      : request_(request), program_(program), value_of_(program.buffers.size(), kNoValue) {
    graph_.name = request.name;
    name_outputs();
    auto piece = blob.pieces.begin();
    for (size_t b = 0; b < program.buffers.size(); ++b) {
      const Program::Buffer& buffer = program.buffers[b];
      if (buffer.role == Program::Role::kConstant) value_of_[b] = graph_.add_constant(buffer.name, (piece++)->second);
    }
    for (int b : program.inputs) graph_.inputs.push_back(value(b));
  }

  void add_part(const Part& part, size_t number, const std::vector<CxxKernel>& kernels, const std::string& domain, int64_t identity) {
    Node node;
    node.name = fmt::format("{}_part_{}", request_.name, number);
    node.domain = domain;
    node.op = name_of_part(part, number, program_, kernels);
    node.version = 1;
    std::vector<std::string> files, computes;
    for (size_t c = part.first; c < part.end; ++c) {
      const Program::Call& call = program_.calls[c];
      files.push_back(kernels[static_cast<size_t>(call.kernel)].file);
      for (NodeId n : request_.plan.steps[static_cast<size_t>(call.step)].nodes) computes.push_back(request_.graph.node(n).name);
    }
    node.attributes = {{"part", static_cast<int64_t>(number)}, {"plan", identity}, {"kernels", files}, {"computes", computes}};
    for (int b : part.inputs) node.inputs.push_back(value(b));
    for (int b : part.outputs) node.outputs.push_back(value(b));
    graph_.nodes.push_back(std::move(node));
  }

  Graph finish() {
    for (size_t o = 0; o < program_.outputs.size(); ++o) {
      const ValueId held = value(program_.outputs[o]);
      const Value& want = request_.graph.value(request_.graph.outputs[o]);
      const bool is_it = graph_.value(held).name == want.name && graph_.value(held).shape == want.shape;
      graph_.outputs.push_back(is_it ? held : add_view(held, want));
    }
    return std::move(graph_);
  }

 private:
  ValueId value(int b) {
    ValueId& v = value_of_[static_cast<size_t>(b)];
    const Program::Buffer& buffer = program_.buffers[static_cast<size_t>(b)];
    if (v == kNoValue) v = graph_.add_value(buffer.name, buffer.dtype, storage_shape(buffer));
    return v;
  }

  // A buffer that is written for an output is that output, whatever shape its writer knows it by.
  void name_outputs() {
    for (size_t o = 0; o < program_.outputs.size(); ++o) {
      const auto b = static_cast<size_t>(program_.outputs[o]);
      const Value& want = request_.graph.value(request_.graph.outputs[o]);
      if (program_.buffers[b].role == Program::Role::kOutput && value_of_[b] == kNoValue) value_of_[b] = graph_.add_value(want.name, want.dtype, want.shape);
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
  std::vector<ValueId> value_of_;  // by buffer; kNoValue: not used yet, or inside a part
};

}  // namespace

Graph part_graph(const ExportRequest& request, const Program& program, const Blob& blob, const std::vector<Part>& parts, const std::vector<CxxKernel>& kernels,
                 const std::string& domain, int64_t identity) {
  PartGraph graph(request, program, blob);
  for (size_t p = 0; p < parts.size(); ++p) graph.add_part(parts[p], p, kernels, domain, identity);
  return graph.finish();
}

}  // namespace amdahl

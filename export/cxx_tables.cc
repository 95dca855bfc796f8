#include "export/cxx_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ostream>

#include "export/weights_hash.h"

namespace amdahl {
namespace {

// Names of a model may hold anything.
std::string c_string(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (u < 0x20 || u >= 0x7f || c == '"' || c == '\\' || c == '?') out += fmt::format("\\{:03o}", u);
    else out += c;
  }
  return out + "\"";
}

std::string tensor_table(const Graph& graph, const std::vector<ValueId>& values, const std::string& name, const char* which) {
  std::string shapes, rows;
  for (size_t i = 0; i < values.size(); ++i) {
    const Value& v = graph.value(values[i]);
    shapes += fmt::format("static const int64_t {}_shape_{}[] = {{{}}};\n", which, i, v.shape.empty() ? "1" : fmt::format("{}", fmt::join(v.shape, ", ")));
    rows += fmt::format("    {{{}, \"{}\", {}, {}_shape_{}, {}}},\n", c_string(v.name), name_of(v.dtype), v.shape.size(), which, i,
                        static_cast<size_t>(numel(v.shape)) * size_of(v.dtype));
  }
  return fmt::format("{}extern \"C\" const int {}_{}_count = {};\nextern \"C\" const {}_tensor {}_{}s[] = {{\n{}}};\n", shapes, name, which, values.size(),
                     name, name, which, rows);
}

}  // namespace

std::string tensor_tables(const Graph& graph, const std::string& name) {
  return tensor_table(graph, graph.inputs, name, "input") + "\n" + tensor_table(graph, graph.outputs, name, "output");
}

std::string step_table(const ExportRequest& request, const Program& program, const std::vector<std::string>& files, const std::string& name) {
  std::string rows;
  for (const Program::Call& c : program.calls) {
    std::vector<std::string> nodes;
    for (NodeId n : request.plan.steps[static_cast<size_t>(c.step)].nodes) nodes.push_back(request.graph.nodes[static_cast<size_t>(n)].name);
    const std::string computes = nodes.empty() ? "conversion of a layout" : fmt::format("{}", fmt::join(nodes, ", "));
    rows += fmt::format("    {{{}, {}}},\n", c_string(files[static_cast<size_t>(c.kernel)]), c_string(computes));
  }
  return fmt::format("extern \"C\" const int {0}_step_count = CALLS;\nextern \"C\" const {0}_step {0}_steps[CALLS + 1] = {{\n{1}}};\n", name, rows);
}

std::string signature_lines(const Graph& graph) {
  std::string text;
  for (ValueId v : graph.inputs)
    text += fmt::format(" *   in  {} {} {}\n", in_comment(graph.value(v).name), name_of(graph.value(v).dtype), to_string(graph.value(v).shape));
  for (ValueId v : graph.outputs)
    text += fmt::format(" *   out {} {} {}\n", in_comment(graph.value(v).name), name_of(graph.value(v).dtype), to_string(graph.value(v).shape));
  return text;
}

uint64_t write_weights(ExportFolder& folder, const Blob& blob) {
  folder.binary("weights.bin", [&](std::ostream& out) {
    size_t at = 0;
    const std::string zeros(64, '\0');
    for (const auto& [offset, tensor] : blob.pieces) {
      out.write(zeros.data(), static_cast<std::streamsize>(static_cast<size_t>(offset) - at));
      out.write(reinterpret_cast<const char*>(tensor.data()), static_cast<std::streamsize>(tensor.bytes()));
      at = static_cast<size_t>(offset) + tensor.bytes();
    }
    out.write(zeros.data(), static_cast<std::streamsize>(blob.bytes - at));
  });
  return weights_hash_of_file(folder.path("weights.bin"));
}

}  // namespace amdahl

// The onnxruntime format: the plan as an ONNX file whose nodes are parts of it, and a library of custom operators that computes
// them inside ONNX Runtime. Texts with @WORDS@ are in onnxruntime_templates/.

#include "export/onnxruntime.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/hash.h"
#include "export/export_folder.h"
#include "export/kernel_library.h"
#include "export/part_graph.h"
#include "export/self_test.h"
#include "export/weights_hash.h"
#include "graph/onnx/onnx_save.h"
#include "graph/onnx_types.h"

namespace amdahl {
namespace {

// What a model file and a library must have in common to fit: the operators look at it when a session is made.
int64_t identity_of(const Program& program, const std::vector<CxxKernel>& kernels) {
  std::string all = Json(program).dump();
  for (const CxxKernel& k : kernels) all += k.tuned;
  return static_cast<int64_t>(hash64(all) >> 1);  // no sign to get wrong on the way
}

std::string types_text(const Graph& graph, const std::vector<ValueId>& values) {
  std::vector<int> types;
  for (ValueId v : values) types.push_back(onnx_of_dtype(graph.value(v).dtype));
  return fmt::format("{}", fmt::join(types, ", "));
}

std::string shapes_text(const Graph& graph, const std::vector<ValueId>& values) {
  std::string text;
  for (ValueId v : values) text += fmt::format("{{{}, {{{}}}}}, ", graph.value(v).shape.size(), fmt::join(graph.value(v).shape, ", "));
  return text;
}

// Size and checksum of every input of a node that is a constant; zeros for the others.
std::string constants_text(const Graph& graph, const Node& node) {
  std::string text;
  for (ValueId v : node.inputs) {
    const std::optional<Tensor>& constant = graph.value(v).constant;
    text += constant ? fmt::format("{{{}, UINT64_C({})}}, ", constant->bytes(), weights_hash(constant->data(), constant->bytes())) : "{0, 0}, ";
  }
  return text;
}

// Where a call of a part finds a buffer, as the operator's tables say it.
std::string place_of(const Part& part, const Program& program, int buffer) {
  for (const auto& [place, buffers] : {std::pair{"NODE_INPUT", &part.inputs}, std::pair{"NODE_OUTPUT", &part.outputs}})
    if (const auto at = std::find(buffers->begin(), buffers->end(), buffer); at != buffers->end())
      return fmt::format("{{{}, {}}}", place, at - buffers->begin());
  return fmt::format("{{IN_ARENA, {}}}", program.buffers[static_cast<size_t>(buffer)].arena_offset);
}

std::string places_of(const Part& part, const Program& program, const std::vector<int>& buffers) {
  std::vector<std::string> places;
  for (int b : buffers) places.push_back(place_of(part, program, b));
  return fmt::format("{}", fmt::join(places, ", "));
}

// src/op_tables.h: an operator a part, with the types of what it reads, the types and shapes of what it writes, and its calls.
std::string op_tables(const Graph& graph, const Program& program, const std::vector<Part>& parts, const std::vector<CxxKernel>& kernels, int64_t identity) {
  size_t max_in = 1, max_out = 1, node_in = 1, node_out = 1, max_rank = 1;
  std::string rows, calls;
  for (size_t p = 0; p < parts.size(); ++p) {
    const Node& node = graph.nodes[p];
    node_in = std::max(node_in, node.inputs.size());
    node_out = std::max(node_out, node.outputs.size());
    for (ValueId v : node.outputs) max_rank = std::max(max_rank, graph.value(v).shape.size());
    rows += fmt::format("    {{\"{}\", {}, {}, {}, {}, {{{}}}, {{{}}}, {{{}}}, {{{}}}}},\n", node.op, parts[p].first, parts[p].end - parts[p].first,
                        node.inputs.size(), node.outputs.size(), types_text(graph, node.inputs), types_text(graph, node.outputs),
                        shapes_text(graph, node.outputs), constants_text(graph, node));
    for (size_t c = parts[p].first; c < parts[p].end; ++c) {
      const Program::Call& call = program.calls[c];
      max_in = std::max(max_in, call.inputs.size());
      max_out = std::max(max_out, call.outputs.size());
      calls += fmt::format("    {{\"{}\", {}, {}, {}, {{{}}}, {{{}}}}},\n", kernels[static_cast<size_t>(call.kernel)].name(), call.kernel, call.inputs.size(),
                           call.outputs.size(), places_of(parts[p], program, call.inputs), places_of(parts[p], program, call.outputs));
    }
  }
  return fmt::format(
      "// Generated. The operators, each a part of the plan (types are numbered as in ONNX files), and the calls of kernels they make.\n"
      "#pragma once\n#include <stddef.h>\n#include <stdint.h>\n\n"
      "enum {{ PARTS = {}, CALLS = {}, MAX_INPUTS = {}, MAX_OUTPUTS = {}, MAX_NODE_INPUTS = {}, MAX_NODE_OUTPUTS = {}, MAX_RANK = {} }};\n"
      "static const int64_t PLAN = INT64_C({});  // of the model file that fits\n"
      "static const size_t ARENA_BYTES = {};     // for what passes between the calls of a part\n\n"
      "struct shape_entry {{\n  int rank;\n  int64_t size[MAX_RANK];\n}};\n"
      "struct constant_entry {{\n  size_t bytes;  // 0: not a constant\n  uint64_t hash;\n}};\n"
      "struct part_entry {{\n  const char* name;\n  int first, calls, inputs, outputs;\n  int in_type[MAX_NODE_INPUTS], "
      "out_type[MAX_NODE_OUTPUTS];\n  shape_entry out[MAX_NODE_OUTPUTS];\n  constant_entry constant[MAX_NODE_INPUTS];\n}};\n"
      "enum buffer_place {{ NODE_INPUT, NODE_OUTPUT, IN_ARENA }};\n"
      "struct operand_entry {{\n  buffer_place place;\n  size_t at;  // number of the input or output, or offset in the arena\n}};\n"
      "struct call_entry {{\n  const char* name;  // of the kernel\n  int kernel, inputs, outputs;\n  operand_entry in[MAX_INPUTS], out[MAX_OUTPUTS];\n}};\n\n"
      "static const part_entry part_table[PARTS + 1] = {{\n{}}};\nstatic const call_entry call_table[CALLS + 1] = {{\n{}}};\n",
      parts.size(), program.calls.size(), max_in, max_out, node_in, node_out, max_rank, identity, program.arena_bytes, rows, calls);
}

}  // namespace

std::vector<std::string> write_onnxruntime(const ExportRequest& request) {
  const std::string name = c_identifier(request.name), domain = "amdahl." + name;
  ExportFolder folder(request.directory);
  const KernelLibrary library = write_kernel_library(folder, name, request.plan);
  Blob blob;
  const Program program = model_program(request.graph, request.plan, library.library_of, &blob);
  const int64_t identity = identity_of(program, library.kernels);
  const std::vector<Part> parts = parts_of(program, request.plan);
  const Graph graph = part_graph(request, program, blob, parts, library.kernels, domain, identity);
  save_onnx(graph, folder.place(name + ".onnx"), true, {request.provenance, {}, {}});
  folder.place(name + ".onnx.data");
  folder.text("src/op_tables.h", op_tables(graph, program, parts, library.kernels, identity));

  Words words = self_test_words(request);
  words.insert(library.words.begin(), library.words.end());
  words["DOMAIN"] = domain;
  for (const auto& [where, file] : {std::pair{"onnxruntime_templates", "selftest.py"},
                                    {"onnxruntime_templates", "CMakeLists.txt"},
                                    {"onnxruntime_templates", "README.md"},
                                    {"python_templates", "recorded_case.py"}})
    folder.text(file, filled_template(fmt::format("{}/{}.in", where, file), words));
  for (const char* file : {"custom_ops.cpp", "onnxruntime_interface.h"})
    folder.text(fmt::format("src/{}", file), filled_template(fmt::format("onnxruntime_templates/{}.in", file), words));
  write_self_test(folder, request.self_test);
  return folder.files();
}

}  // namespace amdahl

// The onnxruntime format: the plan as an ONNX file whose nodes are its steps, and a library of custom operators that computes
// them inside ONNX Runtime. Texts with @WORDS@ are in onnxruntime_templates/.

#include "export/onnxruntime.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/hash.h"
#include "export/export_folder.h"
#include "export/kernel_library.h"
#include "export/self_test.h"
#include "export/step_graph.h"
#include "graph/onnx_load.h"
#include "graph/onnx_tensor.h"

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

// src/op_tables.h: an operator a kernel, with the types of what it reads and writes; a step a node, with the shapes it writes.
std::string op_tables(const Graph& steps, const Program& program, size_t kernels, int64_t identity) {
  size_t max_in = 1, max_out = 1, max_rank = 1;
  std::vector<std::string> ops(kernels);
  std::string rows;
  for (size_t c = 0; c < program.calls.size(); ++c) {
    const Node& node = steps.nodes[c];
    const auto kernel = static_cast<size_t>(program.calls[c].kernel);
    max_in = std::max(max_in, node.inputs.size());
    max_out = std::max(max_out, node.outputs.size());
    for (ValueId v : node.outputs) max_rank = std::max(max_rank, steps.value(v).shape.size());
    ops[kernel] = fmt::format("    {{\"{}\", {}, {}, {{{}}}, {{{}}}}},\n", node.op, node.inputs.size(), node.outputs.size(),
                              types_text(steps, node.inputs), types_text(steps, node.outputs));
    rows += fmt::format("    {{{}, {{{}}}}},\n", kernel, shapes_text(steps, node.outputs));
  }
  return fmt::format(
      "// Generated. The operators (types are numbered as in ONNX files) and the steps that are made of them.\n#pragma once\n"
      "#include <stdint.h>\n\nenum {{ CALLS = {}, MAX_INPUTS = {}, MAX_OUTPUTS = {}, MAX_RANK = {} }};\n"
      "static const int64_t PLAN = INT64_C({});  // of the model file that fits\n\n"
      "struct op_entry {{\n  const char* name;\n  int inputs, outputs;\n  int in_type[MAX_INPUTS], out_type[MAX_OUTPUTS];\n}};\n"
      "struct shape_entry {{\n  int rank;\n  int64_t size[MAX_RANK];\n}};\n"
      "struct step_entry {{\n  int kernel;\n  shape_entry out[MAX_OUTPUTS];\n}};\n\n"
      "static const op_entry op_table[KERNELS + 1] = {{\n{}}};\nstatic const step_entry step_table[CALLS + 1] = {{\n{}}};\n",
      program.calls.size(), max_in, max_out, max_rank, identity, fmt::join(ops, ""), rows);
}

}  // namespace

std::vector<std::string> write_onnxruntime(const ExportRequest& request) {
  const std::string name = c_identifier(request.name), domain = "amdahl." + name;
  ExportFolder folder(request.directory);
  const KernelLibrary library = write_kernel_library(folder, name, request.plan);
  Blob blob;
  const Program program = model_program(request.graph, request.plan, library.library_of, &blob);
  const int64_t identity = identity_of(program, library.kernels);
  const Graph steps = step_graph(request, program, blob, library.kernels, domain, identity);
  save_onnx(steps, folder.place(name + ".onnx"), true, {request.provenance, {}, {}});
  folder.place(name + ".onnx.data");
  folder.text("src/op_tables.h", op_tables(steps, program, library.kernels.size(), identity));

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

// The cxx format: everything as source that a C++ compiler and OpenMP can build. Texts with @WORDS@ are in cxx_templates/.

#include "export/cxx.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ostream>

#include "export/cxx_shapes.h"
#include "export/export_folder.h"
#include "export/kernel_library.h"
#include "export/self_test.h"
#include "export/weights_hash.h"
#include "graph/models/buckets.h"
#include "plan/program.h"

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

std::string place_of(const Program::Buffer& b) {
  switch (b.role) {
    case Program::Role::kInput: return "GIVEN_INPUT, 0";
    case Program::Role::kOutput: return "GIVEN_OUTPUT, 0";
    case Program::Role::kTemporary: return fmt::format("IN_ARENA, {}", b.arena_offset);
    case Program::Role::kConstant: return fmt::format("IN_WEIGHTS, {}", b.blob_offset);
  }
  return "";
}

// In the order of the calls: the kernel's file and the nodes it stands for.
std::string step_table(const ExportRequest& request, const Program& p, const std::vector<CxxKernel>& kernels, const std::string& name) {
  std::string rows;
  for (const Program::Call& c : p.calls) {
    std::vector<std::string> nodes;
    for (NodeId n : request.plan.steps[static_cast<size_t>(c.step)].nodes) nodes.push_back(request.graph.nodes[static_cast<size_t>(n)].name);
    const std::string computes = nodes.empty() ? "conversion of a layout" : fmt::format("{}", fmt::join(nodes, ", "));
    rows += fmt::format("    {{{}, {}}},\n", c_string(kernels[static_cast<size_t>(c.kernel)].file), c_string(computes));
  }
  return fmt::format("extern \"C\" const int {0}_step_count = CALLS;\nextern \"C\" const {0}_step {0}_steps[CALLS + 1] = {{\n{1}}};\n", name, rows);
}

// src/model_tables.h: the program as constant tables.
std::string tables(const ExportRequest& request, const Program& p, const std::vector<CxxKernel>& kernels, const std::string& name, uint64_t weights_hash) {
  const Graph& graph = request.graph;
  size_t max_in = 1, max_out = 1;
  std::string buffers, calls;
  for (const Program::Buffer& b : p.buffers) buffers += fmt::format("    {{{}}},\n", place_of(b));
  for (const Program::Call& c : p.calls) {
    max_in = std::max(max_in, c.inputs.size());
    max_out = std::max(max_out, c.outputs.size());
    const size_t shape = bucket_of(graph.buckets, request.plan.steps[static_cast<size_t>(c.step)].outputs[0].value);
    calls += fmt::format("    {{{}, {}, {}, {}, {{{}}}, {{{}}}}},\n", c.kernel, shape, c.inputs.size(), c.outputs.size(), fmt::join(c.inputs, ", "),
                         fmt::join(c.outputs, ", "));
  }
  return fmt::format(
      "// Generated.\n#pragma once\n#include \"kernel_tables.h\"\n\nenum {{ BUFFERS = {}, CALLS = {}, INPUTS = {}, OUTPUTS = {}, MAX_INPUTS = {}, "
      "MAX_OUTPUTS = {} }};\n"
      "static const size_t WEIGHT_BYTES = {}, ARENA_BYTES = {};\nstatic const uint64_t WEIGHT_HASH = UINT64_C({});\n\n"
      "enum buffer_place {{ GIVEN_INPUT, GIVEN_OUTPUT, IN_ARENA, IN_WEIGHTS }};\n"
      "struct buffer_entry {{\n  buffer_place place;\n  size_t offset;\n}};\n"
      "struct call_entry {{\n  int kernel, shape, inputs, outputs;\n  int in[MAX_INPUTS], out[MAX_OUTPUTS];\n}};\n\n"
      "static const buffer_entry buffer_table[BUFFERS] = {{\n{}}};\n"
      "static const call_entry call_table[CALLS] = {{\n{}}};\n"
      "static const int input_buffer[INPUTS + 1] = {{{}}};\nstatic const int output_buffer[OUTPUTS + 1] = {{{}}};\n\n{}\n{}",
      p.buffers.size(), p.calls.size(), p.inputs.size(), p.outputs.size(), max_in, max_out, p.blob_bytes, std::max<size_t>(p.arena_bytes, 64), weights_hash,
      buffers, calls, fmt::join(p.inputs, ", "), fmt::join(p.outputs, ", "), tensor_table(graph, graph.inputs, name, "input"),
      tensor_table(graph, graph.outputs, name, "output") + step_table(request, p, kernels, name) + shape_constants(request));
}

std::string describe_tensors(const Graph& graph) {
  std::string text;
  for (ValueId v : graph.inputs)
    text += fmt::format(" *   in  {} {} {}\n", in_comment(graph.value(v).name), name_of(graph.value(v).dtype), to_string(graph.value(v).shape));
  for (ValueId v : graph.outputs)
    text += fmt::format(" *   out {} {} {}\n", in_comment(graph.value(v).name), name_of(graph.value(v).dtype), to_string(graph.value(v).shape));
  return text;
}

void write_weights(ExportFolder& writer, const Blob& blob) {
  writer.binary("weights.bin", [&](std::ostream& out) {
    size_t at = 0;
    const std::string zeros(64, '\0');
    for (const auto& [offset, tensor] : blob.pieces) {
      out.write(zeros.data(), static_cast<std::streamsize>(static_cast<size_t>(offset) - at));
      out.write(reinterpret_cast<const char*>(tensor.data()), static_cast<std::streamsize>(tensor.bytes()));
      at = static_cast<size_t>(offset) + tensor.bytes();
    }
    out.write(zeros.data(), static_cast<std::streamsize>(blob.bytes - at));
  });
}

}  // namespace

std::vector<std::string> write_cxx(const ExportRequest& request) {
  const std::string name = c_identifier(request.name);
  ExportFolder folder(request.directory);
  const KernelLibrary library = write_kernel_library(folder, name, request.plan);
  Blob blob;
  const Program program = model_program(request.graph, request.plan, library.library_of, &blob);

  Words words = self_test_words(request);
  words.insert(library.words.begin(), library.words.end());
  words.merge(shape_words(name, request));
  words.insert({{"SIGNATURE", describe_tensors(request.graph)}, {"FOLDER", "."}});
  const std::vector<std::pair<std::string, std::string>> texts{{"model.cpp.in", "src/model.cpp"},
                                                               {"exports.map.in", "cmake/exports.map"},
                                                               {"config.cmake.in", fmt::format("cmake/{}Config.cmake.in", name)},
                                                               {"package.pc.in", fmt::format("cmake/{}.pc.in", name)},
                                                               {"model.h.in", fmt::format("include/{}.h", name)},
                                                               {"selftest.cpp.in", "selftest.cpp"},
                                                               {"example.c.in", "example.c"},
                                                               {"CMakeLists.txt.in", "CMakeLists.txt"},
                                                               {"README.md.in", "README.md"}};
  for (const auto& [from, to] : texts) folder.text(to, filled_template(fmt::format("cxx_templates/{}", from), words));
  write_weights(folder, blob);
  const uint64_t weights_hash = weights_hash_of_file(folder.path("weights.bin"));
  folder.text("src/model_tables.h", tables(request, program, library.kernels, name, weights_hash));
  write_shapes(folder, name, request);
  write_self_test(folder, request.self_test);
  return folder.files();
}

}  // namespace amdahl

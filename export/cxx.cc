// The cxx format: everything as source that a C++ compiler and OpenMP can build. Texts with @WORDS@ are in cxx_templates/.

#include "export/cxx.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "export/cxx_shapes.h"
#include "export/cxx_tables.h"
#include "export/export_folder.h"
#include "export/kernel_library.h"
#include "export/self_test.h"
#include "graph/models/buckets.h"
#include "plan/program.h"

namespace amdahl {

namespace {

std::string place_of(const Program::Buffer& b) {
  switch (b.role) {
    case Program::Role::kInput: return "GIVEN_INPUT, 0";
    case Program::Role::kOutput: return "GIVEN_OUTPUT, 0";
    case Program::Role::kTemporary: return fmt::format("IN_ARENA, {}", b.arena_offset);
    case Program::Role::kConstant: return fmt::format("IN_WEIGHTS, {}", b.blob_offset);
  }
  return "";
}

// src/model_tables.h: the program as constant tables.
std::string tables(const ExportRequest& request, const Program& p, const std::vector<CxxKernel>& kernels, const std::string& name, uint64_t weights_hash) {
  const Graph& graph = request.graph;
  size_t max_in = 1, max_out = 1;
  std::vector<std::string> files;
  for (const CxxKernel& k : kernels) files.push_back(k.file);
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
      buffers, calls, fmt::join(p.inputs, ", "), fmt::join(p.outputs, ", "), tensor_tables(graph, name),
      step_table(request, p, files, name) + shape_constants(request));
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
  words.insert({{"SIGNATURE", signature_lines(request.graph)}, {"FOLDER", "."}, {"RUN", fmt::format("{}_run(model, in, out);", name)}});
  const std::vector<std::pair<std::string, std::string>> texts{{"model.cpp.in", "src/model.cpp"},
                                                               {"exports.map.in", "cmake/exports.map"},
                                                               {"config.cmake.in", fmt::format("cmake/{}Config.cmake.in", name)},
                                                               {"package.pc.in", fmt::format("cmake/{}.pc.in", name)},
                                                               {"model.h.in", fmt::format("include/{}.h", name)},
                                                               {"recorded_case.h.in", "recorded_case.h"},
                                                               {"selftest.cpp.in", "selftest.cpp"},
                                                               {"example.c.in", "example.c"},
                                                               {"CMakeLists.txt.in", "CMakeLists.txt"},
                                                               {"README.md.in", "README.md"}};
  for (const auto& [from, to] : texts) folder.text(to, filled_template(fmt::format("cxx_templates/{}", from), words));
  const uint64_t weights_hash = write_weights(folder, blob);
  folder.text("src/model_tables.h", tables(request, program, library.kernels, name, weights_hash));
  write_shapes(folder, name, request);
  write_self_test(folder, request.self_test);
  return folder.files();
}

}  // namespace amdahl

#include "export/cxx_shapes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/counted.h"
#include "graph/models/bucket_axes.h"
#include "graph/models/buckets.h"

namespace amdahl {
namespace {

bool has_shapes(const ExportRequest& request) { return request.graph.buckets.size() > 1; }

std::vector<std::string> names_of(const Graph& graph) {
  std::vector<std::string> names;
  for (const Bucket& b : graph.buckets) names.push_back(b.name);
  return names;
}

size_t max_rank(const Graph& graph) {
  size_t rank = 1;
  for (const std::vector<ValueId>* list : {&graph.inputs, &graph.outputs})
    for (ValueId v : *list) rank = std::max(rank, graph.value(v).shape.size());
  return rank;
}

// Rows of numbers as C writes them: "{1, 0}, {0, 1}".
template <typename Row, typename Text>
std::string rows_of(const std::vector<Row>& rows, Text text) {
  std::vector<std::string> lines;
  for (const Row& row : rows) {
    std::vector<std::string> entries;
    for (const auto& entry : row) entries.push_back(text(entry));
    lines.push_back(fmt::format("{{{}}}", entries.empty() ? "0" : fmt::format("{}", fmt::join(entries, ", "))));
  }
  return fmt::format("{}", fmt::join(lines, ", "));
}

size_t aligned_bytes(const Value& v) { return (static_cast<size_t>(numel(v.shape)) * size_of(v.dtype) + 63) / 64 * 64; }

// Room for padded inputs and for the outputs they give, of the largest shape.
size_t staging_bytes(const ExportRequest& request) {
  size_t most = 0;
  for (size_t b = 0; request.padding.refusal.empty() && b < request.graph.buckets.size(); ++b) {
    size_t bytes = 0;
    for (const std::vector<ValueId>& list : {bucket_inputs(request.graph, b), bucket_outputs(request.graph, b)})
      for (ValueId v : list) bytes += aligned_bytes(request.graph.value(v));
    most = std::max(most, bytes);
  }
  return most;
}

std::string shape_tables(const std::string& name, const ExportRequest& request) {
  const Graph& graph = request.graph;
  const size_t inputs = bucket_inputs(graph, 0).size(), outputs = bucket_outputs(graph, 0).size();
  const bool padding = request.padding.refusal.empty();
  std::vector<std::vector<AxisSource>> sources(outputs);
  if (padding) sources = *output_axes(graph);
  return fmt::format(
      "// Generated.\n#pragma once\n#include \"{0}.h\"\n\n"
      "enum {{ SHAPES = {1}, INPUTS_OF_ONE = {2}, OUTPUTS_OF_ONE = {3}, MAX_RANK = {4}, PADDING = {5} }};\n"
      "struct axis_source {{\n  int input, axis;  // input -1: the same size in all shapes\n}};\n"
      "static const int by_size[SHAPES] = {{{6}}};\n"
      "static const unsigned char open_axis[INPUTS_OF_ONE + 1][MAX_RANK] = {{{7}}};\n"
      "static const axis_source output_axis[OUTPUTS_OF_ONE + 1][MAX_RANK] = {{{8}}};\n\n"
      "extern \"C\" const int {0}_shape_count = SHAPES, {0}_inputs_of_one = INPUTS_OF_ONE, {0}_outputs_of_one = OUTPUTS_OF_ONE;\n"
      "extern \"C\" const char* const {0}_shape_names[SHAPES] = {{\"{9}\"}};\n",
      name, graph.buckets.size(), inputs, outputs, max_rank(graph), padding ? 1 : 0, fmt::join(buckets_by_size(graph), ", "),
      rows_of(open_axes(graph), [](bool open) { return open ? "1" : "0"; }),
      rows_of(sources, [](const AxisSource& s) { return fmt::format("{{{}, {}}}", s.input, s.axis); }), fmt::join(names_of(graph), "\", \""));
}

std::string sizes_of(const std::vector<Tensor>& tensors) {
  std::vector<std::string> rows;
  for (const Tensor& t : tensors) rows.push_back(fmt::format("{{{}}}", t.shape().empty() ? "1" : fmt::format("{}", fmt::join(t.shape(), ", "))));
  return fmt::format("{}", fmt::join(rows, ", "));
}

std::string bytes_of(const std::vector<Tensor>& tensors) {
  std::vector<size_t> bytes;
  for (const Tensor& t : tensors) bytes.push_back(t.bytes());
  return fmt::format("{}", fmt::join(bytes, ", "));
}

std::string case_tables(const ExportRequest& request) {
  const size_t inputs = bucket_inputs(request.graph, 0).size(), outputs = bucket_outputs(request.graph, 0).size();
  std::string rows;
  for (const PaddingFinding::Case& c : request.padding.cases) {
    std::vector<std::string> shapes;
    for (const Tensor& t : c.inputs) shapes.push_back(fmt::format("{}", fmt::join(t.shape(), ",")));
    rows += fmt::format("    {{\"{}\", {{{}}}, {{{}}}, {{{}}}}},\n", fmt::join(shapes, " "), sizes_of(c.inputs), bytes_of(c.inputs), bytes_of(c.expected));
  }
  return fmt::format(
      "// Generated.\n#pragma once\n#include <stddef.h>\n#include <stdint.h>\n\nenum {{ MAX_SHAPE_RANK = {0} }};\n"
      "struct BetweenCase {{\n  const char* name;  // \"\": none\n  int64_t sizes[{1}][{0}];\n  size_t input_bytes[{1}], output_bytes[{2}];\n}};\n"
      "static const BetweenCase kBetween[] = {{\n{3}    {{\"\", {{{{0}}}}, {{0}}, {{0}}}},\n}};\n",
      max_rank(request.graph), std::max<size_t>(1, inputs), std::max<size_t>(1, outputs), rows);
}

std::string readme_of(const std::string& name, const ExportRequest& request) {
  const std::string names = fmt::format("{}", fmt::join(names_of(request.graph), ", "));
  return fmt::format(
      "\n## Shapes\n\nTuned for {} of the inputs: {}. `{}_run_shape(model, sizes, inputs, outputs)` computes inputs of any of them, by the kernels\n"
      "tuned for that shape. {}\n",
      counted(request.graph.buckets.size(), "shape"), names, name,
      request.padding.refusal.empty()
          ? fmt::format("Smaller inputs are computed by the next larger shape, with zeros appended: found right against float64 at {}\nbetween, "
                        "which the self-test runs again. It copies inputs and outputs and costs what the larger shape costs.",
                        counted(request.padding.cases.size(), "shape"))
          : fmt::format("Other sizes are refused (the result is negative), since {}.", request.padding.refusal));
}

}  // namespace

void write_shapes(ExportFolder& folder, const std::string& name, const ExportRequest& request) {
  if (!has_shapes(request)) return;
  const Words words = shape_words(name, request);
  folder.text("src/shape_tables.h", shape_tables(name, request));
  folder.text("src/shapes.cpp", filled_template("shapes_templates/shapes.cpp.in", words));
  folder.text("selftest_shapes.h", case_tables(request));
  folder.text("selftest_shapes.cpp", filled_template("shapes_templates/selftest_shapes.cpp.in", words));
  folder.binary("selftest_shapes.bin", [&](std::ostream& out) {
    for (const PaddingFinding::Case& c : request.padding.cases)
      for (const std::vector<Tensor>* list : {&c.inputs, &c.expected})
        for (const Tensor& t : *list) out.write(reinterpret_cast<const char*>(t.data()), static_cast<std::streamsize>(t.bytes()));
  });
}

Words shape_words(const std::string& name, const ExportRequest& request) {
  Words words{{"NAME", name},      {"SHAPES_API", ""},   {"SHAPES_SOURCE", ""}, {"SHAPES_SELFTEST_SOURCE", ""}, {"TEST_SHAPES_DECLARATION", ""},
              {"TEST_SHAPES", ""}, {"SHAPES_README", ""}};
  if (!has_shapes(request)) return words;
  words["SHAPE_NAMES"] = in_comment(fmt::format("{}", fmt::join(names_of(request.graph), ", ")));
  words["PADDING_NOTE"] = request.padding.refusal.empty() ? ", or the smallest that\n * holds them, with zeros appended." : ".";
  words["SHAPES_API"] = filled_template("shapes_templates/shapes.h.in", words);
  words["SHAPES_SOURCE"] = " src/shapes.cpp";
  words["SHAPES_SELFTEST_SOURCE"] = " selftest_shapes.cpp";
  words["TEST_SHAPES_DECLARATION"] = fmt::format(
      "// selftest_shapes.cpp: how many shapes came out wrong.\nint test_shapes({}_model* model, const char* folder, const std::vector<std::vector<unsigned "
      "char>>& in,\n"
      "                const std::vector<std::vector<unsigned char>>& want, double limit);\n\n",
      name);
  words["TEST_SHAPES"] = " + test_shapes(model, folder, c.in, c.want, kLimit)";
  words["SHAPES_README"] = readme_of(name, request);
  return words;
}

std::string shape_constants(const ExportRequest& request) {
  return fmt::format("static const int SHAPES_OF_MODEL = {}, INPUTS_OF_SHAPE = {}, OUTPUTS_OF_SHAPE = {};\nstatic const size_t STAGING_BYTES = {};\n",
                     std::max<size_t>(1, request.graph.buckets.size()), bucket_inputs(request.graph, 0).size(), bucket_outputs(request.graph, 0).size(),
                     has_shapes(request) ? staging_bytes(request) : 0);
}

}  // namespace amdahl

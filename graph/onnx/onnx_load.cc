#include "graph/onnx/onnx_load.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "base/error.h"
#include "graph/clean_up/clean_up.h"
#include "graph/clean_up/clean_up_passes.h"
#include "graph/onnx/fixed_inputs.h"
#include "graph/onnx/infer_graph.h"
#include "graph/onnx/input_shapes.h"

namespace amdahl {
namespace {

// What people point at by mistake, by the first bytes of the file.
std::string mistaken_for(std::string_view bytes) {
  struct Magic {
    size_t offset;
    std::string_view bytes, advice;
  };
  static constexpr Magic kMagics[] = {
      {0, "version https://git-lfs", "a Git LFS pointer: run 'git lfs pull' to fetch the model itself"},
      {0, std::string_view("PK\x03\x04", 4), "a zip archive, as PyTorch checkpoints are: export it with torch.onnx.export"},
      {0, std::string_view("\x80\x02", 2), "a pickle, as old PyTorch checkpoints are: export it with torch.onnx.export"},
      {0, "\x89HDF", "an HDF5 file, as Keras saves: convert it with tf2onnx"},
      {4, "TFL3", "a TensorFlow Lite model: convert it with tf2onnx"},
      {0, "GGUF", "a GGUF file: export the original model to ONNX"},
      {8, "{\"", "a safetensors file: export the model to ONNX"},
      {4, "ORTM", "an ONNX Runtime format model: use the .onnx file that it was made from"},
      {0, "SQLite format 3", "a database, as the sessions of this program are: `amdahl resume FILE` goes on with one"},
      {0, "\x93NUMPY", "a NumPy array: give the .onnx file"},
      {0, "<", "a web page or XML file: the download went wrong"},
  };
  for (const Magic& m : kMagics)
    if (bytes.size() >= m.offset + m.bytes.size() && bytes.substr(m.offset, m.bytes.size()) == m.bytes) return std::string(m.advice);
  return "";
}

// A model that cannot run at any size says so before it asks for sizes.
std::map<std::string, Shape> shapes_of_inputs(const ParsedModel& model, const std::map<std::string, Shape>& given) {
  try {
    return resolve_input_shapes(model, given);
  } catch (const Error& e) {
    if (e.code() == ExitCode::kUnsetDimension) require_known_operators(model);
    throw;
  }
}

Graph load_bytes(std::string_view bytes, const std::string& folder, const LoadOptions& options) {
  if (bytes.empty()) throw Error(ExitCode::kBadModel, "the file is empty; fetch or export it again");
  if (const std::string what = mistaken_for(bytes); !what.empty()) throw Error(ExitCode::kBadModel, "not an ONNX model but " + what);
  ExternalData external(folder);
  ParsedModel model = parse_model(bytes, external);
  take_inputs(model, options.given);
  inline_functions(model);
  take_constants(model);
  sort_nodes(model, options.clean);
  const auto shapes = shapes_of_inputs(model, options.input_shapes);
  std::vector<FixedInput> fixed = fix_inputs(model, shapes, options.values);
  auto [graph, budget] = infer_graph(std::move(model), shapes);
  graph.fixed_inputs = std::move(fixed);
  if (options.clean) {
    clean_up(graph, budget);
  } else {
    for (const Node& node : graph.nodes)
      for (ValueId v : node.outputs)
        if (v != kNoValue) graph.values[static_cast<size_t>(v)].constant.reset();
  }
  return std::move(graph);
}

}  // namespace

Graph load_onnx_file(const std::string& path, const LoadOptions& options) {
  MappedFile file;
  try {
    file = map_file(path);
  } catch (const std::system_error& e) {
    throw Error(ExitCode::kBadModel, fmt::format("cannot open model '{}': {}", path, e.code().message()));
  }
  try {
    return load_bytes(file.text(), std::filesystem::path(path).parent_path().string(), options);
  } catch (const Error& e) {
    throw Error(e.code(), fmt::format("{}: {}", path, e.what()));
  }
}

Graph load_onnx_bytes(const std::string& bytes, const std::string& folder, const LoadOptions& options) { return load_bytes(bytes, folder, options); }

}  // namespace amdahl

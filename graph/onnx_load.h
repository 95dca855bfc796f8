#pragma once
// ONNX in: a file, or the shipped architectures by name, to a clean Graph.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace amdahl {

struct LoadOptions {
  // --shape NAME=1,128: replaces the whole shape of graph input NAME.
  std::map<std::string, Shape> input_shapes;
  // Initializers that are inputs too: those of these names are inputs, for others the file's value is a constant.
  std::set<std::string> given;
  // For builtin: models.
  int64_t batch = 0, seq = 0, image = 0;  // 0: the architecture's default
  bool clean = true;                      // false: as in the file, shapes inferred, nothing folded (tests)
  bool operator==(const LoadOptions&) const = default;
};

// `model` is a path or "builtin:NAME". Throws Error: kBadModel, kUnsetDimension, kUsage (a shape that does not fit the
// model), kUnsupported (with *all* reasons).
Graph load_model(const std::string& model, const LoadOptions& options);

// From the serialized bytes of a ModelProto; external data is looked for below `folder` only.
Graph load_onnx_bytes(const std::string& bytes, const std::string& folder, const LoadOptions& options);

// What a saved model says beside what it computes: viewers show it, scripts read it.
struct OnnxNotes {
  std::string text;                             // of the model
  std::map<std::string, std::string> metadata;  // of the model: its metadata_props
  std::map<ValueId, std::string> nodes;         // of the node that writes this value, as its first output
};

// Writes a graph as ONNX (opset 17, or newer where a node is newer; initializers over 1 KiB go to PATH.data when
// `external`), with the types and shapes of all values. Existing files are replaced whole. Throws Error: kIo, kUsage (over
// 2 GiB without `external`).
void save_onnx(const Graph& graph, const std::string& path, bool external, const OnnxNotes& notes = {});

// Constant folding, identity removal, dead code, equal nodes and constants merged, Flatten/Squeeze/Unsqueeze as
// Reshape, BatchNormalization (inference) as Mul + Add, Einsum of two operands as MatMul. Keeps the meaning of the
// graph and the names of its inputs and outputs; an output may become a constant. Values are renumbered.
void clean_up(Graph& graph);

// Tensor files: .npy (v1-3, little endian, C order) and ONNX TensorProto .pb. Throws Error(kBadInput / kIo). bf16 is
// saved as f32, which NumPy has.
Tensor load_tensor(const std::string& path);
void save_npy(const Tensor& tensor, const std::string& path);

}  // namespace amdahl

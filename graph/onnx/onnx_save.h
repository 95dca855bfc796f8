#pragma once
// ONNX out.

#include <map>
#include <string>

#include "graph/graph.h"

namespace amdahl {

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

}  // namespace amdahl

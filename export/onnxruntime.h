#pragma once

#include "export/exporter.h"

namespace amdahl {

// DIR/NAME.onnx with its weights, whose nodes are parts of the plan; src/: the library of custom operators that computes them in
// ONNX Runtime; selftest.py, selftest.bin, CMakeLists.txt, README.md.
std::vector<std::string> write_onnxruntime(const ExportRequest& request);

}  // namespace amdahl

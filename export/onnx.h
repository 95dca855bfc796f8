#pragma once

#include "export/exporter.h"

namespace amdahl {

// DIR/NAME.onnx: the model as it was planned, in standard operators, with the step of every node in its notes; selftest.py,
// selftest.bin, README.md.
std::vector<std::string> write_onnx(const ExportRequest& request);

}  // namespace amdahl

#pragma once

#include "export/exporter.h"

namespace amdahl {

// The pytorch format of a plan for an NVIDIA card: all of the cxx format, and DIR/python/: a module that registers the model with torch.library and launches it
// through the C library, a self-test inside PyTorch.
std::vector<std::string> write_pytorch_cuda(const ExportRequest& request);

}  // namespace amdahl

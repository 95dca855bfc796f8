#pragma once

#include "export/exporter.h"

namespace amdahl {

// All of the cxx format, and DIR/python/: an extension that registers the model with torch.library, a module that loads it, a
// self-test inside PyTorch.
std::vector<std::string> write_pytorch(const ExportRequest& request);

}  // namespace amdahl

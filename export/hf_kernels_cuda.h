#pragma once

#include "export/exporter.h"

namespace amdahl {

// A repository of the kernels hub (huggingface.co/docs/kernels), of a plan for an NVIDIA card: DIR/build/torch-cuda/ is the kernel, in Python and with a C
// library that is built here, DIR/source/ what that was built from.
std::vector<std::string> write_hf_kernels(const ExportRequest& request);

}  // namespace amdahl

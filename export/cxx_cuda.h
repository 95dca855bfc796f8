#pragma once

#include "export/exporter.h"

namespace amdahl {

// The cxx format of a plan for an NVIDIA card: DIR/include/NAME.h, src/, kernels/, weights.bin, selftest.bin, selftest.cpp, example.c, CMakeLists.txt, README.md.
std::vector<std::string> write_cxx_cuda(const ExportRequest& request);

}  // namespace amdahl

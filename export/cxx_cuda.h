#pragma once

#include "export/export_folder.h"
#include "export/exporter.h"

namespace amdahl {

// What formats that build on this one need of it.
struct CudaSources {
  std::vector<std::string> files;  // that were written
  Words words;                     // of its texts: NAME, CARD, ARCHITECTURE, PORTABLE_NOTE and those of the self-test
  bool portable = false;           // whether cards other than the session's run it
};
CudaSources write_cuda_sources(const ExportRequest& request);

// The cxx format of a plan for an NVIDIA card: DIR/include/NAME.h, src/, kernels/, weights.bin, selftest.bin, selftest.cpp, example.c, CMakeLists.txt, README.md.
std::vector<std::string> write_cxx_cuda(const ExportRequest& request);

}  // namespace amdahl

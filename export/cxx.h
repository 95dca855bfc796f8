#pragma once

#include "export/exporter.h"

namespace amdahl {

// DIR/include/NAME.h, src/, weights.bin, selftest.bin, selftest.cpp, example.c, CMakeLists.txt, README.md.
std::vector<std::string> write_cxx(const ExportRequest& request);

}  // namespace amdahl

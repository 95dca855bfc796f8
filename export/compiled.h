#pragma once
// The compiled format: the kept plan with its kernels as they were compiled and proven, and a library of ours that runs it from C, C++ or Python
// (plan_library/amdahl_plan.h). It needs no compiler and takes no time to build, and runs on this kind of processor alone.

#include "export/exporter.h"

namespace amdahl {

std::vector<std::string> write_compiled(const ExportRequest& request);

}  // namespace amdahl

#pragma once

#include "export/exporter.h"

namespace amdahl {

// DIR/plan.json and DIR/kernels/: the kept plan as data, for tools.
std::vector<std::string> write_plan_json(const ExportRequest& request);

}  // namespace amdahl

#pragma once

#include "export/exporter.h"
#include "starter_kernels/kinds/problem.h"

namespace amdahl {

// DIR/plan.json and DIR/kernels/: the kept plan as data, for tools.
std::vector<std::string> write_plan_json(const ExportRequest& request);

// A step as it stands in plan.json, without the file of its kernel.
Json step_json(const Graph& graph, const Step& step);

}  // namespace amdahl

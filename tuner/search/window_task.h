#pragma once
// A window of a plan as a task for the trial runner.

#include <string>
#include <vector>

#include "tuner/trials/trial_runner.h"

namespace amdahl {

std::vector<Step> steps_of(const Plan& plan, const Window& window);
WindowTask window_task(const Graph& graph, const Plan& plan, const std::string& signature, const Window& window);

}  // namespace amdahl

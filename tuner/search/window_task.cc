#include "tuner/search/window_task.h"

namespace amdahl {

std::vector<Step> steps_of(const Plan& plan, const Window& window) {
  std::vector<Step> steps;
  for (int s : window.steps) steps.push_back(plan.steps[static_cast<size_t>(s)]);
  return steps;
}

WindowTask window_task(const Graph& graph, const Plan& plan, const std::string& signature, const Window& window) {
  WindowTask task;
  task.signature = signature;
  task.io = io_of(graph, plan, window);
  task.threads = plan.threads;
  task.incumbent = steps_of(plan, window);
  return task;
}

}  // namespace amdahl

#include "plan/require_memory.h"

#include "plan/program.h"

namespace amdahl {

// Plans memory as for a run: pieces of the blob share the graph's constants.
void require_memory(const Graph& graph, const Plan& plan) {
  Blob blob;
  model_program(graph, plan, std::vector<std::string>(plan.steps.size(), "not compiled"), &blob);
}

}  // namespace amdahl

#pragma once
// What the fuzzer does with the bytes of a file, and the regressions test with those it once fell over.

#include <string>

#include "base/error.h"
#include "graph/onnx_load.h"
#include "plan/program.h"

namespace amdahl::testing {

// From bytes to a graph that is ready to run, with its plan. A refusal is an answer; everything else that is thrown, kInternal
// included, is a bug and leaves this function.
inline void load_hostile_model(const std::string& bytes, const std::string& folder) {
  for (const bool clean : {true, false}) {
    try {
      LoadOptions options;
      options.clean = clean;
      const Graph graph = load_onnx_bytes(bytes, folder, options);
      const Plan plan = starter_plan(graph, 2);
      if (const std::string wrong = check(graph, plan); !wrong.empty()) throw std::logic_error(wrong);
      Blob blob;
      model_program(graph, plan, std::vector<std::string>(plan.steps.size(), "not compiled"), &blob);
    } catch (const Error& e) {
      if (e.code() == ExitCode::kInternal) throw;
    }
  }
}

}  // namespace amdahl::testing

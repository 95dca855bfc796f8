#pragma once
// What the fuzzer does with the bytes of a file, and the regressions test with those it once fell over.

#include <algorithm>
#include <stdexcept>
#include <string>

#include "base/error.h"
#include "base/printable.h"
#include "graph/onnx/onnx_load.h"
#include "plan/program.h"
#include "starter_kernels/cpu/cpu_target.h"

namespace amdahl::testing {

// What a terminal, a report and a comment of generated code are promised of every name and message.
inline void require_shown(const std::string& text, size_t most) {
  std::string in_one_line = text;
  std::replace(in_one_line.begin(), in_one_line.end(), '\n', ' ');  // lists of reasons have lines of our own
  if (printable(in_one_line) != in_one_line) throw std::logic_error("not printable: " + printable(text));
  if (text.size() > most) throw std::logic_error(std::to_string(text.size()) + " characters of message: " + shown(text));
}

inline void require_printable_names(const Graph& graph) {
  for (const Value& v : graph.values)
    if (printable(v.name) != v.name) throw std::logic_error("a value's name: " + printable(v.name));
  for (const Node& n : graph.nodes)
    if (printable(n.name + n.op + n.domain) != n.name + n.op + n.domain) throw std::logic_error("a node's name: " + printable(n.name));
}

// From bytes to a graph that is ready to run, with its plan. A refusal is an answer; everything else that is thrown, kInternal
// included, is a bug and leaves this function.
inline void load_hostile_model(const std::string& bytes, const std::string& folder) {
  for (const bool clean : {true, false}) {
    try {
      LoadOptions options;
      options.clean = clean;
      const Graph graph = load_onnx_bytes(bytes, folder, options);
      require_printable_names(graph);
      const Plan plan = starter_plan(graph, 2, cpu_target());
      if (const std::string wrong = check(graph, plan); !wrong.empty()) throw std::logic_error(wrong);
      Blob blob;
      model_program(graph, plan, std::vector<std::string>(plan.steps.size(), "not compiled"), &blob);
    } catch (const Error& e) {
      if (e.code() == ExitCode::kInternal) throw;
      require_shown(e.what(), 32 << 10);
    }
  }
}

}  // namespace amdahl::testing

// The onnx format: for tools that read ONNX. What the plan decided is in the notes, as ONNX has no words for it.

#include "export/onnx.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "export/export_folder.h"
#include "export/plan_json.h"
#include "export/self_test.h"
#include "graph/onnx/onnx_save.h"

namespace amdahl {
namespace {

// Another runtime adds in another order than the plan: that differs by less, a wrong weight or operator by more.
constexpr double kOtherOrder = 1e-4;

std::string knobs_text(const Knobs& knobs) {
  std::string text;
  for (const auto& [name, value] : knobs) text += fmt::format(" {}={}", name, value);
  return text;
}

// A node that is computed inside several steps has a line of each.
std::map<ValueId, std::string> node_notes(const Graph& graph, const Plan& plan) {
  std::vector<std::vector<std::string>> lines(graph.nodes.size());
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    const Step& step = plan.steps[s];
    std::vector<std::string> names;
    for (NodeId n : step.nodes) names.push_back(graph.node(n).name);
    for (NodeId n : step.nodes)
      lines[static_cast<size_t>(n)].push_back(
          fmt::format("step {}: {}{}; computes {}", s, step.variant.problem.kind, knobs_text(step.variant.knobs), fmt::join(names, ", ")));
  }
  std::map<ValueId, std::string> notes;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (is_renaming(graph.nodes[n])) lines[n].push_back("no step: renames memory");
    notes[graph.nodes[n].outputs[0]] = fmt::format("{}", fmt::join(lines[n], "\n"));
  }
  return notes;
}

OnnxNotes notes_of(const ExportRequest& request) {
  OnnxNotes notes;
  notes.text = request.provenance;
  notes.nodes = node_notes(request.graph, request.plan);
  notes.metadata = {{"amdahl.threads", fmt::format("{}", request.plan.threads)},
                    {"amdahl.milliseconds", fmt::format("{:.4f}", request.milliseconds)},
                    {"amdahl.steps", fmt::format("{}", request.plan.steps.size())}};
  for (size_t s = 0; s < request.plan.steps.size(); ++s)
    notes.metadata[fmt::format("amdahl.step.{}", s)] = step_json(request.graph, request.plan.steps[s]).dump(-1, ' ', false, Json::error_handler_t::replace);
  return notes;
}

}  // namespace

std::vector<std::string> write_onnx(const ExportRequest& request) {
  ExportFolder folder(request.directory);
  Words words = self_test_words(request);
  words["LIMIT"] = fmt::format("{:.3e}", std::max(2 * request.self_test.relative_norm, kOtherOrder));
  const std::string file = words["NAME"] + ".onnx";
  save_onnx(request.graph, folder.place(file), true, notes_of(request));
  folder.place(file + ".data");
  folder.text("selftest.py", filled_template("onnx_templates/selftest.py.in", words));
  folder.text("README.md", filled_template("onnx_templates/README.md.in", words));
  folder.text("recorded_case.py", filled_template("python_templates/recorded_case.py.in", words));
  write_self_test(folder, request.self_test);
  return folder.files();
}

}  // namespace amdahl

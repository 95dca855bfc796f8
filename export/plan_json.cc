// The json format: what runs in which order, on which tensors, with the text of every kernel. docs/json.md lists the fields.

#include "export/plan_json.h"

#include <fmt/format.h>

#include "export/export_folder.h"
#include "starter_kernels/cpu/cpu_target.h"
#include "starter_kernels/kinds/kernel_kind.h"

namespace amdahl {
namespace {

constexpr int kFormat = 1;

Json tensor(const Graph& graph, ValueId id) {
  const Value& v = graph.value(id);
  return {{"name", v.name}, {"dtype", std::string(name_of(v.dtype))}, {"shape", v.shape}};
}

Json operands(const Graph& graph, const std::vector<Operand>& list) {
  Json j = Json::array();
  for (const Operand& o : list) {
    Json one = tensor(graph, o.value);
    one["format"] = o.format.empty() ? "row-major" : o.format;
    one["constant"] = graph.is_constant(o.value);
    j.push_back(std::move(one));
  }
  return j;
}

}  // namespace

Json step_json(const Graph& graph, const Step& step) {
  const Variant& v = step.variant;
  Json nodes = Json::array();
  for (NodeId n : step.nodes) nodes.push_back({{"name", graph.node(n).name}, {"op", graph.node(n).op}});
  return {{"kind", v.problem.kind},
          {"computes", nodes},
          {"reads", operands(graph, step.inputs)},
          {"writes", operands(graph, step.outputs)},
          {"parameters", v.problem.params},
          {"knobs", v.knobs},
          {"compiler", v.compiler},
          {"flags", v.flags}};
}

std::vector<std::string> write_plan_json(const ExportRequest& request) {
  const Graph& graph = request.graph;
  ExportFolder folder(request.directory);
  folder.clear("kernels");
  std::map<std::string, std::string> file_of;  // by variant: equal ones share a text
  Json steps = Json::array();
  for (const Step& step : request.plan.steps) {
    const Variant& v = step.variant;
    std::string& file = file_of[v.id()];
    if (file.empty()) {
      file = fmt::format("kernels/k{:03}_{}{}", file_of.size() - 1, v.problem.kind, request.target.suffix);
      folder.text(file, request.target.source(v));
    }
    steps.push_back(step_json(graph, step));
    steps.back()["source"] = file;
  }
  Json plan{{"format", kFormat},
            {"model", request.name},
            {"provenance", request.provenance},
            {"threads", request.plan.threads},
            {"milliseconds", request.milliseconds},
            {"relative_norm", request.self_test.relative_norm},
            {"steps", steps}};
  plan["inputs"] = plan["outputs"] = Json::array();
  for (ValueId v : graph.inputs) plan["inputs"].push_back(tensor(graph, v));
  for (ValueId v : graph.outputs) plan["outputs"].push_back(tensor(graph, v));
  folder.text("plan.json", plan.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
  return folder.files();
}

}  // namespace amdahl

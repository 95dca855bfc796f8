// amdahl export FILE --format F -o DIR: the kept plan, out of the program.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "base/machine.h"
#include "cli/model_options.h"
#include "cli/open_session.h"
#include "cli/prepare_model.h"
#include "cli/progress.h"
#include "export/exporter.h"
#include "graph/oracle.h"

namespace amdahl {
namespace {

std::string format_names() {
  std::vector<std::string_view> names;
  for (const ExportFormat& f : export_formats()) names.push_back(f.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

// A line a format, for the help page.
std::string_view format_summaries() {
  static const std::string text = [] {
    std::string lines;
    for (const ExportFormat& f : export_formats()) lines += fmt::format("{}{:<8} {}", lines.empty() ? "" : "\n", std::string(f.name) + ":", f.summary);
    return lines;
  }();
  return text;
}

void declare(Options& options) {
  options.word("session");
  options.named.add_options()                                                                        //
      ("format", po::value<std::string>()->default_value("cxx")->value_name("F"), format_names().c_str())               //
      ("output,o", po::value<std::string>()->value_name("DIR"), "new or empty folder, or an earlier export");
}

double relative_norm(const Tensor& got, const Tensor& want) {
  const std::vector<double> g = to_doubles(got), w = to_doubles(want);
  double difference = 0, size = 0;
  for (size_t i = 0; i < g.size(); ++i) {
    if (g[i] == w[i] || (std::isnan(g[i]) && std::isnan(w[i]))) continue;
    difference += (g[i] - w[i]) * (g[i] - w[i]);
    size += w[i] * w[i];
  }
  return size > 0 ? std::sqrt(difference / size) : std::sqrt(difference);
}

// Runs the plan on example inputs beside the float64 interpreter.
SelfTestCase self_test(const Graph& graph, const Plan& plan, const GlobalOptions& global, double* milliseconds) {
  PreparedModel model(graph, plan, global);
  SelfTestCase test;
  RefValues given;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    test.inputs.push_back(example_input(graph, graph.inputs[i], 1));
    model.set_input(static_cast<int>(i), test.inputs.back());
    given[graph.inputs[i]] = RefTensor::of(test.inputs.back());
  }
  std::vector<double> ms;
  for (int r = 0; r < 7; ++r) {
    double seconds = 0;
    for (double s : model.run_timed()) seconds += s;
    ms.push_back(1e3 * seconds);
  }
  std::sort(ms.begin(), ms.end());
  *milliseconds = ms[ms.size() / 2];
  std::vector<NodeId> nodes(graph.nodes.size());
  for (size_t n = 0; n < nodes.size(); ++n) nodes[n] = static_cast<NodeId>(n);
  const RefValues want = evaluate(graph, nodes, given, graph.outputs, false);
  for (size_t o = 0; o < graph.outputs.size(); ++o) {
    test.expected.push_back(want.at(graph.outputs[o]).to_tensor());
    test.relative_norm = std::max(test.relative_norm, relative_norm(model.output(static_cast<int>(o)), test.expected.back()));
  }
  return test;
}

int run(const po::variables_map& values, const GlobalOptions& global) {
  const std::string path = required_word(values, "session", "FILE, a session");
  if (!values.count("output")) throw Error(ExitCode::kUsage, "missing -o DIR, the folder to write");
  const std::string format_name = values["format"].as<std::string>();
  const ExportFormat* format = find_export_format(format_name);
  if (!format) throw Error(ExitCode::kUsage, fmt::format("unknown format '{}': give one of {}", format_name, format_names()));
  const OpenSession open = open_session(path, Session::Access::kRead, global);
  const Plan plan = gated_plan(*open.session);
  ExportRequest request{open.graph, plan, short_name(open.session->identity().model), values["output"].as<std::string>(), {}, 0, ""};
  Progress progress("exporting", global.progress());
  progress.update(0, 0, "self-test reference in float64");
  request.self_test = self_test(open.graph, plan, global, &request.milliseconds);
  // Pairs of fresh processes with pinned threads know better than this process.
  if (const auto headline = open.session->headline()) request.milliseconds = 1e3 * headline->kept_seconds;
  request.provenance = fmt::format("{} as tuned on {}", request.name, open.session->identity().machine);
  progress.update(0, 0, "writing");
  const std::vector<std::string> files = format->write(request);
  if (global.json) {
    fmt::print("{}\n", Json{{"directory", request.directory}, {"files", files}, {"relative_norm", request.self_test.relative_norm}}.dump(1));
    return 0;
  }
  fmt::print("{} files in {}; outputs {:.2g} from float64 (relative norm)\n", files.size(), request.directory, request.self_test.relative_norm);
  if (!format->next.empty()) fmt::print("build and check it: cd {} && {}\n", request.directory, format->next);
  return 0;
}

}  // namespace

const Command kExportCommand{"export", "FILE --format F -o DIR", "the kept plan as plain source and a library, without us",
                             format_summaries(), declare, run};

}  // namespace amdahl

#include "graph/models/load_model.h"

#include <fmt/format.h>

#include <string_view>

#include "base/error.h"
#include "base/printable.h"
#include "graph/clean_up/clean_up.h"
#include "graph/models/builders.h"

namespace amdahl {
namespace {

constexpr std::string_view kBuiltin = "builtin:";

Graph load_builtin(const std::string& name, const LoadOptions& options) {
  const ShippedModel* builder = find_shipped_model(name);
  if (!builder) {
    std::string known;
    for (const ShippedModel& b : shipped_models()) known += fmt::format(" {}", b.name);
    throw Error(ExitCode::kBadModel, fmt::format("there is no shipped model '{}'; these are:{}", shown(name), known));
  }
  if (!options.input_shapes.empty())
    throw Error(ExitCode::kUsage, fmt::format("{}{} takes its sizes from --batch, --seq and --image, not from --shape", kBuiltin, name));
  Graph graph = builder->build({options.batch, options.seq, options.image});
  if (options.clean) clean_up(graph);
  return graph;
}

}  // namespace

Graph load_model(const std::string& model, const LoadOptions& options) {
  if (model.starts_with(kBuiltin)) return load_builtin(model.substr(kBuiltin.size()), options);
  return load_onnx_file(model, options);
}

}  // namespace amdahl

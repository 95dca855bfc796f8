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
  if (!options.input_shapes.empty())
    throw Error(ExitCode::kUsage, fmt::format("{}{} takes its sizes from --batch, --seq and --image, not from --shape", kBuiltin, name));
  if (!options.values.empty()) throw Error(ExitCode::kUsage, fmt::format("--value is for files; {}{} has no input to fix", kBuiltin, name));
  std::optional<Graph> graph = build_shipped_model(name, {options.batch, options.seq, options.image});
  if (!graph) {
    std::string known;
    for (const ShippedModel& b : shipped_models()) known += fmt::format(" {}", b.name);
    throw Error(ExitCode::kBadModel, fmt::format("there is no shipped model '{}'; these are:{}; each also as NAME@fp16 or NAME@bf16", shown(name), known));
  }
  if (options.clean) clean_up(*graph);
  return std::move(*graph);
}

}  // namespace

Graph load_model(const std::string& model, const LoadOptions& options) {
  if (model.starts_with(kBuiltin)) return load_builtin(model.substr(kBuiltin.size()), options);
  return load_onnx_file(model, options);
}

}  // namespace amdahl

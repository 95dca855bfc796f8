// amdahl models: the shipped architectures, listed or written as ONNX.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/counted.h"
#include "base/error.h"
#include "cli/commands.h"
#include "cli/model_options.h"
#include "cli/print_json.h"
#include "cli/progress.h"
#include "graph/models/builders.h"
#include "graph/onnx/onnx_save.h"

namespace amdahl {
namespace {

void declare(Options& options) {
  options.word("name");
  declare_sizes(options);
  options.named.add_options()                                                                        //
      ("output,o", po::value<std::string>()->value_name("FILE.onnx"), "write the model NAME there")  //
      ("external", po::bool_switch(), "keep the weights beside it, in FILE.onnx.data");
}

struct Arguments {
  std::optional<std::string> name, output;
  LoadOptions sizes;
  bool external = false;
};

// Sizes are read where a model is written.
Arguments read(const po::variables_map& values) {
  Arguments a;
  if (values.count("name")) a.name = read_word(values, "name", "NAME");
  a.output = read_text(values, "output");
  a.external = values["external"].as<bool>();
  if (!a.name || !a.output) return a;
  const std::vector<BucketSizes> buckets = read_sizes(values);
  if (buckets.size() > 1) throw Error(ExitCode::kUsage, "a file holds one shape: give numbers without braces");
  a.sizes = buckets[0].options;
  return a;
}

void list(const GlobalOptions& global) {
  if (global.json) {
    nlohmann::json j = nlohmann::json::array();
    for (const ShippedModel& b : shipped_models()) j.push_back({{"name", b.name}, {"description", b.description}});
    print_json(j);
    return;
  }
  size_t width = 0;
  for (const ShippedModel& b : shipped_models()) width = std::max(width, b.name.size());
  for (const ShippedModel& b : shipped_models()) fmt::print("{:<{}}  {}\n", b.name, width, b.description);
  fmt::print("\nUse one as builtin:NAME, or write it as ONNX: amdahl models NAME -o FILE.onnx\nNAME@fp16 and NAME@bf16 are the same in half precision.\n");
}

Graph build(std::string name, const BuilderSizes& sizes) {
  if (name.rfind("builtin:", 0) == 0) name = name.substr(8);
  if (std::optional<Graph> graph = build_shipped_model(name, sizes)) return std::move(*graph);
  std::vector<std::string> known;
  for (const ShippedModel& b : shipped_models())
    for (const char* type : {"", "@fp16", "@bf16"}) known.emplace_back(std::string(b.name) + type);
  const std::string near = nearest(name, known);
  throw Error(ExitCode::kUsage,
              fmt::format("no shipped model '{}'{}; `amdahl models` lists them", name, near.empty() ? "" : fmt::format(", did you mean {}?", near)));
}

int run(const Arguments& arguments, const GlobalOptions& global) {
  if (!arguments.name) {
    if (arguments.output) throw Error(ExitCode::kUsage, "-o needs the NAME of a model; `amdahl models` lists them");
    list(global);
    return 0;
  }
  if (!arguments.output) throw Error(ExitCode::kUsage, "missing -o FILE.onnx, where to write the model");
  const LoadOptions& sizes = arguments.sizes;
  const std::string& path = *arguments.output;
  Graph graph;
  {
    Progress progress("writing " + path, global.progress());
    graph = build(*arguments.name, {sizes.batch, sizes.seq, sizes.image});
    progress.update(0, 0);
    save_onnx(graph, path, arguments.external);
  }
  double parameters = 0;
  for (const Value& value : graph.values)
    if (value.constant && is_float(value.dtype)) parameters += static_cast<double>(numel(value.shape));
  if (global.json) print_json(nlohmann::json{{"file", path}, {"nodes", graph.nodes.size()}, {"parameters", parameters}});
  else fmt::print("{}: {}, {:.1f} million parameters (random, seeded)\n", path, counted(graph.nodes.size(), "node"), parameters / 1e6);
  return 0;
}

}  // namespace

const Command kModelsCommand{"models",
                             "[NAME -o FILE.onnx] [options]",
                             "the shipped architectures, listed or written as ONNX",
                             "Weights are random numbers from a fixed seed: the same file every time, no download.",
                             declare,
                             [](const po::variables_map& values, const GlobalOptions& global) { return run(read(values), global); }};

}  // namespace amdahl

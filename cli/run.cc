// amdahl run MODEL --input NAME=FILE ... -o DIR: computes a model on given inputs.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "base/error.h"
#include "base/printable.h"
#include "base/time_text.h"
#include "cli/commands.h"
#include "cli/given_inputs.h"
#include "cli/model_options.h"
#include "cli/open_session.h"
#include "cli/output_names.h"
#include "cli/prepare_model.h"
#include "cli/print_json.h"
#include "cli/session_model.h"
#include "graph/models/buckets.h"
#include "graph/models/index_ranges.h"
#include "graph/onnx/tensor_io.h"
#include "plan/bucket_part.h"
#include "playbook/first_plan.h"

namespace amdahl {
namespace {

void declare(Options& options) {
  declare_model(options);
  declare_model_file(options);
  declare_inputs(options);
  options.named.add_options()("output,o", po::value<std::string>()->value_name("DIR"), "folder for the outputs, one .npy each");
}

struct Arguments {
  std::string output;      // folder
  std::string session;     // "" where a model is run
  std::string model_file;  // of a session
  ModelArguments model;
  std::vector<std::string> inputs;  // NAME=FILE
};

Arguments read(const po::variables_map& values) {
  Arguments a;
  const std::optional<std::string> output = read_text(values, "output");
  if (!output) throw Error(ExitCode::kUsage, "missing -o DIR, the folder for the outputs");
  a.output = *output;
  const std::string word = read_word(values, "model", "MODEL or SESSION");
  if (Session::is_session(word)) a.session = word;
  else a.model = read_model(values);
  a.model_file = read_model_file(values);
  a.inputs = read_inputs(values);
  return a;
}

// Of a model tuned for several shapes, the one that the tensors have; all of any other model.
BucketPart part_for(const Graph& graph, const Plan& plan, const std::map<std::string, Tensor>& tensors) {
  if (graph.buckets.empty()) return {graph, plan};
  std::map<std::string, Shape> shapes;
  for (const auto& [name, tensor] : tensors) shapes[name] = tensor.shape();
  if (const std::optional<size_t> bucket = bucket_for(graph, shapes)) return bucket_part(graph, plan, *bucket);
  std::vector<std::string> known;
  for (size_t b = 0; b < graph.buckets.size(); ++b) known.push_back(expected_inputs(bucket_part(graph, plan, b).graph));
  throw Error(ExitCode::kBadInput, fmt::format("the tensors have none of the shapes that the session was tuned for, which are: {}", fmt::join(known, "; ")));
}

// A session brings its own model and its kept plan; a model runs its starter plan.
std::pair<Graph, Plan> model_or_session(const Arguments& arguments, const GlobalOptions& global) {
  if (!arguments.session.empty()) {
    OpenSession open = open_session(arguments.session, Session::Access::kRead, global, arguments.model_file);
    Plan plan = gated_plan(*open.session);
    return {std::move(open.graph), std::move(plan)};
  }
  std::set<std::string> given;
  for (const std::string& text : arguments.inputs)
    for (const std::string& name : possible_input_names(text)) given.insert(name);
  Graph graph = load_named_model(arguments.model, global, given);
  Plan plan = first_plan(graph, global.threads, global.backend->target());
  return {std::move(graph), std::move(plan)};
}

int run(const Arguments& arguments, const GlobalOptions& global) {
  const std::filesystem::path folder = arguments.output;
  const auto [all_graph, all_plan] = model_or_session(arguments, global);
  const std::map<std::string, Tensor> tensors = read_tensors(arguments.inputs, all_graph);
  const auto [graph, plan] = part_for(all_graph, all_plan, tensors);
  const std::vector<Tensor> inputs = checked_inputs(graph, tensors);
  check_indices(graph, inputs);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw Error(ExitCode::kIo, fmt::format("cannot create {}: {}", folder.string(), error.message()));

  PreparedModel model(graph, plan, global);
  for (size_t i = 0; i < inputs.size(); ++i) model.set_input(static_cast<int>(i), inputs[i]);
  double seconds = 0;
  for (double s : model.run_timed()) seconds += s;

  std::vector<std::string> names;
  for (ValueId v : graph.outputs) names.push_back(graph.value(v).name);
  const std::vector<std::string> files = file_names(names, ".npy", longest_file_name(folder));
  nlohmann::json written = nlohmann::json::array();
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    const Value& v = graph.value(graph.outputs[i]);
    const std::string path = folder / files[i];
    save_npy(model.output(static_cast<int>(i)), path);
    if (!global.json) fmt::print("{}: {} {} of {}\n", path, name_of(v.dtype), to_string(v.shape), shown(v.name));
    written.push_back({{"name", v.name}, {"file", path}, {"dtype", name_of(v.dtype)}, {"shape", v.shape}});
  }
  if (global.json) print_json(nlohmann::json{{"seconds", seconds}, {"outputs", written}});
  else fmt::print("one run, caches cold: {}\n", time_text(seconds));
  return 0;
}

}  // namespace

const Command kRunCommand{"run",
                          "MODEL|SESSION --input NAME=FILE ... -o DIR",
                          "computes a model on given inputs",
                          "Checks names, dtypes and shapes of the inputs first, and that indices are in range. Outputs are written as DIR/NAME.npy;\n"
                          "what a file cannot be called becomes '_', and a number tells apart what would be called the same.",
                          declare,
                          [](const po::variables_map& values, const GlobalOptions& global) { return run(read(values), global); }};

}  // namespace amdahl

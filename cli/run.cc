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

namespace amdahl {
namespace {

void declare(Options& options) {
  declare_model(options);
  declare_model_file(options);
  options.named.add_options()  //
      ("input", po::value<std::vector<std::string>>()->composing()->value_name("NAME=FILE"),
       "tensor for an input, .npy or ONNX .pb; repeat for each")  //
      ("output,o", po::value<std::string>()->value_name("DIR"), "folder for the outputs, one .npy each");
}

std::string expected_inputs(const Graph& graph) {
  std::string text;
  for (ValueId input : graph.inputs) {
    const Value& v = graph.value(input);
    text += fmt::format("{}{} {} {}", text.empty() ? "" : ", ", shown(v.name), name_of(v.dtype), to_string(v.shape));
  }
  return text.empty() ? "none" : text;
}

// The names that may be meant by "a=b=FILE": "a", "a=b".
std::vector<std::string> possible_names(const std::string& text) {
  std::vector<std::string> names;
  for (size_t equals = text.find('='); equals != std::string::npos; equals = text.find('=', equals + 1))
    if (equals > 0 && equals + 1 < text.size()) names.push_back(text.substr(0, equals));
  if (names.empty()) throw Error(ExitCode::kUsage, fmt::format("--input {}: write NAME=FILE", text));
  return names;
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
  if (values.count("input")) a.inputs = values["input"].as<std::vector<std::string>>();
  return a;
}

std::set<std::string> names_in_model(const Graph& graph) {
  std::set<std::string> names;
  for (ValueId input : bucket_inputs(graph, 0))
    names.insert(graph.buckets.empty() ? graph.value(input).name : name_in_bucket(graph.buckets[0], graph.value(input).name));
  return names;
}

// By name: the longest that is an input's.
std::map<std::string, Tensor> read_tensors(const std::vector<std::string>& inputs, const Graph& graph) {
  const std::set<std::string> known = names_in_model(graph);
  std::map<std::string, Tensor> tensors;
  for (const std::string& text : inputs) {
    const std::vector<std::string> names = possible_names(text);
    const auto longest = std::find_if(names.rbegin(), names.rend(), [&](const std::string& name) { return known.count(name) > 0; });
    const std::string name = longest == names.rend() ? names.front() : *longest;
    if (tensors.count(name)) throw Error(ExitCode::kUsage, fmt::format("--input {} is given twice", name));
    tensors[name] = load_tensor(text.substr(name.size() + 1));
  }
  return tensors;
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

std::string constant_note(const Graph& graph, const std::string& name) {
  const bool constant = std::any_of(graph.values.begin(), graph.values.end(), [&](const Value& v) { return v.constant && v.name == name; });
  return constant ? " (it is a constant here: another value can be given to `amdahl run MODEL`, not to a session, where the file is of IR version 4 or "
                    "newer and lists it as an input too)"
                  : "";
}

// Every input of the graph, in its order, checked; all faults in one message.
std::vector<Tensor> checked_inputs(const Graph& graph, std::map<std::string, Tensor> given) {
  std::vector<std::string> faults;
  std::vector<Tensor> tensors;
  for (ValueId input : graph.inputs) {
    const Value& v = graph.value(input);
    auto node = given.extract(v.name);
    if (node.empty()) {
      faults.push_back(fmt::format("input {} is missing", v.name));
      continue;
    }
    const Tensor& tensor = tensors.emplace_back(std::move(node.mapped()));
    if (tensor.dtype() != v.dtype) faults.push_back(fmt::format("{} is {}, not {}", v.name, name_of(tensor.dtype()), name_of(v.dtype)));
    if (tensor.shape() != v.shape) faults.push_back(fmt::format("{} has shape {}, not {}", v.name, to_string(tensor.shape()), to_string(v.shape)));
  }
  for (const auto& [name, tensor] : given) faults.push_back(fmt::format("the model has no input {}{}", name, constant_note(graph, name)));
  if (faults.empty()) return tensors;
  throw Error(ExitCode::kBadInput, fmt::format("{}. The model takes: {}", fmt::join(faults, "; "), expected_inputs(graph)));
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
    for (const std::string& name : possible_names(text)) given.insert(name);
  Graph graph = load_named_model(arguments.model, global, given);
  Plan plan = starter_plan(graph, global.threads, global.backend->target());
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

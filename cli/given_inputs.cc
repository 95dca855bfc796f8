#include "cli/given_inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/printable.h"
#include "graph/models/buckets.h"
#include "graph/onnx/tensor_io.h"

namespace amdahl {
namespace {

std::set<std::string> names_in_model(const Graph& graph) {
  std::set<std::string> names;
  for (ValueId input : bucket_inputs(graph, 0))
    names.insert(graph.buckets.empty() ? graph.value(input).name : name_in_bucket(graph.buckets[0], graph.value(input).name));
  return names;
}

std::string constant_note(const Graph& graph, const std::string& name) {
  const bool constant = std::any_of(graph.values.begin(), graph.values.end(), [&](const Value& v) { return v.constant && v.name == name; });
  return constant ? " (it is a constant here: another value can be given to `amdahl run MODEL`, not to a session, where the file is of IR version 4 or "
                    "newer and lists it as an input too)"
                  : "";
}

}  // namespace

void declare_inputs(Options& options) {
  options.named.add_options()("input", po::value<std::vector<std::string>>()->composing()->value_name("NAME=FILE"),
                              "tensor for an input, .npy or ONNX .pb; repeat for each");
}

std::vector<std::string> read_inputs(const po::variables_map& values) {
  return values.count("input") ? values["input"].as<std::vector<std::string>>() : std::vector<std::string>{};
}

std::vector<std::string> possible_input_names(const std::string& text) {
  std::vector<std::string> names;
  for (size_t equals = text.find('='); equals != std::string::npos; equals = text.find('=', equals + 1))
    if (equals > 0 && equals + 1 < text.size()) names.push_back(text.substr(0, equals));
  if (names.empty()) throw Error(ExitCode::kUsage, fmt::format("--input {}: write NAME=FILE", text));
  return names;
}

std::map<std::string, Tensor> read_tensors(const std::vector<std::string>& inputs, const Graph& graph) {
  const std::set<std::string> known = names_in_model(graph);
  std::map<std::string, Tensor> tensors;
  for (const std::string& text : inputs) {
    const std::vector<std::string> names = possible_input_names(text);
    const auto longest = std::find_if(names.rbegin(), names.rend(), [&](const std::string& name) { return known.count(name) > 0; });
    const std::string name = longest == names.rend() ? names.front() : *longest;
    if (tensors.count(name)) throw Error(ExitCode::kUsage, fmt::format("--input {} is given twice", name));
    tensors[name] = load_tensor(text.substr(name.size() + 1));
  }
  return tensors;
}

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

std::string expected_inputs(const Graph& graph) {
  std::string text;
  for (ValueId input : graph.inputs) {
    const Value& v = graph.value(input);
    text += fmt::format("{}{} {} {}", text.empty() ? "" : ", ", shown(v.name), name_of(v.dtype), to_string(v.shape));
  }
  return text.empty() ? "none" : text;
}

}  // namespace amdahl

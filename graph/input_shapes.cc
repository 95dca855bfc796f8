#include "graph/input_shapes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"

namespace amdahl {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw Error(ExitCode::kUsage, message); }

// "[batch, 128, ?]"
std::string shape_text(const ParsedInput& input) {
  std::vector<std::string> dims;
  for (const auto& d : input.dims)
    dims.push_back(d.value >= 0 ? std::to_string(d.value) : d.symbol.empty() ? "?" : d.symbol);
  return fmt::format("[{}]", fmt::join(dims, ", "));
}

struct Setting {
  int64_t size;
  std::string input;  // that set it
};

void check_given(const ParsedInput& input, const Shape& shape, std::map<std::string, Setting>& symbols) {
  const std::string option = fmt::format("--shape {}={}", input.name, fmt::join(shape, ","));
  for (int64_t d : shape)
    if (d < 0) refuse(fmt::format("{}: a dimension cannot be negative", option));
  if (!input.has_shape) return;
  if (shape.size() != input.dims.size())
    refuse(fmt::format("{} has {} dimensions, but the input's shape in the model is {}", option, shape.size(),
                       shape_text(input)));
  for (size_t i = 0; i < shape.size(); ++i) {
    const auto& dim = input.dims[i];
    if (dim.value >= 0 && dim.value != shape[i])
      refuse(
          fmt::format("{}: the model fixes dimension {} to {} (its shape is {}); export the model with dynamic "
                      "dimensions to change it",
                      option, i, dim.value, shape_text(input)));
    if (dim.value >= 0 || dim.symbol.empty()) continue;
    const auto [known, fresh] = symbols.emplace(dim.symbol, Setting{shape[i], input.name});
    if (!fresh && known->second.size != shape[i])
      refuse(fmt::format("{}: '{}' is {} here and {} in input '{}'; the model says they are the same", option,
                         dim.symbol, shape[i], known->second.size, known->second.input));
  }
}

// A size to put into the suggestion: batches of one, images of 224, sequences of 128.
int64_t example(size_t dimension, size_t rank) { return dimension == 0 ? 1 : rank == 4 ? 224 : 128; }

}  // namespace

std::map<std::string, Shape> resolve_input_shapes(const ParsedModel& model, const std::map<std::string, Shape>& given) {
  std::map<std::string, const ParsedInput*> inputs;
  for (const ParsedInput& i : model.inputs) inputs[i.name] = &i;
  std::map<std::string, Setting> symbols;
  for (const auto& [name, shape] : given) {
    if (!inputs.count(name)) {
      std::vector<std::string> names;
      for (const ParsedInput& i : model.inputs) names.push_back(i.name);
      refuse(
          fmt::format("--shape {}=…: the model has no such input; its inputs are: {}", name, fmt::join(names, ", ")));
    }
    check_given(*inputs[name], shape, symbols);
  }

  std::map<std::string, Shape> shapes;
  std::vector<std::string> unset, options;
  for (const ParsedInput& input : model.inputs) {
    const auto chosen = given.find(input.name);
    if (chosen != given.end()) {
      shapes[input.name] = chosen->second;
      continue;
    }
    if (!input.refusal.empty()) continue;  // reported with the other reasons that the model cannot run
    if (!input.has_shape) {
      unset.push_back(fmt::format("input '{}' has no shape in the model", input.name));
      options.push_back(fmt::format("--shape {}=1,128", input.name));
      continue;
    }
    Shape shape, suggestion;
    std::vector<std::string> open;
    for (size_t i = 0; i < input.dims.size(); ++i) {
      const auto& dim = input.dims[i];
      const auto known = dim.symbol.empty() ? symbols.end() : symbols.find(dim.symbol);
      const int64_t size = dim.value >= 0 ? dim.value : known != symbols.end() ? known->second.size : -1;
      if (size < 0) open.push_back(dim.symbol.empty() ? fmt::format("{}", i) : fmt::format("{} ('{}')", i, dim.symbol));
      shape.push_back(size);
      suggestion.push_back(size >= 0 ? size : example(i, input.dims.size()));
    }
    if (!open.empty()) {
      unset.push_back(
          fmt::format("input '{}' {} leaves dimension {} open", input.name, shape_text(input), fmt::join(open, ", ")));
      options.push_back(fmt::format("--shape {}={}", input.name, fmt::join(suggestion, ",")));
    }
    shapes[input.name] = std::move(shape);
  }
  if (!unset.empty())
    throw Error(ExitCode::kUnsetDimension,
                fmt::format("{}; set the sizes, for example: {}", fmt::join(unset, "; "), fmt::join(options, " ")));
  return shapes;
}

}  // namespace amdahl

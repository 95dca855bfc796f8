#include "graph/onnx/input_shapes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/printable.h"
#include "graph/onnx/onnx_tensor.h"

namespace amdahl {
namespace {

constexpr size_t kOptions = 64;  // in a message: what is copied from there should be whole

[[noreturn]] void refuse(const std::string& message) { throw Error(ExitCode::kUsage, message); }

// "[batch, 128, ?]"
std::string shape_text(const ParsedInput& input) {
  std::vector<std::string> dims;
  for (const auto& d : input.dims) dims.push_back(d.value >= 0 ? std::to_string(d.value) : d.symbol.empty() ? "?" : shown(d.symbol));
  return fmt::format("[{}]", listed(dims));
}

// The option to type; one that no command line holds is only hinted at.
std::string option_text(const ParsedInput& input, const Shape& shape) {
  return fmt::format("--shape {}={}", shortened(printable(input.name), 300),
                     shape.size() <= kMaxRank ? fmt::format("{}", fmt::join(shape, ",")) : to_string(shape));
}

struct Setting {
  int64_t size;
  std::string input;  // that set it
};

void check_given(const ParsedInput& input, const Shape& shape, std::map<std::string, Setting>& symbols) {
  const std::string option = option_text(input, shape);
  for (int64_t d : shape)
    if (d < 0) refuse(fmt::format("{}: a dimension cannot be negative", option));
  if (!input.has_shape) return;
  if (shape.size() != input.dims.size())
    refuse(fmt::format("{} has {} dimensions, but the input's shape in the model is {}", option, shape.size(), shape_text(input)));
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
      refuse(fmt::format("{}: '{}' is {} here and {} in input '{}'; the model says they are the same", option, shown(dim.symbol), shape[i], known->second.size,
                         shown(known->second.input)));
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
      for (const ParsedInput& i : model.inputs) names.push_back(shown(i.name));
      refuse(fmt::format("--shape {}=…: the model has no such input; its inputs are: {}", shown(name), listed(names, ", ", 30)));
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
      unset.push_back(fmt::format("input '{}' has no shape in the model", shown(input.name)));
      options.push_back(option_text(input, {1, 128}));
      continue;
    }
    Shape shape, suggestion;
    std::vector<std::string> open;
    for (size_t i = 0; i < input.dims.size(); ++i) {
      const auto& dim = input.dims[i];
      const auto known = dim.symbol.empty() ? symbols.end() : symbols.find(dim.symbol);
      const int64_t size = dim.value >= 0 ? dim.value : known != symbols.end() ? known->second.size : -1;
      if (size < 0) open.push_back(dim.symbol.empty() ? fmt::format("{}", i) : fmt::format("{} ('{}')", i, shown(dim.symbol)));
      shape.push_back(size);
      suggestion.push_back(size >= 0 ? size : example(i, input.dims.size()));
    }
    if (!open.empty()) {
      unset.push_back(fmt::format("input '{}' {} leaves dimension {} open", shown(input.name), shape_text(input), listed(open)));
      options.push_back(option_text(input, suggestion));
    }
    shapes[input.name] = std::move(shape);
  }
  if (!unset.empty())
    throw Error(ExitCode::kUnsetDimension, fmt::format("{}; set the sizes, for example: {}", listed(unset, "; ", 4), listed(options, " ", kOptions)));
  return shapes;
}

}  // namespace amdahl

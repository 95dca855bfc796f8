#include <fmt/format.h>

#include "base/error.h"
#include "base/printable.h"
#include "graph/onnx/parsed_model.h"

namespace amdahl {
namespace {

// Constant nodes hold one of several attributes; all but tensors are turned into one.
ParsedConstant constant_of(const ParsedNode& node) {
  ParsedConstant c;
  c.name = node.outputs[0];
  c.refusal = node.refusal;
  if (!c.refusal.empty()) return c;
  if (node.attributes.size() != 1) throw Error(ExitCode::kBadModel, fmt::format("Constant node of '{}' must have exactly one attribute", shown(c.name)));
  const auto& [key, value] = *node.attributes.begin();
  if (const auto* tensor = std::get_if<Tensor>(&value)) {
    c.tensor = *tensor;
  } else if (const auto* i = std::get_if<int64_t>(&value)) {
    c.tensor = from_ints(DType::kI64, {}, {*i});
  } else if (const auto* f = std::get_if<double>(&value)) {
    c.tensor = from_doubles(DType::kF32, {}, {*f});
  } else if (const auto* ints = std::get_if<std::vector<int64_t>>(&value)) {
    c.tensor = from_ints(DType::kI64, {static_cast<int64_t>(ints->size())}, *ints);
  } else if (const auto* floats = std::get_if<std::vector<double>>(&value)) {
    c.tensor = from_doubles(DType::kF32, {static_cast<int64_t>(floats->size())}, *floats);
  } else {
    c.refusal = fmt::format("Constant with {} is not supported (strings)", shown(key));
  }
  return c;
}

void take_constants(std::vector<ParsedNode>& nodes, std::vector<ParsedConstant>& constants) {
  std::vector<ParsedNode> rest;
  for (ParsedNode& node : nodes) {
    for (ParsedBody& body : node.bodies) take_constants(body.nodes, body.constants);
    if (node.domain.empty() && node.op == "Constant" && node.outputs.size() == 1) constants.push_back(constant_of(node));
    else rest.push_back(std::move(node));
  }
  nodes = std::move(rest);
}

}  // namespace

void take_constants(ParsedModel& model) { take_constants(model.nodes, model.constants); }

}  // namespace amdahl

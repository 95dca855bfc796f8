#include "graph/onnx/inference.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "base/error.h"
#include "base/printable.h"
#include "graph/check_signature.h"
#include "graph/expansion.h"
#include "graph/onnx/control_flow.h"
#include "graph/onnx/known_limits.h"

namespace amdahl {
namespace {

// Loops are written out, and an operator that is made of others is many nodes. No real model comes near this.
constexpr size_t kMostNodes = 200'000, kMostValues = 2'000'000;

// Outputs that a file may leave unnamed, but that evaluators and kernels write whoever reads them.
bool is_written_anyway(const Node& node, size_t output) { return output == 0 || (node.domain.empty() && (node.op == "Split" || node.op == "TopK")); }

}  // namespace

ValueId Scope::find(const std::string& name) const {
  if (name.empty()) return kNoValue;
  for (const Scope* scope = this; scope; scope = scope->around_)
    if (const auto at = scope->ids_.find(name); at != scope->ids_.end()) return at->second;
  throw Error(ExitCode::kInternal, "a name that sorting has not found");
}

std::string refusal_of(const ParsedNode& node) {
  if (!node.refusal.empty()) return node.refusal;
  if (is_control_flow(node)) return "";
  if (!find_op(node.domain, node.op)) return why_unknown(node.domain, node.op);
  return node.bodies.empty() ? "" : fmt::format("attribute '{}' is a graph", node.bodies[0].attribute);
}

FoldBudget& Inference::budget() {
  if (!budget_) budget_.emplace(graph_);
  return *budget_;
}

void Inference::add_input(const ParsedInput& input, const Shape& shape, Scope& scope) {
  try {
    if (!input.refusal.empty()) throw Refusal(input.refusal);
    require_possible(shape, input.dtype);
  } catch (const Refusal& e) {
    refusals_.add("", "input", input.name, e.what());
    return scope.bind(input.name, Scope::kUnknown);
  }
  const ValueId v = graph_.add_value(input.name, input.dtype, shape);
  graph_.inputs.push_back(v);
  scope.bind(input.name, v);
}

void Inference::add_constants(const std::vector<ParsedConstant>& constants, const std::string& where, Scope& scope) {
  for (const ParsedConstant& c : constants) {
    if (!c.refusal.empty()) refusals_.add("", "initializer", where + c.name, c.refusal);
    scope.bind(c.name, c.refusal.empty() ? graph_.add_constant(where + c.name, c.tensor) : Scope::kUnknown);
  }
}

void Inference::add_nodes(const std::vector<ParsedNode>& nodes, const std::string& where, Scope& scope) {
  for (const ParsedNode& node : nodes) add_node(node, where, scope);
}

std::string Inference::unique_name(const std::string& base) {
  if (node_names_.insert(base).second) return base;
  int& next = next_number_.try_emplace(base, 2).first->second;  // from 2 each time, many equal names would take hours
  std::string name;
  do name = fmt::format("{}_{}", base, next++);
  while (!node_names_.insert(name).second);
  return name;
}

void Inference::add_node(const ParsedNode& parsed, const std::string& where, Scope& scope) {
  Node node;
  node.name = unique_name(where + (parsed.name.empty() ? fmt::format("{}_{}", parsed.op, graph_.nodes.size()) : parsed.name));
  node.domain = parsed.domain;
  node.op = parsed.op;
  node.version = parsed.version;
  node.attributes = parsed.attributes;
  const std::string name = node.name;
  const auto give_up = [&](const std::string& why) {
    if (!why.empty()) refusals_.add(operator_text(parsed.domain, parsed.op, parsed.version), "node", name, why);
    for (const std::string& output : parsed.outputs) scope.bind(output, Scope::kUnknown);
  };
  if (const std::string why = refusal_of(parsed); !why.empty()) return give_up(why);
  for (const std::string& input : parsed.inputs) node.inputs.push_back(scope.find(input));
  if (std::count(node.inputs.begin(), node.inputs.end(), Scope::kUnknown)) return give_up("");
  while (!node.inputs.empty() && node.inputs.back() == kNoValue) node.inputs.pop_back();  // the same as not given
  try {
    const std::vector<ValueId> outputs = results_of(parsed, std::move(node), where, scope);
    for (size_t i = 0; i < parsed.outputs.size(); ++i)
      if (!parsed.outputs[i].empty()) scope.bind(parsed.outputs[i], outputs[i]);
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {  // says something of the machine, nothing of the node
    throw;
  } catch (const std::exception& e) {
    give_up(e.what());
  }
}

std::vector<ValueId> Inference::results_of(const ParsedNode& parsed, Node node, const std::string& where, Scope& scope) {
  if (is_control_flow(parsed)) return add_control_flow(*this, parsed, node, scope);
  // Shape rules see only which outputs are wanted; these numbers become real when the node is placed.
  for (const std::string& name : parsed.outputs) node.outputs.push_back(name.empty() ? kNoValue : 0);
  if (std::all_of(node.outputs.begin(), node.outputs.end(), [](ValueId v) { return v == kNoValue; })) throw Refusal("it has no outputs");
  std::vector<std::string> names;
  for (const std::string& name : parsed.outputs) names.push_back(name.empty() ? "" : where + name);
  return place(std::move(node), names);
}

void Inference::require_room() const {
  if (graph_.nodes.size() >= kMostNodes || graph_.values.size() >= kMostValues)
    throw Error(ExitCode::kUnsupported, fmt::format("the model is more than {} nodes when its loops are written out", kMostNodes));
}

std::vector<ValueId> Inference::expand(const OpDef& op, const Node& node) {
  check_signature(op, graph_, node);
  Expansion expansion(
      graph_, node, [this](Node written) { return place(std::move(written), {}); }, quantized_forms_);
  op.expand(expansion);
  const auto is_set = [](ValueId v) { return v != kNoValue; };
  if (op.infer && std::none_of(expansion.outputs().begin(), expansion.outputs().end(), is_set)) return {};
  for (size_t i = 0; i < node.outputs.size(); ++i)
    if (node.outputs[i] != kNoValue && expansion.outputs()[i] == kNoValue) throw Refusal(fmt::format("output {} is not supported", i));
  return expansion.outputs();
}

void Inference::keep_promises() {
  std::set<ValueId> read(graph_.outputs.begin(), graph_.outputs.end());
  for (const Node& node : graph_.nodes) read.insert(node.inputs.begin(), node.inputs.end());
  const auto constant = [&](ValueId v) { return v == kNoValue ? nullptr : &*graph_.value(v).constant; };
  for (const auto& [key, v] : quantized_forms_.promised) {
    Value& value = graph_.values[static_cast<size_t>(v)];
    const auto bytes = static_cast<double>(numel(value.shape)) * static_cast<double>(size_of(value.dtype));
    if (!read.count(v)) continue;
    if (bytes > budget().bytes)
      throw Error(ExitCode::kUnsupported,
                  fmt::format("the floats of quantized constants take many times as much memory as the file: at '{}'", shown(value.name)));
    budget().bytes -= bytes;
    const QuantizedForm& form = quantized_forms_.of.at(v);
    value.constant = floats_of(*constant(form.integers), *constant(form.scale), constant(form.zero_point), form.axis);
  }
}

std::vector<ValueId> Inference::place(Node node, const std::vector<std::string>& names) {
  require_room();
  if (const OpDef* op = find_op(node.domain, node.op); op && op->expand)
    if (std::vector<ValueId> outputs = expand(*op, node); !outputs.empty()) return outputs;
  if (node.domain.empty() && node.op == "TopK" && node.outputs.size() == 1) node.outputs.push_back(kNoValue);
  const auto types = infer_node(graph_, node);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoValue && (!is_written_anyway(node, i) || !types[i].set)) continue;
    const bool named = i < names.size() && !names[i].empty();
    node.outputs[i] = graph_.add_value(named ? names[i] : fmt::format("{}/output_{}", node.name, i), types[i].dtype, types[i].shape);
  }
  fold_node(graph_, node, budget());
  if (node.domain.empty() && node.op == "DequantizeLinear" && !graph_.is_constant(node.outputs[0]))
    quantized_forms_.of[node.outputs[0]] = {node.inputs[0], node.inputs[1], node.inputs.size() > 2 ? node.inputs[2] : kNoValue, 0};
  const std::vector<ValueId> outputs = node.outputs;
  graph_.nodes.push_back(std::move(node));
  return outputs;
}

ValueId Inference::add(const std::string& name, const std::string& op, std::vector<ValueId> inputs, std::map<std::string, Attribute> attributes) {
  Node node;
  node.name = unique_name(name);
  node.op = op;
  node.version = Expansion::kVersion;
  node.attributes = std::move(attributes);
  node.inputs = std::move(inputs);
  node.outputs = {0};
  return place(std::move(node), {})[0];
}

}  // namespace amdahl

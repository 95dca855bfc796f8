#include "graph/onnx/infer_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <set>
#include <unordered_map>

#include "base/error.h"
#include "graph/clean_up/fold.h"
#include "graph/onnx/onnx_tensor.h"
#include "graph/onnx/refusals.h"
#include "graph/op.h"

namespace amdahl {
namespace {

void refuse_node(const ParsedNode& node, const std::string& name, const std::string& why, Refusals& refusals) {
  refusals.add(operator_text(node.domain, node.op, node.version), "node", name, why);
}

std::string refusal_of(const ParsedNode& node) { return !node.refusal.empty() ? node.refusal : !find_op(node.domain, node.op) ? "unknown operator" : ""; }

// Whoever replaces the control flow wants to know what else stands in its branches.
void refuse_inside(const ParsedNode& node, Refusals& refusals) {
  for (const ParsedNode& inner : node.inside)
    if (const std::string why = refusal_of(inner); !why.empty()) refuse_node(inner, inner.name, why, refusals);
}

class Inference {
 public:
  Inference(ParsedModel model, const std::map<std::string, Shape>& shapes) : model_(std::move(model)), shapes_(shapes) {}

  InferredGraph run() {
    graph_.name = model_.name;
    for (const ParsedInput& i : model_.inputs) add_input(i);
    for (ParsedConstant& c : model_.constants) {
      if (c.refusal.empty()) bind(c.name, graph_.add_constant(c.name, std::move(c.tensor)));
      else refuse("initializer", c.name, c.refusal);
    }
    budget_.emplace(graph_);
    for (const ParsedNode& n : model_.nodes) add_node(n);
    refusals_.raise();
    for (const std::string& name : model_.outputs) graph_.outputs.push_back(ids_.at(name));
    return {std::move(graph_), *budget_};
  }

 private:
  void bind(const std::string& name, ValueId v) { ids_[name] = v; }

  // A value that cannot be had is reported once, where it arises: what depends on it is passed over in silence.
  void refuse(const std::string& kind, const std::string& name, const std::string& why) {
    refusals_.add("", kind, name, why);
    unknown_.insert(name);
  }

  void add_input(const ParsedInput& input) {
    if (!input.refusal.empty()) return refuse("input", input.name, input.refusal);
    const Shape& shape = shapes_.at(input.name);
    try {
      require_possible(shape, input.dtype);
    } catch (const Refusal& e) {
      return refuse("input", input.name, e.what());
    }
    const ValueId v = graph_.add_value(input.name, input.dtype, shape);
    graph_.inputs.push_back(v);
    bind(input.name, v);
  }

  std::string unique_name(const ParsedNode& node) {
    const std::string base = node.name.empty() ? fmt::format("{}_{}", node.op, graph_.nodes.size()) : node.name;
    if (node_names_.insert(base).second) return base;
    int& next = next_number_.try_emplace(base, 2).first->second;  // from 2 each time, many equal names would take hours
    std::string name;
    do name = fmt::format("{}_{}", base, next++);
    while (!node_names_.insert(name).second);
    return name;
  }

  void refuse_node(const ParsedNode& parsed, const std::string& name, const std::string& why) {
    amdahl::refuse_node(parsed, name, why, refusals_);
    refuse_inside(parsed, refusals_);
    unknown_.insert(parsed.outputs.begin(), parsed.outputs.end());
  }

  void add_node(const ParsedNode& parsed) {
    Node node;
    node.name = unique_name(parsed);
    node.domain = parsed.domain;
    node.op = parsed.op;
    node.version = parsed.version;
    node.attributes = parsed.attributes;
    if (const std::string why = refusal_of(parsed); !why.empty()) return refuse_node(parsed, node.name, why);
    for (const std::string& name : parsed.inputs) {
      if (unknown_.count(name)) {
        unknown_.insert(parsed.outputs.begin(), parsed.outputs.end());
        return;
      }
      node.inputs.push_back(name.empty() ? kNoValue : ids_.at(name));
    }
    while (!node.inputs.empty() && node.inputs.back() == kNoValue) node.inputs.pop_back();  // the same as not given
    node.outputs.resize(parsed.outputs.size(), kNoValue);
    // Shape rules see only which outputs are wanted; these numbers become real below.
    for (size_t i = 0; i < node.outputs.size(); ++i)
      if (!parsed.outputs[i].empty()) node.outputs[i] = static_cast<ValueId>(graph_.values.size() + i);
    if (std::all_of(node.outputs.begin(), node.outputs.end(), [](ValueId v) { return v == kNoValue; }))
      return refuse_node(parsed, node.name, "it has no outputs");
    if (node.domain.empty() && node.op == "TopK") node.outputs.resize(2, kNoValue);
    try {
      place(std::move(node), parsed);
    } catch (const Error&) {
      throw;
    } catch (const std::bad_alloc&) {  // says something of the machine, nothing of the node
      throw;
    } catch (const std::exception& e) {
      refuse_node(parsed, parsed.name.empty() ? parsed.op : parsed.name, e.what());
    }
  }

  // Outputs that a file may leave unnamed, but that evaluators and kernels write whoever reads them.
  static bool is_written_anyway(const Node& node, size_t output) { return output == 0 || (node.domain.empty() && (node.op == "Split" || node.op == "TopK")); }

  void place(Node node, const ParsedNode& parsed) {
    const auto types = infer_node(graph_, node);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == kNoValue && (!is_written_anyway(node, i) || !types[i].set)) continue;
      const bool named = i < parsed.outputs.size() && !parsed.outputs[i].empty();
      node.outputs[i] = graph_.add_value(named ? parsed.outputs[i] : fmt::format("{}/output_{}", node.name, i), types[i].dtype, types[i].shape);
    }
    fold_node(graph_, node, *budget_);
    for (size_t i = 0; i < node.outputs.size(); ++i)
      if (i < parsed.outputs.size() && !parsed.outputs[i].empty()) bind(parsed.outputs[i], node.outputs[i]);
    graph_.nodes.push_back(std::move(node));
  }

  ParsedModel model_;
  const std::map<std::string, Shape>& shapes_;
  Graph graph_;
  std::optional<FoldBudget> budget_;
  std::unordered_map<std::string, ValueId> ids_;
  std::set<std::string> unknown_, node_names_;
  std::unordered_map<std::string, int> next_number_;  // by base name
  Refusals refusals_;
};

}  // namespace

void require_known_operators(const ParsedModel& model) {
  Refusals refusals;
  for (const ParsedNode& node : model.nodes) {
    const std::string why = refusal_of(node);
    if (why.empty()) continue;
    refuse_node(node, node.name, why, refusals);
    refuse_inside(node, refusals);
  }
  refusals.raise();
}

InferredGraph infer_graph(ParsedModel model, const std::map<std::string, Shape>& shapes) { return Inference(std::move(model), shapes).run(); }

}  // namespace amdahl

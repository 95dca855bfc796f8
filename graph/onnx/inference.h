#pragma once
// Nodes of a file become nodes of a Graph, one after the other, each with the dtypes and shapes of its outputs and, where they are known already,
// their values.

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "graph/clean_up/fold.h"
#include "graph/expansion.h"
#include "graph/onnx/parsed_model.h"
#include "graph/onnx/refusals.h"
#include "graph/op.h"

namespace amdahl {

// What names mean: in the model, or in the body of a node, which sees what stands around it too.
class Scope {
 public:
  // Of a value that cannot be had. What depends on it is passed over in silence: it is reported once, where it arises.
  static constexpr ValueId kUnknown = -2;

  explicit Scope(const Scope* around = nullptr) : around_(around) {}
  void bind(const std::string& name, ValueId v) { ids_[name] = v; }
  ValueId find(const std::string& name) const;  // "" is kNoValue

 private:
  const Scope* around_;
  std::unordered_map<std::string, ValueId> ids_;
};

class Inference {
 public:
  explicit Inference(std::string name) { graph_.name = std::move(name); }

  void add_input(const ParsedInput& input, const Shape& shape, Scope& scope);
  // `where`: what stands in front of the names of a body's own values; "" for the model's.
  void add_constants(const std::vector<ParsedConstant>& constants, const std::string& where, Scope& scope);
  void add_nodes(const std::vector<ParsedNode>& nodes, const std::string& where, Scope& scope);

  // Makes a node part of the graph and returns its outputs; `names` of those that a file names. An operator that is made of others becomes these. Throws Refusal.
  std::vector<ValueId> place(Node node, const std::vector<std::string>& names);
  std::string unique_name(const std::string& base);
  void require_room() const;  // throws Error(kUnsupported) where a file's loops are more than any real model is
  // Another node beside those of the file, of an operator that the loader needs itself.
  ValueId add(const std::string& name, const std::string& op, std::vector<ValueId> inputs, std::map<std::string, Attribute> attributes = {});

  // Makes the floats of constants in bytes that nodes or the graph's outputs read.
  void keep_promises();

  Graph& graph() { return graph_; }
  FoldBudget& budget();  // begins with the constants that are there when it is first asked for
  Refusals& refusals() { return refusals_; }

 private:
  void add_node(const ParsedNode& parsed, const std::string& where, Scope& scope);
  std::vector<ValueId> results_of(const ParsedNode& parsed, Node node, const std::string& where, Scope& scope);
  std::vector<ValueId> expand(const OpDef& op, const Node& node);
  Graph graph_;
  std::optional<FoldBudget> budget_;
  QuantizedForms quantized_forms_;
  std::set<std::string> node_names_;
  std::unordered_map<std::string, int> next_number_;  // by base name
  Refusals refusals_;
};

// "unknown operator", or why its file's form of it cannot be read; "": it can.
std::string refusal_of(const ParsedNode& node);

}  // namespace amdahl

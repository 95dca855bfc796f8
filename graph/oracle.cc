#include "graph/oracle.h"

#include <fmt/format.h>

#include <set>

#include "base/error.h"
#include "base/printable.h"

namespace amdahl {
namespace {

const OpDef& op_of(const Node& node) {
  if (const OpDef* op = find_op(node.domain, node.op)) return *op;
  throw Error(ExitCode::kUnsupported, fmt::format("node '{}': operator {} is not supported", shown(node.name), shown(node.op)));
}

// An operator that leaves an output unfilled would be read as zeros by its consumers.
void check_filled(const Node& node, const EvalContext& context) {
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const RefTensor& out = context.outputs[i];
    const size_t filled = out.is_float() ? out.value.size() : out.ints.size();
    const bool bounds_fit = out.bound.empty() || out.bound.size() == filled;
    if (node.outputs[i] != kNoValue && (filled != static_cast<size_t>(out.numel()) || !bounds_fit))
      throw Error(ExitCode::kInternal, fmt::format("node '{}' ({}): output {} holds {} elements and {} bounds, its shape is {}", shown(node.name), node.op, i,
                                                   filled, out.bound.size(), to_string(out.shape)));
  }
}

bool writes_nothing(const Node& node, const EvalContext& context) {
  for (size_t i = 0; i < node.outputs.size(); ++i)
    if (node.outputs[i] != kNoValue && context.outputs[i].numel() != 0) return false;
  return true;
}

// Types of the outputs; those that nobody named stay empty, and an evaluator need not fill them.
std::vector<RefTensor> typed_outputs(const Graph& graph, const Node& node) {
  std::vector<RefTensor> outputs(node.outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (node.outputs[i] == kNoValue) continue;
    const Value& v = graph.value(node.outputs[i]);
    outputs[i].dtype = v.dtype;
    outputs[i].shape = v.shape;
  }
  return outputs;
}

class Interpreter {
 public:
  Interpreter(const Graph& graph, const std::vector<NodeId>& nodes, const RefValues& given, const std::vector<ValueId>& wanted, bool bounds,
              const ProductArithmetic& products)
      : graph_(graph), given_(given), bounds_(bounds), products_(products), reads_left_(graph.values.size(), 0) {
    for (NodeId n : nodes)
      for (ValueId v : graph.node(n).inputs)
        if (v != kNoValue) ++reads_left_[static_cast<size_t>(v)];
    for (ValueId v : wanted) wanted_.insert(v), ++reads_left_[static_cast<size_t>(v)];  // never reaches zero: held to the end
  }

  void run(const Node& node) {
    EvalContext context{node, bounds_, {}, typed_outputs(graph_, node), products_};
    for (size_t i = 0; i < node.outputs.size(); ++i)
      context.outputs[i].is_inside = node.outputs[i] != kNoValue && reads_left_[static_cast<size_t>(node.outputs[i])] > 0 && !wanted_.count(node.outputs[i]);
    if (writes_nothing(node, context)) return keep(node, context);  // whatever its inputs: its kernel was not given them
    // Constants live only while their node runs: a model's weights in float64 all at once would be twice its size.
    std::vector<RefTensor> constants;
    constants.reserve(node.inputs.size());
    for (ValueId v : node.inputs) context.inputs.push_back(v == kNoValue ? nullptr : &find(v, constants));
    op_of(node).eval(context);
    check_filled(node, context);
    keep(node, context);
  }

  RefValues take(const std::vector<ValueId>& wanted) {
    RefValues result;
    for (ValueId v : wanted) {
      std::vector<RefTensor> constants;
      constants.reserve(1);
      if (result.count(v)) continue;
      const auto computed = live_.find(v);
      result[v] = computed == live_.end() ? find(v, constants) : std::move(computed->second);  // the last to ask for it
    }
    return result;
  }

 private:
  // What later nodes read, instead of what nobody reads any more.
  void keep(const Node& node, EvalContext& context) {
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const ValueId v = node.outputs[i];
      if (v != kNoValue && reads_left_[static_cast<size_t>(v)] > 0) live_[v] = std::move(context.outputs[i]);
    }
    for (ValueId v : node.inputs)
      if (v != kNoValue && --reads_left_[static_cast<size_t>(v)] == 0) live_.erase(v);
  }

  const RefTensor& find(ValueId v, std::vector<RefTensor>& constants) {
    if (const auto it = live_.find(v); it != live_.end()) return it->second;
    if (const auto it = given_.find(v); it != given_.end()) return it->second;
    if (graph_.is_constant(v)) return constants.emplace_back(RefTensor::of(*graph_.value(v).constant));
    // An operand without elements: the kernel of a product over nothing is not given it.
    if (const Value& value = graph_.value(v); numel(value.shape) == 0) return constants.emplace_back(RefTensor{value.dtype, value.shape, {}, {}, {}});
    throw Error(ExitCode::kInternal, fmt::format("oracle: value {} '{}' is neither given nor computed by these nodes", v, shown(graph_.value(v).name)));
  }

  const Graph& graph_;
  const RefValues& given_;
  bool bounds_;
  ProductArithmetic products_;
  std::vector<int> reads_left_;
  std::set<ValueId> wanted_;
  RefValues live_;
};

}  // namespace

RefValues evaluate(const Graph& graph, const std::vector<NodeId>& nodes, const RefValues& given, const std::vector<ValueId>& wanted, bool bounds,
                   const ProductArithmetic& products) {
  Interpreter interpreter(graph, nodes, given, wanted, bounds, products);
  for (NodeId n : nodes) interpreter.run(graph.node(n));
  return interpreter.take(wanted);
}

std::vector<Tensor> evaluate_node(const Graph& graph, const Node& node, const std::vector<const Tensor*>& inputs) {
  // The tensors stand in as constants, so that an output whose shape depends on them has one.
  Graph single;
  single.name = graph.name;
  Node copy = node;
  for (size_t i = 0; i < copy.inputs.size(); ++i)
    copy.inputs[i] = i < inputs.size() && inputs[i] ? single.add_constant(fmt::format("in{}", i), *inputs[i]) : kNoValue;
  for (size_t i = 0; i < copy.outputs.size(); ++i)
    if (copy.outputs[i] != kNoValue) copy.outputs[i] = single.add_value(fmt::format("out{}", i), DType::kF32, {});
  const auto types = infer_node(single, copy);
  std::vector<ValueId> wanted;
  for (size_t i = 0; i < copy.outputs.size(); ++i) {
    if (copy.outputs[i] == kNoValue) continue;
    Value& v = single.values[static_cast<size_t>(copy.outputs[i])];
    v.dtype = types[i].dtype;
    v.shape = types[i].shape;
    wanted.push_back(copy.outputs[i]);
  }
  single.nodes.push_back(copy);
  const RefValues results = evaluate(single, {0}, {}, wanted, false);
  std::vector<Tensor> tensors;
  for (ValueId v : copy.outputs) tensors.push_back(v == kNoValue ? Tensor{} : results.at(v).to_tensor());
  return tensors;
}

}  // namespace amdahl

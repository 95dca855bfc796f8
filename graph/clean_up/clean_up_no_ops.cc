#include <algorithm>
#include <set>
#include <string_view>

#include "graph/clean_up/clean_up_passes.h"

namespace amdahl {
namespace {

// All elements of constant `v` equal `value`.
bool is_uniform(const Graph& graph, ValueId v, double value) {
  if (!graph.is_constant(v)) return false;
  const Tensor& t = *graph.value(v).constant;
  // Weights are read in full only where the first element leaves it possible.
  if (t.numel() == 0 || to_doubles(t.reshaped({1}))[0] != value) return false;
  const std::vector<double> all = to_doubles(t);
  return std::all_of(all.begin(), all.end(), [&](double d) { return d == value; });
}

bool all_ints(const Graph& graph, ValueId v, bool (*test)(int64_t)) {
  if (!graph.is_constant(v)) return false;
  const std::vector<int64_t> all = to_ints(*graph.value(v).constant);
  return std::all_of(all.begin(), all.end(), test);
}

ValueId input(const Node& node, size_t i) { return i < node.inputs.size() ? node.inputs[i] : kNoValue; }

bool pads_nothing(const Graph& graph, const Node& node) {
  const auto zero = [](int64_t p) { return p == 0; };
  if (node.version >= 11) return all_ints(graph, input(node, 1), zero);
  const std::vector<int64_t> pads = node.attr_ints("pads");
  return std::all_of(pads.begin(), pads.end(), zero);
}

bool steps_forward(const Graph& graph, const Node& node) {
  return node.version < 10 || input(node, 4) == kNoValue || all_ints(graph, input(node, 4), [](int64_t s) { return s > 0; });
}

// A pool of one element; exporters write adaptive pooling to the size that is there already so.
bool pools_single_elements(const Node& node) {
  const auto all = [&](const char* name, int64_t value) {
    const std::vector<int64_t> ints = node.attr_ints(name);
    return std::all_of(ints.begin(), ints.end(), [=](int64_t i) { return i == value; });
  };
  return node.has("kernel_shape") && all("kernel_shape", 1) && all("strides", 1) && all("pads", 0);
}

// Element-wise operators with a neutral right (and, where commutative, left) operand.
ValueId neutral_survivor(const Graph& graph, const Node& node) {
  struct Row {
    std::string_view op;
    double neutral;
    bool commutative;
  };
  static constexpr Row kRows[] = {{"Add", 0, true},  {"Sub", 0, false}, {"Mul", 1, true}, {"Div", 1, false},
                                  {"Pow", 1, false}, {"And", 1, true},  {"Or", 0, true}};
  for (const Row& row : kRows) {
    if (node.op != row.op || node.inputs.size() != 2) continue;
    if (is_uniform(graph, node.inputs[1], row.neutral)) return node.inputs[0];
    if (row.commutative && is_uniform(graph, node.inputs[0], row.neutral)) return node.inputs[1];
  }
  if (node.op == "Where" && node.inputs.size() == 3) {
    if (is_uniform(graph, node.inputs[0], 1)) return node.inputs[1];
    if (is_uniform(graph, node.inputs[0], 0)) return node.inputs[2];
  }
  return kNoValue;
}

// The input that the node hands through if shapes and dtypes agree too, or kNoValue.
ValueId candidate(const Graph& graph, const Node& node) {
  static const std::set<std::string_view> kSameShapeIsEnough = {"Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Expand", "Tile", "Cast", "CastLike",
                                                                // Same shape: every reduced axis has size one.
                                                                "ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "GlobalAveragePool",
                                                                "GlobalMaxPool"};
  static const std::set<std::string_view> kOfOneInput = {"Concat", "Sum", "Mean", "Max", "Min"};
  if (kSameShapeIsEnough.count(node.op)) return node.inputs[0];
  if (kOfOneInput.count(node.op)) return node.inputs.size() == 1 ? node.inputs[0] : kNoValue;
  if (node.op == "Split") return node.outputs.size() == 1 ? node.inputs[0] : kNoValue;
  if (node.op == "Dropout") {
    const bool trains = node.version >= 12 && input(node, 2) != kNoValue && !is_uniform(graph, input(node, 2), 0);
    return trains ? kNoValue : node.inputs[0];
  }
  if (node.op == "Transpose") {
    const std::vector<int64_t> perm = node.attr_ints("perm");
    return !perm.empty() && std::is_sorted(perm.begin(), perm.end()) ? node.inputs[0] : kNoValue;
  }
  if (node.op == "AveragePool" || node.op == "MaxPool") return pools_single_elements(node) ? node.inputs[0] : kNoValue;
  if (node.op == "Pad") return pads_nothing(graph, node) ? node.inputs[0] : kNoValue;
  if (node.op == "Slice") return steps_forward(graph, node) ? node.inputs[0] : kNoValue;
  return neutral_survivor(graph, node);
}

ValueId handed_through(const Graph& graph, const Node& node) {
  if (!node.domain.empty() || node.inputs.empty()) return kNoValue;
  for (size_t i = 1; i < node.outputs.size(); ++i)
    if (node.outputs[i] != kNoValue) return kNoValue;
  const ValueId x = candidate(graph, node);
  if (x == kNoValue || node.outputs[0] == kNoValue) return kNoValue;
  const Value &in = graph.value(x), &out = graph.value(node.outputs[0]);
  return in.shape == out.shape && in.dtype == out.dtype ? x : kNoValue;
}

}  // namespace

bool remove_no_ops(Graph& graph) {
  Replacements replacements(graph);
  const std::vector<bool> output = is_output(graph);
  std::vector<NodeId> producer = uses_of(graph).producer;
  std::vector<bool> removed(graph.nodes.size(), false);
  bool changed = false;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    Node& node = graph.nodes[n];
    for (ValueId& v : node.inputs) v = replacements.resolve(v);
    const ValueId x = handed_through(graph, node);
    if (x == kNoValue) continue;
    const ValueId y = node.outputs[0];
    if (!output[static_cast<size_t>(y)]) {
      replacements.add(y, x);
    } else {
      // An output keeps its name: the producer of x writes it directly, unless x is an output, input or constant
      // itself.
      const NodeId p = producer[static_cast<size_t>(x)];
      if (p < 0 || output[static_cast<size_t>(x)]) {
        if (node.op == "Identity") continue;
        node = Node{node.name, "", "Identity", node.version, {}, {x}, {y}};  // the cheapest way to say copy
        changed = true;
        continue;
      }
      std::vector<ValueId>& written = graph.nodes[static_cast<size_t>(p)].outputs;
      std::replace(written.begin(), written.end(), x, y);
      producer[static_cast<size_t>(y)] = p;
      replacements.add(x, y);
    }
    removed[n] = changed = true;
  }
  if (!changed) return false;
  std::vector<Node> kept;
  for (size_t n = 0; n < graph.nodes.size(); ++n)
    if (!removed[n]) kept.push_back(std::move(graph.nodes[n]));
  graph.nodes = std::move(kept);
  replacements.apply(graph);
  return true;
}

}  // namespace amdahl

#include <algorithm>
#include <set>
#include <string_view>

#include "graph/clean_up/clean_up_passes.h"

namespace amdahl {
namespace {

std::vector<int64_t> perm_of(const Graph& graph, const Node& node) {
  std::vector<int64_t> perm = node.attr_ints("perm");
  if (perm.empty())  // ONNX: reversed
    for (size_t i = graph.value(node.inputs[0]).shape.size(); i-- > 0;) perm.push_back(static_cast<int64_t>(i));
  return perm;
}

// The elements stay in their order when only dimensions of size one change place.
bool keeps_order(const Graph& graph, const Node& node) {
  const Shape& shape = graph.value(node.inputs[0]).shape;
  int64_t last = -1;
  for (int64_t axis : perm_of(graph, node)) {
    if (shape[static_cast<size_t>(axis)] == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

bool is(const Node& node, std::string_view op) { return node.domain.empty() && node.op == op; }

bool is_view(const Graph& graph, const Node& node) {
  return is(node, "Reshape") || is(node, "Flatten") || is(node, "Squeeze") || is(node, "Unsqueeze") || (is(node, "Transpose") && keeps_order(graph, node));
}

bool broadcasts(const Node& node) {
  static const std::set<std::string_view> kOps = {"Add",  "Sub",     "Mul",   "Div", "Pow", "And", "Or",   "Xor",         "Equal",
                                                  "Less", "Greater", "Where", "Min", "Max", "Sum", "Mean", "LessOrEqual", "GreaterOrEqual",
                                                  "Mod"};
  return node.domain.empty() && kOps.count(node.op) > 0;
}

class Movement {
 public:
  explicit Movement(Graph& graph) : graph_(graph), uses_(uses_of(graph)) {}

  bool run() {
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      Node& node = graph_.nodes[n];
      if (is_view(graph_, node)) view(node);
      else if (is(node, "Transpose")) join_transposes(node);
      else if (broadcasts(node)) skip_expands(node);
    }
    return changed_;
  }

 private:
  const Node* producer(ValueId v) const {
    const NodeId p = v == kNoValue || static_cast<size_t>(v) >= uses_.producer.size() ? -1 : uses_.producer[static_cast<size_t>(v)];
    return p < 0 ? nullptr : &graph_.node(p);
  }

  // Any view becomes a Reshape to the plain shape of its result, from the start of a chain of views.
  void view(Node& node) {
    const Shape& shape = graph_.value(node.outputs[0]).shape;
    const bool empty = std::count(shape.begin(), shape.end(), 0) > 0;
    if (empty && node.version < 14) return;  // a zero in a target means "as in the input" there
    ValueId source = node.inputs[0];
    for (const Node* p = producer(source); p && is_view(graph_, *p); p = producer(source)) source = p->inputs[0];
    const bool plain = is(node, "Reshape") && node.attributes.size() == (empty ? 1u : 0u) && graph_.is_constant(node.inputs[1]) &&
                       to_ints(*graph_.value(node.inputs[1]).constant) == shape;
    if (plain && source == node.inputs[0]) return;
    const ValueId target =
        plain ? node.inputs[1] : graph_.add_constant(node.name + "/shape", from_ints(DType::kI64, {static_cast<int64_t>(shape.size())}, shape));
    node.op = "Reshape";
    node.attributes.clear();
    if (empty) node.attributes["allowzero"] = int64_t{1};
    node.inputs = {source, target};
    changed_ = true;
  }

  void join_transposes(Node& node) {
    const Node* first = producer(node.inputs[0]);
    if (!first || !is(*first, "Transpose")) return;
    const std::vector<int64_t> inner = perm_of(graph_, *first);
    std::vector<int64_t> perm = perm_of(graph_, node);
    for (int64_t& axis : perm) axis = inner[static_cast<size_t>(axis)];
    node.inputs[0] = first->inputs[0];
    node.attributes["perm"] = perm;
    changed_ = true;
  }

  // An operator that broadcasts anyway reads what an Expand would have spread out.
  void skip_expands(Node& node) {
    for (ValueId& v : node.inputs) {
      const Node* p = producer(v);
      if (!p || !is(*p, "Expand")) continue;
      const ValueId spread = v;
      v = p->inputs[0];
      Shape shape;
      for (ValueId i : node.inputs) shape = broadcast(shape, graph_.value(i).shape);
      if (shape == graph_.value(node.outputs[0]).shape) changed_ = true;
      else v = spread;
    }
  }

  Graph& graph_;
  Uses uses_;
  bool changed_ = false;
};

}  // namespace

bool simplify_movement(Graph& graph) { return Movement(graph).run(); }

}  // namespace amdahl

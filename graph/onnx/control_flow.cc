#include "graph/onnx/control_flow.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/printable.h"
#include "graph/expansion.h"

namespace amdahl {
namespace {

const ParsedBody& body_of(const ParsedNode& node, const char* attribute) {
  for (const ParsedBody& body : node.bodies)
    if (body.attribute == attribute) return body;
  throw Refusal(fmt::format("attribute '{}' is missing", attribute));
}

// What writes a body out, with values in the place of its inputs.
class Writer {
 public:
  Writer(Inference& inference, const Node& node, const Scope& scope) : inference_(inference), node_(node), scope_(scope) {}

  // `what`: "then_branch", "body/3". Outputs may be Scope::kUnknown.
  std::vector<ValueId> write(const ParsedBody& body, const std::vector<ValueId>& inputs, const std::string& what) {
    if (inputs.size() != body.inputs.size()) throw Refusal(fmt::format("'{}' has {} inputs, not {}", body.attribute, body.inputs.size(), inputs.size()));
    inference_.require_room();
    Scope inside(&scope_);
    for (size_t i = 0; i < inputs.size(); ++i) inside.bind(body.inputs[i].name, inputs[i]);
    // Where it stands is shortened at each level: in full, a long name outside would be there once for each node inside.
    const std::string where = fmt::format("{}/{}/", shown(node_.name), what);
    inference_.add_constants(body.constants, where, inside);
    inference_.add_nodes(body.nodes, where, inside);
    std::vector<ValueId> outputs;
    for (const std::string& name : body.outputs) outputs.push_back(inside.find(name));
    return outputs;
  }

  ValueId add(const std::string& op, std::vector<ValueId> inputs, std::map<std::string, Attribute> attributes = {}) {
    return inference_.add(fmt::format("{}/{}", node_.name, op), op, std::move(inputs), std::move(attributes));
  }
  ValueId ints(const Shape& shape, const std::vector<int64_t>& values) {
    return graph().add_constant(fmt::format("{}/constant_{}", node_.name, graph().values.size()), from_ints(DType::kI64, shape, values));
  }
  ValueId boolean(bool value) {
    return graph().add_constant(fmt::format("{}/constant_{}", node_.name, graph().values.size()), from_ints(DType::kBool, {}, {value}));
  }
  Graph& graph() { return inference_.graph(); }
  const Value& value(ValueId v) { return inference_.graph().value(v); }

 private:
  Inference& inference_;
  const Node& node_;
  const Scope& scope_;
};

bool is_known(const std::vector<ValueId>& values) { return std::find(values.begin(), values.end(), Scope::kUnknown) == values.end(); }

// One of a boolean that is a single element, or nullopt where the data decide it.
std::optional<bool> known_bool(const Graph& graph, ValueId v) {
  const Value& value = graph.value(v);
  if (value.dtype != DType::kBool || numel(value.shape) != 1) throw Refusal("its condition is not a single bool");
  if (!value.constant) return std::nullopt;
  return to_ints(*value.constant)[0] != 0;
}

// Whichever branch is taken, both are computed: an index that only one of them may hold would be out of range in the other.
void require_safe_indices(const Graph& graph, size_t first_node) {
  for (size_t n = first_node; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    const bool indexed = node.op.starts_with("Gather") || node.op.starts_with("Scatter");
    if (indexed && node.inputs.size() > 1 && !graph.is_constant(node.inputs[1]))
      throw Refusal(
          fmt::format("its condition depends on the data, and '{}' ({}) in a branch reads at places that may depend on it", shown(node.name), node.op));
  }
}

std::vector<ValueId> add_if(Writer& w, const ParsedNode& parsed, const Node& node) {
  if (node.inputs.size() != 1 || node.inputs[0] == kNoValue) throw Refusal("it needs a condition, and nothing else");
  if (const auto condition = known_bool(w.graph(), node.inputs[0])) {
    const char* branch = *condition ? "then_branch" : "else_branch";
    return w.write(body_of(parsed, branch), {}, branch);
  }
  const size_t first = w.graph().nodes.size();
  const std::vector<ValueId> yes = w.write(body_of(parsed, "then_branch"), {}, "then_branch");
  const std::vector<ValueId> no = w.write(body_of(parsed, "else_branch"), {}, "else_branch");
  if (yes.size() != no.size()) throw Refusal("its branches have different numbers of outputs");
  if (!is_known(yes) || !is_known(no)) return std::vector<ValueId>(yes.size(), Scope::kUnknown);  // what stands inside is refused already
  require_safe_indices(w.graph(), first);
  const ValueId condition = w.value(node.inputs[0]).shape.empty() ? node.inputs[0] : w.add("Reshape", {node.inputs[0], w.ints({0}, {})});
  std::vector<ValueId> outputs;
  for (size_t i = 0; i < yes.size(); ++i) {
    const Value &a = w.value(yes[i]), &b = w.value(no[i]);
    if (a.dtype != b.dtype || a.shape != b.shape)
      throw Refusal(fmt::format("its condition depends on the data, and output {} is {} {} in one branch and {} {} in the other", i, name_of(a.dtype),
                                to_string(a.shape), name_of(b.dtype), to_string(b.shape)));
    outputs.push_back(yes[i] == no[i] ? yes[i] : w.add("Where", {condition, yes[i], no[i]}));
  }
  return outputs;
}

// How often a loop runs at most: its trip count, where that is given.
int64_t known_trips(const Graph& graph, const Node& node) {
  constexpr int64_t kNoLimit = int64_t{1} << 40;
  if (node.inputs.empty() || node.inputs[0] == kNoValue) return kNoLimit;
  const Value& count = graph.value(node.inputs[0]);
  if (numel(count.shape) != 1 || count.dtype != DType::kI64) throw Refusal("its trip count is not a single number of int64");
  if (!count.constant) throw Refusal("its trip count depends on the data; only loops whose count is known are supported");
  return std::min(kNoLimit, to_ints(*count.constant)[0]);
}

// Results of the steps, one after the other along a new dimension.
ValueId stacked(Writer& w, const std::vector<ValueId>& steps, int64_t axis) {
  std::vector<ValueId> rows;
  const ValueId at = w.ints({1}, {axis});
  for (const ValueId v : steps) rows.push_back(w.add("Unsqueeze", {v, at}));
  return rows.size() == 1 ? rows[0] : w.add("Concat", rows, {{"axis", axis}});
}

std::vector<ValueId> add_loop(Writer& w, const ParsedNode& parsed, const Node& node) {
  const ParsedBody& body = body_of(parsed, "body");
  const int64_t trips = known_trips(w.graph(), node);
  const size_t carried = node.inputs.size() > 2 ? node.inputs.size() - 2 : 0;
  if (body.outputs.size() < carried + 1) throw Refusal("its body has fewer outputs than it carries values");
  std::vector<ValueId> state(node.inputs.begin() + static_cast<int64_t>(node.inputs.size() - carried), node.inputs.end());
  ValueId condition = node.inputs.size() > 1 && node.inputs[1] != kNoValue ? node.inputs[1] : w.boolean(true);
  std::vector<std::vector<ValueId>> rows(body.outputs.size() - 1 - carried);
  for (int64_t i = 0; i < trips; ++i) {
    const auto goes_on = known_bool(w.graph(), condition);
    if (!goes_on) throw Refusal("its condition depends on the data; only loops whose count is known are supported");
    if (!*goes_on) break;
    std::vector<ValueId> inputs{w.ints({}, {i}), condition};
    inputs.insert(inputs.end(), state.begin(), state.end());
    const std::vector<ValueId> outputs = w.write(body, inputs, fmt::format("body/{}", i));
    if (!is_known(outputs)) return std::vector<ValueId>(body.outputs.size() - 1, Scope::kUnknown);
    condition = outputs[0];
    state.assign(outputs.begin() + 1, outputs.begin() + 1 + static_cast<int64_t>(carried));
    for (size_t r = 0; r < rows.size(); ++r) rows[r].push_back(outputs[1 + carried + r]);
  }
  std::vector<ValueId> results = state;
  for (const auto& steps : rows) {
    if (steps.empty()) throw Refusal("it runs no step, and what it collects would have no shape");
    results.push_back(stacked(w, steps, 0));
  }
  return results;
}

// Of a Scan, one number for each of `count`: 0 where the file says nothing.
std::vector<int64_t> numbers_of(const Node& node, const char* name, size_t count) {
  std::vector<int64_t> numbers = node.attr_ints(name, std::vector<int64_t>(count, 0));
  if (numbers.size() != count) throw Refusal(fmt::format("attribute '{}' has {} numbers, not {}", name, numbers.size(), count));
  return numbers;
}

int64_t axis_within(int64_t axis, size_t rank) { return static_cast<int64_t>(Expansion::axis_of(axis, rank, "axis")); }

// How a Scan walks over its inputs and puts its results together.
struct ScanForm {
  size_t carried, scanned, collected;
  std::vector<int64_t> axes, backwards, out_axes, out_backwards;
  int64_t steps = -1;

  ScanForm(Writer& w, const Node& node, const ParsedBody& body) {
    if (node.version < 9) throw Refusal("Scan before opset 9 is not supported");
    scanned = static_cast<size_t>(std::max<int64_t>(0, node.attr_int("num_scan_inputs", 0)));
    if (scanned == 0 || node.inputs.size() < scanned) throw Refusal("it scans no input");
    carried = node.inputs.size() - scanned;
    if (body.outputs.size() < carried) throw Refusal("its body has fewer outputs than it carries values");
    collected = body.outputs.size() - carried;
    axes = numbers_of(node, "scan_input_axes", scanned), backwards = numbers_of(node, "scan_input_directions", scanned);
    out_axes = numbers_of(node, "scan_output_axes", collected), out_backwards = numbers_of(node, "scan_output_directions", collected);
    for (size_t i = 0; i < scanned; ++i) {
      const Shape& shape = w.value(node.inputs[carried + i]).shape;
      axes[i] = axis_within(axes[i], shape.size());
      const int64_t length = shape[static_cast<size_t>(axes[i])];
      if (steps >= 0 && length != steps) throw Refusal("its scanned inputs differ in length");
      steps = length;
    }
    if (steps == 0 && collected > 0) throw Refusal("it runs no step, and what it collects would have no shape");
  }
};

std::vector<ValueId> add_scan(Writer& w, const ParsedNode& parsed, const Node& node) {
  const ParsedBody& body = body_of(parsed, "body");
  const ScanForm form(w, node, body);
  const auto carried = static_cast<int64_t>(form.carried);
  std::vector<ValueId> state(node.inputs.begin(), node.inputs.begin() + carried);
  std::vector<std::vector<ValueId>> rows(form.collected);
  for (int64_t step = 0; step < form.steps; ++step) {
    std::vector<ValueId> inputs = state;
    for (size_t i = 0; i < form.scanned; ++i) {
      const ValueId at = w.ints({}, {form.backwards[i] ? form.steps - 1 - step : step});
      inputs.push_back(w.add("Gather", {node.inputs[form.carried + i], at}, {{"axis", form.axes[i]}}));
    }
    const std::vector<ValueId> outputs = w.write(body, inputs, fmt::format("body/{}", step));
    if (!is_known(outputs)) return std::vector<ValueId>(body.outputs.size(), Scope::kUnknown);
    state.assign(outputs.begin(), outputs.begin() + carried);
    for (size_t r = 0; r < rows.size(); ++r) rows[r].push_back(outputs[form.carried + r]);
  }
  std::vector<ValueId> results = state;
  for (size_t r = 0; r < rows.size(); ++r) {
    if (form.out_backwards[r]) std::reverse(rows[r].begin(), rows[r].end());
    results.push_back(stacked(w, rows[r], axis_within(form.out_axes[r], w.value(rows[r][0]).shape.size() + 1)));
  }
  return results;
}

}  // namespace

bool is_control_flow(const ParsedNode& node) { return node.domain.empty() && (node.op == "If" || node.op == "Loop" || node.op == "Scan"); }

std::vector<ValueId> add_control_flow(Inference& inference, const ParsedNode& parsed, const Node& node, const Scope& scope) {
  Writer writer(inference, node, scope);
  std::vector<ValueId> outputs = node.op == "If"     ? add_if(writer, parsed, node)
                                 : node.op == "Loop" ? add_loop(writer, parsed, node)
                                                     : add_scan(writer, parsed, node);
  if (outputs.size() < parsed.outputs.size()) throw Refusal("it has more outputs than its body");
  return outputs;
}

}  // namespace amdahl

#include "graph/onnx/opset_upgrade.h"

#include <limits>
#include <string_view>

#include "graph/clean_up/clean_up_passes.h"

namespace amdahl {
namespace {

constexpr double kLargest = std::numeric_limits<float>::max();

// One node on its way into a newer version.
struct Upgrade {
  Graph& graph;
  Node& node;
  NodeWriter write;       // nodes that come before it, or stand in for it
  bool replaced = false;  // by nodes that were written

  void put(size_t i, ValueId v) {
    if (node.inputs.size() <= i) node.inputs.resize(i + 1, kNoValue);
    node.inputs[i] = v;
  }
  void ints_to_input(const std::string& name, size_t i) {
    if (!node.has(name)) return;
    const std::vector<int64_t> ints = node.attr_ints(name);
    put(i, write.constant(name, from_ints(DType::kI64, {static_cast<int64_t>(ints.size())}, ints)));
    node.attributes.erase(name);
  }
  void float_to_input(const std::string& name, size_t i, double otherwise) {
    put(i, write.constant(name, from_doubles(graph.value(node.inputs[0]).dtype, {}, {node.attr_float(name, otherwise)})));
    node.attributes.erase(name);
  }
};

void axes_to_input(Upgrade& u) { u.ints_to_input("axes", 1); }

void split_to_input(Upgrade& u) { u.ints_to_input("split", 1); }

// From 18 on, equal parts must be counted.
void count_parts(Upgrade& u) {
  if (u.node.inputs.size() < 2) u.node.attributes["num_outputs"] = static_cast<int64_t>(u.node.outputs.size());
}

void limits_to_inputs(Upgrade& u) {
  u.float_to_input("min", 1, -kLargest);
  u.float_to_input("max", 2, kLargest);
}

void pads_to_inputs(Upgrade& u) {
  u.ints_to_input("pads", 1);
  u.float_to_input("value", 2, 0);
}

void slice_to_inputs(Upgrade& u) {
  u.ints_to_input("starts", 1);
  u.ints_to_input("ends", 2);
  u.ints_to_input("axes", 3);
}

void k_to_input(Upgrade& u) {
  if (!u.node.has("k")) return;
  u.put(1, u.write.constant("k", from_ints(DType::kI64, {1}, {u.node.attr_int("k", 1)})));
  u.node.attributes.erase("k");
}

// Only inference is in a Graph: the ratio does nothing.
void drop_ratio(Upgrade& u) { u.node.attributes.erase("ratio"); }

void rename_scatter(Upgrade& u) { u.node.op = "ScatterElements"; }

// Before 11, sizes came from scales only, and coordinates were not centred.
void center_coordinates(Upgrade& u) {
  u.node.op = "Resize";
  if (u.node.has("scales")) {  // Upsample 7
    const std::vector<double> scales = std::get<std::vector<double>>(u.node.attributes.at("scales"));
    u.put(2, u.write.constant("scales", from_doubles(DType::kF32, {static_cast<int64_t>(scales.size())}, scales)));
    u.node.attributes.erase("scales");
  } else {
    const ValueId scales = u.node.inputs.at(1);
    u.node.inputs = {u.node.inputs[0], kNoValue, scales};
  }
  u.node.attributes["coordinate_transformation_mode"] = std::string("asymmetric");
  u.node.attributes["nearest_mode"] = std::string("floor");
}

// Until 20, scale and bias had one element a group; from 21 on one a channel.
void repeat_per_channel(Upgrade& u) {
  const int64_t channels = u.graph.value(u.node.inputs[0]).shape.at(1);
  for (size_t i = 1; i < 3; ++i) {
    if (!u.graph.is_constant(u.node.inputs[i])) continue;
    const Tensor& t = *u.graph.value(u.node.inputs[i]).constant;
    if (t.numel() == 0 || channels % t.numel() != 0) continue;
    const std::vector<double> groups = to_doubles(t);
    std::vector<double> all(static_cast<size_t>(channels));
    for (size_t c = 0; c < all.size(); ++c) all[c] = groups[c / (all.size() / groups.size())];
    u.node.inputs[i] = u.write.constant("per_channel", from_doubles(t.dtype(), {channels}, all));
  }
}

// Before 13, a softmax ran over all dimensions from `axis` on, as if they were one.
void flatten_from_axis(Upgrade& u) {
  const ValueId x = u.node.inputs[0], y = u.node.outputs[0];
  const Shape shape = u.graph.value(x).shape;
  const auto rank = static_cast<int64_t>(shape.size());
  int64_t axis = u.node.attr_int("axis", 1);
  if (axis < 0) axis += rank;
  u.node.attributes["axis"] = int64_t{-1};
  if (axis >= rank - 1) return;
  Shape rows(shape.begin(), shape.begin() + axis), columns(shape.begin() + axis, shape.end());
  const ValueId flat = u.write.reshape(x, {numel(rows), numel(columns)});
  const ValueId result = u.write.add(u.node.op, {flat}, u.graph.value(y).dtype, u.graph.value(flat).shape, u.node.attributes);
  const ValueId target = u.write.constant("shape", from_ints(DType::kI64, {rank}, shape));
  u.write.add_to("Reshape", {result, target}, y);
  u.replaced = true;
}

// What the standard changed, and the version that did: a file's older nodes need it once the file has come so far. In the order of versions, where
// an operator has several.
struct VersionChange {
  std::string_view op;
  int version;
  void (*apply)(Upgrade&);
};
constexpr VersionChange kVersionChanges[] = {
    {"Clip", 11, limits_to_inputs},
    {"Dropout", 12, drop_ratio},
    {"GroupNormalization", 21, repeat_per_channel},
    {"Hardmax", 13, flatten_from_axis},
    {"LogSoftmax", 13, flatten_from_axis},
    {"Pad", 11, pads_to_inputs},
    {"ReduceL1", 18, axes_to_input},
    {"ReduceL2", 18, axes_to_input},
    {"ReduceLogSum", 18, axes_to_input},
    {"ReduceLogSumExp", 18, axes_to_input},
    {"ReduceMax", 18, axes_to_input},
    {"ReduceMean", 18, axes_to_input},
    {"ReduceMin", 18, axes_to_input},
    {"ReduceProd", 18, axes_to_input},
    {"ReduceSum", 13, axes_to_input},
    {"ReduceSumSquare", 18, axes_to_input},
    {"Resize", 11, center_coordinates},
    {"Scatter", 17, rename_scatter},  // gone since 11, and still found in files of later opsets
    {"Slice", 10, slice_to_inputs},
    {"Softmax", 13, flatten_from_axis},
    {"Split", 13, split_to_input},
    {"Split", 18, count_parts},
    {"Squeeze", 13, axes_to_input},
    {"TopK", 10, k_to_input},
    {"Unsqueeze", 13, axes_to_input},
    {"Upsample", 11, center_coordinates},
};

void upgrade_node(Graph& graph, Node& node, int opset, std::vector<Node>& out) {
  Upgrade upgrade{graph, node, NodeWriter(graph, out, node, opset)};
  const std::string op = node.op;  // a change may give it another name
  for (const VersionChange& change : kVersionChanges)
    if (change.op == op && node.version < change.version && change.version <= opset) change.apply(upgrade);
  if (upgrade.replaced) return;
  node.version = opset;
  out.push_back(std::move(node));
}

}  // namespace

void upgrade_opset(Graph& graph, int opset) {
  std::vector<Node> out;
  for (Node& node : graph.nodes) {
    if (node.domain.empty() && node.version < opset) upgrade_node(graph, node, opset, out);
    else out.push_back(std::move(node));
  }
  graph.nodes = std::move(out);
}

}  // namespace amdahl

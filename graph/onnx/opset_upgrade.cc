#include "graph/onnx/opset_upgrade.h"

#include <limits>
#include <set>
#include <string_view>

#include "graph/clean_up/clean_up_passes.h"

namespace amdahl {
namespace {

constexpr double kLargest = std::numeric_limits<float>::max();

class Upgrade {
 public:
  Upgrade(Graph& graph, std::vector<Node>& out, Node& node, int opset)
      : graph_(graph), out_(out), node_(node), opset_(opset), write_(graph, out, node, opset) {}

  void run() {
    static const std::set<std::string_view> kReduce18 = {"ReduceMean",   "ReduceMax",       "ReduceMin",
                                                         "ReduceProd",   "ReduceL1",        "ReduceL2",
                                                         "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"};
    const std::string& op = node_.op;
    const int from = node_.version;
    if (op == "Squeeze" || op == "Unsqueeze" || op == "ReduceSum") {
      if (from < 13) ints_to_input("axes", 1);
    } else if (kReduce18.count(op)) {
      if (from < 18 && opset_ >= 18) ints_to_input("axes", 1);
    } else if (op == "Split") {
      if (from < 13) ints_to_input("split", 1);
      if (from < 18 && opset_ >= 18 && node_.inputs.size() < 2)
        node_.attributes["num_outputs"] = static_cast<int64_t>(node_.outputs.size());
    } else if (op == "Clip") {
      if (from < 11) {
        float_to_input("min", 1, -kLargest);
        float_to_input("max", 2, kLargest);
      }
    } else if (op == "Pad") {
      if (from < 11) {
        ints_to_input("pads", 1);
        float_to_input("value", 2, 0);
      }
    } else if (op == "Slice") {
      if (from < 10) {
        ints_to_input("starts", 1);
        ints_to_input("ends", 2);
        ints_to_input("axes", 3);
      }
    } else if (op == "TopK") {
      if (from < 10 && node_.has("k")) {
        put(1, write_.constant("k", from_ints(DType::kI64, {1}, {node_.attr_int("k", 1)})));
        node_.attributes.erase("k");
      }
    } else if (op == "Dropout") {
      if (from < 12) node_.attributes.erase("ratio");  // only inference is in a Graph: the ratio does nothing
    } else if (op == "Scatter") {
      node_.op = "ScatterElements";
    } else if (op == "Resize" || op == "Upsample") {
      if (from < 11) upgrade_resize();
    } else if (op == "GroupNormalization") {
      if (from < 21 && opset_ >= 21) repeat_per_channel();
    } else if (op == "Softmax" || op == "LogSoftmax" || op == "Hardmax") {
      if (from < 13) return softmax();
    }
    finish();
  }

 private:
  void put(size_t i, ValueId v) {
    if (node_.inputs.size() <= i) node_.inputs.resize(i + 1, kNoValue);
    node_.inputs[i] = v;
  }
  void ints_to_input(const std::string& name, size_t i) {
    if (!node_.has(name)) return;
    const std::vector<int64_t> ints = node_.attr_ints(name);
    put(i, write_.constant(name, from_ints(DType::kI64, {static_cast<int64_t>(ints.size())}, ints)));
    node_.attributes.erase(name);
  }
  void float_to_input(const std::string& name, size_t i, double otherwise) {
    put(i, write_.constant(name, from_doubles(graph_.value(node_.inputs[0]).dtype, {}, {node_.attr_float(name, otherwise)})));
    node_.attributes.erase(name);
  }

  // Before 11, sizes came from scales only, and coordinates were not centred.
  void upgrade_resize() {
    node_.op = "Resize";
    if (node_.has("scales")) {  // Upsample 7
      const std::vector<double> scales = std::get<std::vector<double>>(node_.attributes.at("scales"));
      put(2, write_.constant("scales", from_doubles(DType::kF32, {static_cast<int64_t>(scales.size())}, scales)));
      node_.attributes.erase("scales");
    } else {
      const ValueId scales = node_.inputs.at(1);
      node_.inputs = {node_.inputs[0], kNoValue, scales};
    }
    node_.attributes["coordinate_transformation_mode"] = std::string("asymmetric");
    node_.attributes["nearest_mode"] = std::string("floor");
  }

  // Until 20, scale and bias had one element a group; from 21 on one a channel.
  void repeat_per_channel() {
    const int64_t channels = graph_.value(node_.inputs[0]).shape.at(1);
    for (size_t i = 1; i < 3; ++i) {
      if (!graph_.is_constant(node_.inputs[i])) continue;
      const Tensor& t = *graph_.value(node_.inputs[i]).constant;
      if (t.numel() == 0 || channels % t.numel() != 0) continue;
      const std::vector<double> groups = to_doubles(t);
      std::vector<double> all(static_cast<size_t>(channels));
      for (size_t c = 0; c < all.size(); ++c) all[c] = groups[c / (all.size() / groups.size())];
      node_.inputs[i] = write_.constant("per_channel", from_doubles(t.dtype(), {channels}, all));
    }
  }

  // Before 13, a softmax ran over all dimensions from `axis` on, as if they were one.
  void softmax() {
    const ValueId x = node_.inputs[0], y = node_.outputs[0];
    const Shape shape = graph_.value(x).shape;
    const auto rank = static_cast<int64_t>(shape.size());
    int64_t axis = node_.attr_int("axis", 1);
    if (axis < 0) axis += rank;
    node_.attributes["axis"] = int64_t{-1};
    if (axis >= rank - 1) return finish();
    Shape rows(shape.begin(), shape.begin() + axis), columns(shape.begin() + axis, shape.end());
    const ValueId flat = write_.reshape(x, {numel(rows), numel(columns)});
    const ValueId result =
        write_.add(node_.op, {flat}, graph_.value(y).dtype, graph_.value(flat).shape, node_.attributes);
    const ValueId target = write_.constant("shape", from_ints(DType::kI64, {rank}, shape));
    write_.add_to("Reshape", {result, target}, y);
  }

  void finish() {
    node_.version = opset_;
    out_.push_back(std::move(node_));
  }

  Graph& graph_;
  std::vector<Node>& out_;
  Node& node_;
  int opset_;
  NodeWriter write_;
};

}  // namespace

void upgrade_opset(Graph& graph, int opset) {
  std::vector<Node> out;
  for (Node& node : graph.nodes) {
    if (node.domain.empty() && node.version < opset)
      Upgrade(graph, out, node, opset).run();
    else
      out.push_back(std::move(node));
  }
  graph.nodes = std::move(out);
}

}  // namespace amdahl

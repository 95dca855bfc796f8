// Products of the same rows by weights of their own, as those of queries, keys and values are, become one product by all of their weights and a Split,
// which readers walk by strides as if it were not there. The rows are read once, and one kernel has the columns of all to spread over cores or blocks.

#include <algorithm>
#include <numeric>
#include <set>
#include <string_view>

#include "graph/clean_up/clean_up_passes.h"
#include "graph/clean_up/fold.h"

namespace amdahl {
namespace {

// A MatMul or Gemm, and the Add of a bias behind it, which may see the columns as heads (Keras).
struct Product {
  NodeId node = -1, heads = -1, add = -1;  // heads: a Reshape between the two
  ValueId weight = kNoValue, bias = kNoValue;
  ValueId result = kNoValue, sum = kNoValue;  // what the Split writes; what comes of the Add
};

bool is_any_of(const Node& node, const std::set<std::string_view>& ops) { return node.domain.empty() && ops.count(node.op) > 0; }

// Parts side by side along `axis`, all other dimensions equal.
Tensor side_by_side(const std::vector<Tensor>& parts, size_t axis) {
  Shape shape = parts[0].shape();
  shape[axis] = 0;
  for (const Tensor& part : parts) shape[axis] += part.shape()[axis];
  std::byte* to;
  Tensor all = Tensor::allocate(parts[0].dtype(), shape, &to);
  const auto rows = static_cast<size_t>(numel({shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(axis)}));
  for (size_t row = 0; row < rows; ++row)
    for (const Tensor& part : parts) {
      const size_t bytes = part.bytes() / rows;
      to = std::copy_n(part.data() + row * bytes, bytes, to);
    }
  return all;
}

class Siblings {
 public:
  Siblings(Graph& graph, FoldBudget& budget)
      : graph_(graph), budget_(budget), uses_(uses_of(graph)), output_(is_output(graph)), gone_(graph.nodes.size()), written_(graph.nodes.size()) {}

  bool run();

 private:
  std::optional<Product> product_at(NodeId n) const;
  bool is_bias(ValueId v, int64_t columns, const Shape& shape) const;
  NodeId only_reader(ValueId v, std::string_view op) const;
  void find_bias(Product& p) const;
  bool scales(const Node& node) const;
  bool goes_on(ValueId result) const;
  bool are_siblings(const Product& a, const Product& b) const;
  Tensor bias_tensor(const Product& product) const;
  void merge(const std::vector<Product>& siblings);
  void write(const std::vector<Product>& siblings, Tensor weights);

  size_t weight_axis(const Product& p) const { return graph_.node(p.node).attr_int("transB", 0) != 0 ? 0 : 1; }
  const std::vector<NodeId>& readers(ValueId v) const { return uses_.consumers[static_cast<size_t>(v)]; }
  bool is_output_value(ValueId v) const { return output_[static_cast<size_t>(v)]; }

  Graph& graph_;
  FoldBudget& budget_;
  const Uses uses_;
  const std::vector<bool> output_;
  std::vector<bool> gone_;                  // nodes
  std::vector<std::vector<Node>> written_;  // in the place of a node
};

// Whether a constant adds one number to each of `columns`, to results in this shape.
bool Siblings::is_bias(ValueId v, int64_t columns, const Shape& shape) const {
  if (!graph_.is_constant(v)) return false;
  const Shape& own = graph_.value(v).shape;
  const auto first = std::find_if(own.begin(), own.end(), [](int64_t size) { return size != 1; });
  const auto rank = static_cast<size_t>(own.end() - first);
  return own.size() <= shape.size() && numel(own) == columns && numel({shape.end() - static_cast<std::ptrdiff_t>(rank), shape.end()}) == columns &&
         std::equal(first, own.end(), shape.end() - static_cast<std::ptrdiff_t>(rank));
}

// The node that alone reads a value, and an `op`; -1 where there is none.
NodeId Siblings::only_reader(ValueId v, std::string_view op) const {
  const bool one = readers(v).size() == 1 && !is_output_value(v);
  return one && is_any_of(graph_.node(readers(v)[0]), {op}) ? readers(v)[0] : -1;
}

void Siblings::find_bias(Product& p) const {
  const int64_t columns = graph_.value(p.result).shape.back();
  const NodeId heads = only_reader(p.result, "Reshape");
  const ValueId v = heads >= 0 ? graph_.node(heads).outputs[0] : p.result;
  const NodeId reader = only_reader(v, "Add");
  if (reader < 0) return;
  const Node& add = graph_.node(reader);
  const ValueId other = add.inputs[add.inputs[0] == v ? 1 : 0];
  if (!is_bias(other, columns, graph_.value(v).shape)) return;
  p.bias = other, p.add = reader, p.heads = heads, p.sum = add.outputs[0];
  if (heads < 0) p.result = p.sum;
}

// Multiplies or divides all elements by one number.
bool Siblings::scales(const Node& node) const {
  const auto is_number = [&](size_t i) { return graph_.is_constant(node.inputs[i]) && numel(graph_.value(node.inputs[i]).shape) == 1; };
  return is_any_of(node, {"Mul"}) ? is_number(0) || is_number(1) : is_any_of(node, {"Div"}) && is_number(1);
}

// Whether a result is moved before anything is computed of it but a scale, as heads are cut out of queries. What elementwise operators read stays a product
// of its own: they become its epilogue, and two that meet in one are a gated layer (fuse_mlp). So does what has to lie in an output of the model, which a
// product writes and a Split would copy.
bool Siblings::goes_on(ValueId result) const {
  static const std::set<std::string_view> kMovesOrMultiplies = {"Transpose", "Split", "Slice", "MatMul", "Attention"};
  for (std::vector<ValueId> names{result}; !names.empty();) {  // it, and it in other shapes or scaled
    const ValueId v = names.back();
    names.pop_back();
    bool moved = false;
    for (NodeId n : readers(v)) {
      const Node& reader = graph_.node(n);
      if (is_any_of(reader, {"Reshape"}) || scales(reader)) {
        names.push_back(reader.outputs[0]);
        moved = true;
      } else if (is_any_of(reader, kMovesOrMultiplies)) {
        if (reader.op == "Transpose" && is_output_value(reader.outputs[0])) return false;  // a product writes it where the Transpose would
        moved = true;
      }
    }
    if (!moved || is_output_value(v)) return false;
  }
  return true;
}

std::optional<Product> Siblings::product_at(NodeId n) const {
  const Node& node = graph_.node(n);
  if (!is_any_of(node, {"MatMul", "Gemm"})) return std::nullopt;
  Product p;
  p.node = n, p.weight = node.inputs[1], p.result = p.sum = node.outputs[0];
  const Value &rows = graph_.value(node.inputs[0]), &weight = graph_.value(p.weight), &result = graph_.value(p.result);
  // Weights that others read too would be in memory twice.
  if (!weight.constant || weight.shape.size() != 2 || numel(weight.shape) == 0 || readers(p.weight).size() != 1 || is_output_value(p.weight))
    return std::nullopt;
  if (rows.constant || rows.shape.size() < 2 || !is_float(result.dtype) || numel(result.shape) == 0) return std::nullopt;
  const bool has_bias = node.op == "Gemm" && node.inputs.size() > 2 && node.inputs[2] != kNoValue;
  if (node.op == "Gemm" && (node.attr_int("transA", 0) != 0 || node.attr_float("alpha", 1) != 1)) return std::nullopt;
  if (has_bias) {
    if (node.attr_float("beta", 1) != 1 || !is_bias(node.inputs[2], result.shape.back(), result.shape)) return std::nullopt;
    p.bias = node.inputs[2];
  } else {
    find_bias(p);
  }
  return goes_on(p.sum) ? std::optional(p) : std::nullopt;
}

bool Siblings::are_siblings(const Product& a, const Product& b) const {
  const Node &first = graph_.node(a.node), &second = graph_.node(b.node);
  return first.op == second.op && first.inputs[0] == second.inputs[0] && weight_axis(a) == weight_axis(b);
}

// A product without a bias gets one of -0, which leaves every number as it is, zeros too.
Tensor Siblings::bias_tensor(const Product& product) const {
  const Value& result = graph_.value(product.result);
  const int64_t columns = result.shape.back();
  if (product.bias != kNoValue) return graph_.value(product.bias).constant->reshaped({columns});
  return from_doubles(result.dtype, {columns}, std::vector<double>(static_cast<size_t>(columns), -0.0));
}

void Siblings::write(const std::vector<Product>& siblings, Tensor weights) {
  const Node& first = graph_.node(siblings[0].node);
  std::vector<ValueId> results;
  std::vector<int64_t> columns;
  std::vector<Tensor> biases;
  bool varies = false;
  for (const Product& p : siblings) {
    results.push_back(p.result);
    columns.push_back(graph_.value(p.result).shape.back());
    biases.push_back(bias_tensor(p));
    varies |= graph_.value(p.weight).varies;
  }
  const DType dtype = graph_.value(results[0]).dtype;
  Shape shape = graph_.value(results[0]).shape;
  shape.back() = std::accumulate(columns.begin(), columns.end(), int64_t{0});

  std::vector<Node>& out = written_[static_cast<size_t>(siblings[0].node)];
  NodeWriter write(graph_, out, first);
  std::vector<ValueId> inputs{first.inputs[0], write.constant("weights", std::move(weights))};
  graph_.values[static_cast<size_t>(inputs[1])].varies = varies;
  const bool any_bias = std::any_of(siblings.begin(), siblings.end(), [](const Product& p) { return p.bias != kNoValue; });
  const ValueId bias = any_bias ? write.constant("biases", side_by_side(biases, 0)) : kNoValue;
  if (any_bias && first.op == "Gemm") inputs.push_back(bias);
  const std::map<std::string, Attribute> form =
      weight_axis(siblings[0]) == 0 ? std::map<std::string, Attribute>{{"transB", int64_t{1}}} : std::map<std::string, Attribute>{};
  ValueId all = write.add(first.op, inputs, dtype, shape, form);
  if (any_bias && first.op == "MatMul") all = write.add("Add", {all, bias}, dtype, shape);
  inputs = {all};
  std::map<std::string, Attribute> attributes{{"axis", static_cast<int64_t>(shape.size()) - 1}};
  if (first.version < 13) attributes["split"] = columns;
  else inputs.push_back(write.constant("columns", from_ints(DType::kI64, {static_cast<int64_t>(columns.size())}, columns)));
  write.add_to("Split", inputs, results[0], std::move(attributes));
  out.back().outputs = results;
}

void Siblings::merge(const std::vector<Product>& siblings) {
  if (siblings.size() < 2) return;
  std::vector<Tensor> weights;
  double bytes = 0;
  for (const Product& p : siblings) {
    weights.push_back(*graph_.value(p.weight).constant);
    bytes += static_cast<double>(weights.back().bytes());
  }
  if (bytes > budget_.bytes) return;
  budget_.bytes -= bytes;
  write(siblings, side_by_side(weights, weight_axis(siblings[0])));
  for (const Product& p : siblings) {
    gone_[static_cast<size_t>(p.node)] = true;
    if (p.add >= 0) gone_[static_cast<size_t>(p.add)] = true;
    if (p.heads >= 0) graph_.nodes[static_cast<size_t>(p.heads)].outputs[0] = p.sum;
  }
}

bool Siblings::run() {
  // Siblings follow each other without another product in between: keys and values of later layers, of what an encoder gave, would lie in memory until then.
  static const std::set<std::string_view> kProducts = {"MatMul", "Gemm", "MatMulInteger", "Conv", "ConvInteger", "ConvTranspose", "Attention"};
  std::vector<Product> siblings;
  for (size_t n = 0; n < gone_.size(); ++n) {
    if (!is_any_of(graph_.nodes[n], kProducts)) continue;
    const std::optional<Product> product = product_at(static_cast<NodeId>(n));
    if (!product || (!siblings.empty() && !are_siblings(siblings[0], *product))) {
      merge(siblings);
      siblings.clear();
    }
    if (product) siblings.push_back(*product);
  }
  merge(siblings);
  if (std::none_of(gone_.begin(), gone_.end(), [](bool gone) { return gone; })) return false;
  std::vector<Node> nodes;
  for (size_t n = 0; n < gone_.size(); ++n) {
    for (Node& node : written_[n]) nodes.push_back(std::move(node));
    if (!gone_[n]) nodes.push_back(std::move(graph_.nodes[n]));
  }
  graph_.nodes = std::move(nodes);
  return true;
}

}  // namespace

bool merge_sibling_products(Graph& graph, FoldBudget& budget) { return Siblings(graph, budget).run(); }

}  // namespace amdahl

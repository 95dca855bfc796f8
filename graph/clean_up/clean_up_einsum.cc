// Einsum of one operand is a diagonal, a sum and a transpose. Of two it is a matrix product in disguise: transpose both operands to [batch, rows, inner] and
// [batch, inner, columns], multiply, and put the labels back in order.

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "graph/clean_up/clean_up_passes.h"

namespace amdahl {
namespace {

struct Equation {
  std::vector<std::string> operands;  // a letter a dimension
  std::string result;
};

// Replaces "..." by letters that the equation does not use, right-aligned as broadcasting is.
std::string expand_ellipsis(std::string labels, size_t dims, const std::string& fresh) {
  const size_t at = labels.find("...");
  if (at == std::string::npos) return labels;
  return labels.replace(at, 3, fresh.substr(fresh.size() - dims));
}

std::optional<Equation> parse(const Graph& graph, const Node& node) {
  std::string text = node.attr_string("equation", "");
  std::erase(text, ' ');
  const size_t arrow = text.find("->");
  const std::string left = text.substr(0, arrow);
  Equation e;
  for (size_t start = 0;;) {
    const size_t comma = left.find(',', start);
    e.operands.push_back(left.substr(start, comma == std::string::npos ? comma : comma - start));
    if (comma == std::string::npos) break;
    start = comma + 1;
  }
  if (e.operands.size() != node.inputs.size()) return std::nullopt;
  std::string fresh;
  for (char c = '!'; fresh.size() < 8; ++c)
    if (!isalpha(static_cast<unsigned char>(c)) && c != ',' && c != '.' && c != '-' && c != '>') fresh += c;
  size_t widest = 0;
  for (size_t i = 0; i < e.operands.size(); ++i) {
    const size_t rank = graph.value(node.inputs[i]).shape.size();
    std::string& labels = e.operands[i];
    if (labels.find("...") != std::string::npos) {
      const size_t letters = labels.size() - 3;
      if (letters > rank || rank - letters > fresh.size()) return std::nullopt;
      widest = std::max(widest, rank - letters);
      labels = expand_ellipsis(labels, rank - letters, fresh);
    }
    if (labels.size() != rank) return std::nullopt;
  }
  if (arrow != std::string::npos) {
    e.result = expand_ellipsis(text.substr(arrow + 2), widest, fresh);
  } else {  // implicit: broadcast dimensions, then the labels that occur once, in alphabetical order
    std::map<char, int> count;
    for (const std::string& labels : e.operands)
      for (char c : labels) ++count[c];
    for (const auto& [c, n] : count)
      if (!isalpha(static_cast<unsigned char>(c))) e.result += c;
    for (const auto& [c, n] : count)
      if (isalpha(static_cast<unsigned char>(c)) && n == 1) e.result += c;
  }
  return e;
}

bool contains(const std::string& labels, char c) { return labels.find(c) != std::string::npos; }
bool repeats(const std::string& labels) {
  for (char c : labels)
    if (std::count(labels.begin(), labels.end(), c) > 1) return true;  // a diagonal
  return false;
}

// A tensor with a letter a dimension.
struct Operand {
  ValueId value;
  std::string labels;
};

class Lowering {
 public:
  Lowering(Graph& graph, const Node& node, std::vector<Node>& out, const Equation& e) : graph_(graph), node_(node), e_(e), write_(graph, out, node) {}

  // False (and nothing written) where a label is twice in one term with two sizes.
  bool run() {
    if (repeats(e_.result) || !read_sizes()) return false;
    std::vector<Operand> operands;
    for (size_t i = 0; i < node_.inputs.size(); ++i) operands.push_back(only_diagonals({node_.inputs[i], e_.operands[i]}));
    for (Operand& operand : operands) operand = without_broadcast(operand);
    for (size_t i = 0; i < operands.size(); ++i) operands[i] = summed(operands[i], e_.result + (operands.size() > 1 ? operands[1 - i].labels : ""));
    const Operand result = operands.size() > 1 ? product_of(operands[0], operands[1]) : operands[0];
    write_.add_to("Identity", {in_order(result, e_.result)}, node_.outputs[0]);
    return true;
  }

 private:
  // The largest size of each label: one that is 1 somewhere is broadcast there.
  bool read_sizes() {
    for (size_t i = 0; i < node_.inputs.size(); ++i) {
      const Shape& shape = graph_.value(node_.inputs[i]).shape;
      std::map<char, int64_t> own;
      for (size_t d = 0; d < shape.size(); ++d) {
        const char label = e_.operands[i][d];
        if (own.emplace(label, shape[d]).first->second != shape[d]) return false;
        int64_t& size = size_.emplace(label, shape[d]).first->second;
        if (size == 1) size = shape[d];
      }
    }
    return true;
  }

  // Of a label that is there r times: its dimensions of n become one of n^r, of which every (1 + n + n^2 + …)th element is wanted.
  Operand diagonal_of(const Operand& x, char label) {
    const Shape& shape = graph_.value(x.value).shape;
    std::vector<int64_t> perm, own;
    Operand result{kNoValue, ""};
    Shape rows;
    for (size_t d = 0; d < shape.size(); ++d) {
      (x.labels[d] == label ? own : perm).push_back(static_cast<int64_t>(d));
      if (x.labels[d] != label) result.labels += x.labels[d], rows.push_back(shape[d]);
    }
    const int64_t n = shape[static_cast<size_t>(own[0])], axis = static_cast<int64_t>(rows.size());
    int64_t all = 1, step = 0;
    for (size_t i = 0; i < own.size(); ++i) step += all, all *= n;
    perm.insert(perm.end(), own.begin(), own.end());
    rows.push_back(all);
    const ValueId flat = write_.reshape(write_.transpose(x.value, perm), rows);
    rows.back() = n;
    const auto one = [&](const char* what, int64_t v) { return write_.constant(what, from_ints(DType::kI64, {1}, {v})); };
    result.value = write_.add("Slice", {flat, one("start", 0), one("end", all), one("axis", axis), one("step", step)}, graph_.value(flat).dtype, rows);
    result.labels += label;
    return result;
  }

  Operand only_diagonals(Operand x) {
    for (const auto& [label, size] : size_)
      if (std::count(x.labels.begin(), x.labels.end(), label) > 1) x = diagonal_of(x, label);
    return x;
  }

  // Without the dimensions of 1 whose label is larger elsewhere.
  Operand without_broadcast(const Operand& x) {
    Operand kept{x.value, ""};
    for (size_t d = 0; d < x.labels.size(); ++d)
      if (graph_.value(x.value).shape[d] == size_.at(x.labels[d])) kept.labels += x.labels[d];
    kept.value = write_.reshape(x.value, sizes(kept.labels));
    return kept;
  }

  // Summed over the labels that nothing else asks for.
  Operand summed(const Operand& x, const std::string& wanted) {
    Operand kept{x.value, ""};
    std::vector<int64_t> axes;
    for (size_t d = 0; d < x.labels.size(); ++d) {
      if (contains(wanted, x.labels[d])) kept.labels += x.labels[d];
      else axes.push_back(static_cast<int64_t>(d));
    }
    if (axes.empty()) return x;
    std::vector<ValueId> inputs{x.value};
    std::map<std::string, Attribute> attributes{{"keepdims", int64_t{0}}};
    if (node_.version < 13) attributes["axes"] = axes;
    else inputs.push_back(write_.constant("axes", from_ints(DType::kI64, {static_cast<int64_t>(axes.size())}, axes)));
    kept.value = write_.add("ReduceSum", inputs, graph_.value(x.value).dtype, sizes(kept.labels), std::move(attributes));
    return kept;
  }

  Operand product_of(const Operand& a, const Operand& b) {
    std::string batch, rows, columns, inner;
    for (char c : a.labels) (contains(b.labels, c) ? contains(e_.result, c) ? batch : inner : rows) += c;
    for (char c : b.labels)
      if (!contains(a.labels, c)) columns += c;
    // The order of labels inside a group is free; the result's own order saves a transpose of the result.
    const auto by_result = [&](char x, char y) { return e_.result.find(x) < e_.result.find(y); };
    for (std::string* group : {&batch, &rows, &columns}) std::sort(group->begin(), group->end(), by_result);
    const ValueId left = arrange(a, batch, rows, inner), right = arrange(b, batch, inner, columns);
    Shape shape = sizes(batch);
    shape.push_back(product(rows));
    shape.push_back(product(columns));
    const ValueId v = write_.add("MatMul", {left, right}, graph_.value(node_.outputs[0]).dtype, shape);
    const std::string order = batch + rows + columns;
    return {write_.reshape(v, sizes(order)), order};
  }

  ValueId in_order(const Operand& x, const std::string& order) {
    std::vector<int64_t> perm;
    for (char c : order) perm.push_back(static_cast<int64_t>(x.labels.find(c)));
    return write_.transpose(x.value, perm);
  }
  Shape sizes(const std::string& labels) const {
    Shape shape;
    for (char c : labels) shape.push_back(size_.at(c));
    return shape;
  }
  int64_t product(const std::string& labels) const { return numel(sizes(labels)); }

  // [batch..., product(rows), product(columns)]
  ValueId arrange(const Operand& x, const std::string& batch, const std::string& rows, const std::string& columns) {
    Shape shape = sizes(batch);
    shape.push_back(product(rows));
    shape.push_back(product(columns));
    return write_.reshape(in_order(x, batch + rows + columns), shape);
  }

  Graph& graph_;
  const Node& node_;
  const Equation& e_;
  NodeWriter write_;
  std::map<char, int64_t> size_;
};

}  // namespace

bool lower_einsum(Graph& graph) {
  std::vector<Node> out;
  bool changed = false;
  for (Node& node : graph.nodes) {
    if (node.domain.empty() && node.op == "Einsum" && node.inputs.size() <= 2) {
      const auto equation = parse(graph, node);
      if (equation && Lowering(graph, node, out, *equation).run()) {
        changed = true;
        continue;
      }
    }
    out.push_back(std::move(node));
  }
  graph.nodes = std::move(out);
  return changed;
}

}  // namespace amdahl

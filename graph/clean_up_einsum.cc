// Einsum of two operands is a matrix product in disguise: transpose both operands to [batch, rows, inner] and
// [batch, inner, columns], multiply, and put the labels back in order.

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "graph/clean_up_passes.h"

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

class Lowering {
 public:
  Lowering(Graph& graph, const Node& node, std::vector<Node>& out, const Equation& e)
      : graph_(graph), node_(node), e_(e), write_(graph, out, node) {}

  // False (and nothing written) for diagonals, labels that broadcast, and sums over one operand's own label.
  bool run() {
    const std::string &a = e_.operands[0], &b = e_.operands[1];
    if (repeats(a) || repeats(b) || repeats(e_.result) || !read_sizes()) return false;
    std::string batch, rows, columns, inner;
    for (char c : a) {
      const bool in_b = contains(b, c), kept = contains(e_.result, c);
      if (!in_b && !kept) return false;
      (in_b ? kept ? batch : inner : rows) += c;
    }
    for (char c : b) {
      if (contains(a, c)) continue;
      if (!contains(e_.result, c)) return false;
      columns += c;
    }
    if (batch.size() + rows.size() + columns.size() != e_.result.size()) return false;
    // The order of labels inside a group is free; the result's own order saves a transpose of the result.
    const auto by_result = [&](char x, char y) { return e_.result.find(x) < e_.result.find(y); };
    for (std::string* group : {&batch, &rows, &columns}) std::sort(group->begin(), group->end(), by_result);

    const ValueId left = arrange(node_.inputs[0], a, batch, rows, inner);
    const ValueId right = arrange(node_.inputs[1], b, batch, inner, columns);
    const DType dtype = graph_.value(node_.outputs[0]).dtype;
    Shape shape = sizes(batch);
    shape.push_back(product(rows));
    shape.push_back(product(columns));
    ValueId v = write_.add("MatMul", {left, right}, dtype, shape);
    const std::string order = batch + rows + columns;
    v = write_.reshape(v, sizes(order));
    std::vector<int64_t> perm;
    for (char c : e_.result) perm.push_back(static_cast<int64_t>(order.find(c)));
    v = write_.transpose(v, perm);
    write_.add_to("Identity", {v}, node_.outputs[0]);
    return true;
  }

 private:
  bool read_sizes() {
    for (size_t i = 0; i < 2; ++i) {
      const Shape& shape = graph_.value(node_.inputs[i]).shape;
      for (size_t d = 0; d < shape.size(); ++d) {
        const auto [entry, fresh] = size_.emplace(e_.operands[i][d], shape[d]);
        if (!fresh && entry->second != shape[d]) return false;
      }
    }
    return true;
  }
  Shape sizes(const std::string& labels) const {
    Shape shape;
    for (char c : labels) shape.push_back(size_.at(c));
    return shape;
  }
  int64_t product(const std::string& labels) const { return numel(sizes(labels)); }

  // [batch..., product(rows), product(columns)]
  ValueId arrange(ValueId x, const std::string& labels, const std::string& batch, const std::string& rows,
                  const std::string& columns) {
    std::vector<int64_t> perm;
    for (char c : batch + rows + columns) perm.push_back(static_cast<int64_t>(labels.find(c)));
    x = write_.transpose(x, perm);
    Shape shape = sizes(batch);
    shape.push_back(product(rows));
    shape.push_back(product(columns));
    return write_.reshape(x, shape);
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
    if (node.domain.empty() && node.op == "Einsum" && node.inputs.size() == 2) {
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

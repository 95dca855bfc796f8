// Einsum with one or two operands: every label is a batch, a row, a column or a summed dimension, so the whole is a batched
// matrix product of strided views.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/printable.h"
#include "graph/ops/eval_support.h"
#include "graph/ops/families.h"

namespace amdahl {
namespace {

// A label is a letter, or for the dimensions that "..." covers '0', '1', ... counted from the last.
using Labels = std::string;

struct Equation {
  std::vector<Labels> inputs;
  Labels output;
  std::map<char, int64_t> size;
};

Labels expand_term(const std::string& term, size_t rank) {
  const size_t dots = term.find("...");
  if (dots == std::string::npos) {
    if (term.size() != rank) throw Refusal(fmt::format("Einsum term '{}' does not fit an operand of rank {}", shown(term), rank));
    return term;
  }
  if (term.size() - 3 > rank) throw Refusal(fmt::format("Einsum term '{}' does not fit rank {}", shown(term), rank));
  const size_t covered = rank - (term.size() - 3);
  if (covered > 10) throw Refusal("Einsum ellipsis over more than ten dimensions");
  Labels middle;
  for (size_t i = covered; i-- > 0;) middle += static_cast<char>('0' + i);
  return term.substr(0, dots) + middle + term.substr(dots + 3);
}

// Without "->": the ellipsis first, then the letters that occur once, alphabetically.
Labels implicit_output(const std::vector<Labels>& inputs) {
  std::map<char, int> count;
  for (const Labels& labels : inputs)
    for (char l : labels) ++count[l];
  Labels dots, letters;
  for (const auto& [label, n] : count) {
    if (label <= '9') dots.insert(dots.begin(), label);
    else if (n == 1) letters += label;
  }
  return dots + letters;
}

// Letters, and one "..." at most: digits and punctuation are taken for the dimensions that the dots cover.
void require_letters(std::string term) {
  if (const size_t dots = term.find("..."); dots != std::string::npos) term.erase(dots, 3);
  if (!std::all_of(term.begin(), term.end(), [](unsigned char l) { return std::isalpha(l); }))
    throw Refusal(fmt::format("Einsum term '{}' has other than letters", shown(term)));
}

Equation parse(const Node& node, const std::vector<Shape>& shapes) {
  std::string text = node.attr_string("equation", "");
  std::erase(text, ' ');
  const size_t arrow = text.find("->");
  std::string left = text.substr(0, arrow);
  std::vector<std::string> terms;
  for (size_t start = 0;;) {
    const size_t comma = left.find(',', start);
    terms.push_back(left.substr(start, comma - start));
    if (comma == std::string::npos) break;
    start = comma + 1;
  }
  if (terms.size() != shapes.size()) throw Refusal(fmt::format("Einsum '{}' has {} terms for {} operands", shown(text), terms.size(), shapes.size()));
  for (const std::string& term : terms) require_letters(term);
  Equation e;
  size_t dots = 0;
  for (size_t i = 0; i < terms.size(); ++i) {
    e.inputs.push_back(expand_term(terms[i], shapes[i].size()));
    for (size_t d = 0; d < shapes[i].size(); ++d) {
      const char label = e.inputs[i][d];
      if (label <= '9') dots = std::max(dots, static_cast<size_t>(label - '0') + 1);
      int64_t& size = e.size.try_emplace(label, shapes[i][d]).first->second;
      if (size == 1) size = shapes[i][d];
      else if (shapes[i][d] != size && shapes[i][d] != 1) throw Refusal(fmt::format("Einsum '{}': sizes of '{}' differ", shown(text), label));
    }
  }
  if (arrow == std::string::npos) {
    e.output = implicit_output(e.inputs);
  } else {
    std::string right = text.substr(arrow + 2);
    require_letters(right);
    const bool has_dots = right.find("...") != std::string::npos;
    e.output = expand_term(right, has_dots ? right.size() - 3 + dots : right.size());
  }
  for (char l : e.output)
    if (!e.size.count(l)) throw Refusal(fmt::format("Einsum '{}': output label '{}' is in no operand", shown(text), l));
  return e;
}

void infer_einsum(InferContext& c) {
  if (c.input_count() > 2) throw Refusal(fmt::format("Einsum of {} operands; at most two are supported", c.input_count()));
  std::vector<Shape> shapes;
  for (size_t i = 0; i < c.input_count(); ++i) {
    require_float(c, i);
    shapes.push_back(c.shape(i));
  }
  const Equation e = parse(c.node, shapes);
  Shape out;
  for (char l : e.output) out.push_back(e.size.at(l));
  c.set_output(0, c.dtype(0), out);
}

// Copies the operand into the dense order of `order`; a label that it lacks, or has with size 1, is repeated, and a label
// that it has twice walks the diagonal.
std::vector<double> gathered(const std::vector<double>& x, const Shape& shape, const Labels& labels, const Labels& order, const std::map<char, int64_t>& size) {
  if (x.empty()) return {};
  const Shape strides = row_major_strides(shape);
  std::vector<int64_t> step(order.size(), 0), extent(order.size());
  int64_t total = 1;
  for (size_t d = 0; d < order.size(); ++d) {
    extent[d] = size.at(order[d]);
    total *= extent[d];
    for (size_t i = 0; i < labels.size(); ++i)
      if (labels[i] == order[d] && shape[i] != 1) step[d] += strides[i];
  }
  std::vector<double> out(static_cast<size_t>(total));
  std::vector<int64_t> at(order.size(), 0);
  int64_t from = 0;
  for (int64_t i = 0; i < total; ++i) {
    out[static_cast<size_t>(i)] = x[static_cast<size_t>(from)];
    for (size_t d = order.size(); d-- > 0;) {
      from += step[d];
      if (++at[d] < extent[d]) break;
      from -= step[d] * extent[d];
      at[d] = 0;
    }
  }
  return out;
}

void eval_einsum(EvalContext& c) {
  std::vector<Shape> shapes;
  for (const RefTensor* in : c.inputs) shapes.push_back(in->shape);
  const Equation e = parse(c.node, shapes);
  const RefTensor one = RefTensor::of(Tensor::of<double>(DType::kF64, {}, {1.0}));
  const RefTensor &a = c.in(0), &b = c.inputs.size() > 1 ? c.in(1) : one;
  const Labels labels_b = c.inputs.size() > 1 ? e.inputs[1] : Labels();

  Labels batch, rows, cols, summed;
  int64_t batches = 1, m = 1, n = 1, k = 1;
  for (const auto& [label, size] : e.size) {
    const bool in_a = e.inputs[0].find(label) != std::string::npos, in_b = labels_b.find(label) != std::string::npos;
    const auto take = [&, l = label, s = size](Labels& group, int64_t& total) { group += l, total *= s; };
    if (e.output.find(label) == std::string::npos) take(summed, k);
    else if (in_a && in_b) take(batch, batches);
    else if (in_a) take(rows, m);
    else take(cols, n);
  }
  const Labels order_a = batch + rows + summed, order_b = batch + summed + cols, order_out = batch + rows + cols;
  const auto av = gathered(a.value, a.shape, e.inputs[0], order_a, e.size), ae = gathered(a.bound, a.shape, e.inputs[0], order_a, e.size);
  const auto bv = gathered(b.value, b.shape, labels_b, order_b, e.size), be = gathered(b.bound, b.shape, labels_b, order_b, e.size);
  const int64_t size = batches * m * n;
  std::vector<double> value(static_cast<size_t>(size)), bound(c.bounds ? value.size() : 0);
  const auto multiply = [&](const double* pa, const double* pb, const double*, double* y) {
#pragma omp parallel for schedule(dynamic) if (batches >= 4 && worth_threads(size * k))
    for (int64_t i = 0; i < batches; ++i) gemm_f64(m, n, k, pa + i * m * k, pb + i * k * n, y + i * m * n);
  };
  bounded_bilinear(multiply, {av, ae}, {bv, be}, {}, k, c.products.rounding, sum_type(c.out(0).dtype), size, value.data(), c.bounds ? bound.data() : nullptr);

  RefTensor& out = c.out(0);
  Shape product_shape;
  for (char l : order_out) product_shape.push_back(e.size.at(l));
  out.value = gathered(value, product_shape, order_out, e.output, e.size);
  out.bound = gathered(bound, product_shape, order_out, e.output, e.size);
  finish_bounds(out);
}

}  // namespace

std::vector<OpDef> einsum_ops() { return {{"", "Einsum", "n+", infer_einsum, eval_einsum}}; }

}  // namespace amdahl

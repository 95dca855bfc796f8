// Einsum with one or two operands: every label is a batch, a row, a column or a summed dimension, so the whole is a batched
// matrix product of strided views. Of more operands it is made of such products, one after another.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/printable.h"
#include "graph/expansion.h"
#include "graph/ops/elementwise.h"
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
    if (c.dtype(i) != c.dtype(0)) throw Refusal(fmt::format("inputs 0 and {} differ in type ({} and {})", i, name_of(c.dtype(0)), name_of(c.dtype(i))));
    shapes.push_back(c.shape(i));
  }
  const Equation e = parse(c.node, shapes);
  Shape out;
  for (char l : e.output) out.push_back(e.size.at(l));
  c.set_output(0, c.dtype(0), out);
}

// Copies the operand into the dense order of `order`; a label that it lacks, or has with size 1, is repeated, and a label
// that it has twice walks the diagonal.
template <typename T>
std::vector<T> gathered(const std::vector<T>& x, const Shape& shape, const Labels& labels, const Labels& order, const std::map<char, int64_t>& size) {
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
  std::vector<T> out(static_cast<size_t>(total));
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

// The product that an equation is: [batches, rows, summed] by [batches, summed, columns].
struct ContractedForm {
  Labels batch, rows, cols, summed;
  int64_t batches = 1, m = 1, n = 1, k = 1;

  ContractedForm(const Equation& e, const Labels& labels_b) {
    for (const auto& [label, size] : e.size) {
      const bool in_a = e.inputs[0].find(label) != std::string::npos, in_b = labels_b.find(label) != std::string::npos;
      const auto take = [&, l = label, s = size](Labels& group, int64_t& total) { group += l, total *= s; };
      if (e.output.find(label) == std::string::npos) take(summed, k);
      else if (in_a && in_b) take(batch, batches);
      else if (in_a) take(rows, m);
      else take(cols, n);
    }
  }

  Labels order_a() const { return batch + rows + summed; }
  Labels order_b() const { return batch + summed + cols; }
  Labels order_out() const { return batch + rows + cols; }
  Shape shape(const Equation& e) const {
    Shape all;
    for (char l : order_out()) all.push_back(e.size.at(l));
    return all;
  }
};

// Sums wrap. Integers that floats decided move them by as much as they are multiplied by, whatever wraps.
void multiply_ints(const ContractedForm& p, DType dtype, const std::vector<int64_t>& a, const std::vector<int64_t>& b, const std::vector<double>& a_bound,
                   const std::vector<double>& b_bound, std::vector<int64_t>& y, std::vector<double>& y_bound) {
  const auto bound_at = [](const std::vector<double>& bound, size_t i) { return bound.empty() ? 0.0 : bound[i]; };
  size_t to = 0;
  for (int64_t batch = 0; batch < p.batches; ++batch)
    for (int64_t i = 0; i < p.m; ++i)
      for (int64_t j = 0; j < p.n; ++j, ++to) {
        uint64_t sum = 0;
        double moved = 0;
        for (int64_t l = 0; l < p.k; ++l) {
          const auto in_a = static_cast<size_t>((batch * p.m + i) * p.k + l), in_b = static_cast<size_t>((batch * p.k + l) * p.n + j);
          sum += static_cast<uint64_t>(a[in_a]) * static_cast<uint64_t>(b[in_b]);
          const double ea = bound_at(a_bound, in_a), eb = bound_at(b_bound, in_b);
          if (ea > 0) moved += ea * (std::fabs(static_cast<double>(b[in_b])) + eb);
          if (eb > 0) moved += eb * std::fabs(static_cast<double>(a[in_a]));
        }
        y[to] = wrap(dtype, static_cast<int64_t>(sum));
        if (!y_bound.empty()) y_bound[to] = std::isnan(moved) ? HUGE_VAL : moved;
      }
}

void eval_einsum(EvalContext& c) {
  std::vector<Shape> shapes;
  for (const RefTensor* in : c.inputs) shapes.push_back(in->shape);
  const Equation e = parse(c.node, shapes);
  RefTensor& out = c.out(0);
  RefTensor one = RefTensor::of(Tensor::of<double>(DType::kF64, {}, {1.0}));
  one.ints = {1};
  const RefTensor &a = c.in(0), &b = c.inputs.size() > 1 ? c.in(1) : one;
  const Labels labels_b = c.inputs.size() > 1 ? e.inputs[1] : Labels();
  const ContractedForm p(e, labels_b);
  const auto ae = gathered(a.bound, a.shape, e.inputs[0], p.order_a(), e.size), be = gathered(b.bound, b.shape, labels_b, p.order_b(), e.size);
  const auto size = static_cast<size_t>(p.batches * p.m * p.n);
  std::vector<double> bound(c.bounds && (out.is_float() || !ae.empty() || !be.empty()) ? size : 0);
  if (!out.is_float()) {
    std::vector<int64_t> ints(size);
    multiply_ints(p, out.dtype, gathered(a.ints, a.shape, e.inputs[0], p.order_a(), e.size), gathered(b.ints, b.shape, labels_b, p.order_b(), e.size), ae, be,
                  ints, bound);
    out.ints = gathered(ints, p.shape(e), p.order_out(), e.output, e.size);
    out.bound = gathered(bound, p.shape(e), p.order_out(), e.output, e.size);
    return;
  }
  const auto av = gathered(a.value, a.shape, e.inputs[0], p.order_a(), e.size), bv = gathered(b.value, b.shape, labels_b, p.order_b(), e.size);
  std::vector<double> value(size);
  const auto multiply = [&](const double* pa, const double* pb, const double*, double* y) {
#pragma omp parallel for schedule(dynamic) if (p.batches >= 4 && worth_threads(static_cast <int64_t>(size) * p.k))
    for (int64_t i = 0; i < p.batches; ++i) gemm_f64(p.m, p.n, p.k, pa + i * p.m * p.k, pb + i * p.k * p.n, y + i * p.m * p.n);
  };
  bounded_bilinear(multiply, {av, ae}, {bv, be}, {}, p.k, c.products.rounding, sum_type(out.dtype), static_cast<int64_t>(size), value.data(),
                   c.bounds ? bound.data() : nullptr);
  out.value = gathered(value, p.shape(e), p.order_out(), e.output, e.size);
  out.bound = gathered(bound, p.shape(e), p.order_out(), e.output, e.size);
  finish_bounds(out);
}

// Labels of an ellipsis have no letter: each is its place among `all`.
std::string lettered(const Labels& labels, const Labels& all) {
  std::string letters;
  for (char l : labels) {
    const auto i = static_cast<int>(all.find(l));
    letters += static_cast<char>(i < 26 ? 'a' + i : 'A' + i - 26);
  }
  return letters;
}

// Products are of integers of 32 bits or more, whose last bits are those of narrower sums.
void expand_narrow(Expansion& e, DType dtype) {
  std::vector<ValueId> wide;
  for (size_t i = 0; i < e.node.inputs.size(); ++i) wide.push_back(e.cast(e.in(i), DType::kI32));
  e.set_output(0, e.cast(e.add("Einsum", wide, e.node.attributes), dtype));
}

// More than two operands: from the left, each product keeps the labels that the rest or the output has.
void expand_einsum(Expansion& e) {
  const size_t count = e.node.inputs.size();
  const DType dtype = e.dtype(e.in(0));
  if (!is_float(dtype) && size_of(dtype) < 4) return expand_narrow(e, dtype);
  if (count <= 2) return;
  std::vector<Shape> shapes;
  for (size_t i = 0; i < count; ++i) shapes.push_back(e.shape(e.in(i)));
  const Equation equation = parse(e.node, shapes);
  Labels all, have = equation.inputs[0];
  for (const auto& [label, size] : equation.size) all += label;
  if (all.size() > 52) throw Refusal(fmt::format("Einsum of {} labels", all.size()));
  ValueId product = e.in(0);
  for (size_t i = 1; i < count; ++i) {
    Labels wanted = equation.output, kept;
    for (size_t j = i + 1; j < count; ++j) wanted += equation.inputs[j];
    for (char l : all)
      if ((have + equation.inputs[i]).find(l) != std::string::npos && wanted.find(l) != std::string::npos) kept += l;
    if (i + 1 == count) kept = equation.output;
    const std::string terms = lettered(have, all) + "," + lettered(equation.inputs[i], all) + "->" + lettered(kept, all);
    product = e.add("Einsum", {product, e.in(i)}, {{"equation", terms}});
    have = kept;
  }
  e.set_output(0, product);
}

}  // namespace

std::vector<OpDef> einsum_ops() { return {{"", "Einsum", "n+", infer_einsum, eval_einsum, 1, {}, expand_einsum}}; }

}  // namespace amdahl

// MatMul and Gemm.

#include <fmt/format.h>

#include "graph/ops/elementwise.h"
#include "graph/ops/eval_support.h"
#include "graph/ops/families.h"
#include "graph/ops/integer_products.h"
#include "graph/ops/integer_sums.h"
#include "graph/ops/strassen_bound.h"

namespace amdahl {
namespace {

// A MatMul as batches of m x k times k x n. Vectors are promoted to matrices and the added dimension dropped again.
struct MatMulShape {
  int64_t m = 1, n = 1, k = 1;
  Shape batch, batch_a, batch_b;
  bool vector_a = false, vector_b = false;

  MatMulShape(Shape a, Shape b) {
    if (a.empty() || b.empty()) throw Refusal("MatMul of a scalar");
    vector_a = a.size() == 1;
    vector_b = b.size() == 1;
    if (vector_a) a.insert(a.begin(), 1);
    if (vector_b) b.push_back(1);
    m = a[a.size() - 2];
    k = a.back();
    n = b.back();
    if (b[b.size() - 2] != k) throw Refusal(fmt::format("MatMul of {} and {}: inner dimensions differ", to_string(a), to_string(b)));
    batch_a.assign(a.begin(), a.end() - 2);
    batch_b.assign(b.begin(), b.end() - 2);
    batch = broadcast(batch_a, batch_b);
  }
  Shape output() const {
    Shape out = batch;
    if (!vector_a) out.push_back(m);
    if (!vector_b) out.push_back(n);
    return out;
  }
};

// For each batch of `to`, the index of the batch of `from` that it reads.
std::vector<int64_t> broadcast_batches(const Shape& from, const Shape& to) {
  std::vector<int64_t> index(static_cast<size_t>(numel(to)));
  const Shape strides = row_major_strides(from);
  const size_t skip = to.size() - from.size();
  for (size_t i = 0; i < index.size(); ++i) {
    int64_t rest = static_cast<int64_t>(i), at = 0;
    for (size_t d = to.size(); d-- > 0;) {
      const int64_t c = rest % to[d];
      rest /= to[d];
      if (d >= skip && from[d - skip] != 1) at += c * strides[d - skip];
    }
    index[i] = at;
  }
  return index;
}

void infer_matmul(InferContext& c) {
  if (c.dtype(0) != c.dtype(1)) throw Refusal("MatMul inputs differ in type");
  c.set_output(0, c.dtype(0), MatMulShape(c.shape(0), c.shape(1)).output());
}

void matmul_ints(const MatMulShape& s, const std::vector<int64_t>& at_a, const std::vector<int64_t>& at_b, const RefTensor& a, const RefTensor& b,
                 RefTensor& out) {
  out.ints.assign(static_cast<size_t>(out.numel()), 0);
  for (size_t batch = 0; batch < at_a.size(); ++batch) {
    const int64_t* pa = a.ints.data() + at_a[batch] * s.m * s.k;
    const int64_t* pb = b.ints.data() + at_b[batch] * s.k * s.n;
    int64_t* po = out.ints.data() + static_cast<int64_t>(batch) * s.m * s.n;
    for (int64_t i = 0; i < s.m; ++i)
      for (int64_t l = 0; l < s.k; ++l)
        for (int64_t j = 0; j < s.n; ++j)
          po[i * s.n + j] = wrap(out.dtype, static_cast<int64_t>(static_cast<uint64_t>(po[i * s.n + j]) +
                                                                 static_cast<uint64_t>(pa[i * s.k + l]) * static_cast<uint64_t>(pb[l * s.n + j])));
  }
}

// How far integers that floats decided may move a sum of products, whatever wraps.
void bound_matmul_ints(const MatMulShape& s, const std::vector<int64_t>& at_a, const std::vector<int64_t>& at_b, const RefTensor& a, const RefTensor& b,
                       RefTensor& out) {
  if (a.bound.empty() && b.bound.empty()) return;
  out.bound.assign(out.ints.size(), 0.0);
  const auto size = [](const RefTensor& t, int64_t i) { return std::fabs(static_cast<double>(t.ints[static_cast<size_t>(i)])); };
  for (size_t batch = 0; batch < at_a.size(); ++batch)
    for (int64_t i = 0; i < s.m; ++i)
      for (int64_t l = 0; l < s.k; ++l)
        for (int64_t j = 0; j < s.n; ++j) {
          const int64_t x = at_a[batch] * s.m * s.k + i * s.k + l, y = at_b[batch] * s.k * s.n + l * s.n + j;
          const double ea = a.bound_at(x), eb = b.bound_at(y);
          const auto at = static_cast<size_t>((static_cast<int64_t>(batch) * s.m + i) * s.n + j);
          if (ea > 0) out.bound[at] += ea * (size(b, y) + eb);
          if (eb > 0) out.bound[at] += eb * size(a, x);
          if (std::isnan(out.bound[at])) out.bound[at] = HUGE_VAL;  // anything, times nothing
        }
}

void eval_matmul(EvalContext& c) {
  const MatMulShape s(c.in(0).shape, c.in(1).shape);
  const std::vector<int64_t> at_a = broadcast_batches(s.batch_a, s.batch), at_b = broadcast_batches(s.batch_b, s.batch);
  if (!c.out(0).is_float()) {
    matmul_ints(s, at_a, at_b, c.in(0), c.in(1), c.out(0));
    if (c.bounds) bound_matmul_ints(s, at_a, at_b, c.in(0), c.in(1), c.out(0));
    return;
  }
  RefTensor& out = float_output(c, 0);
  const bool one_b = numel(s.batch_b) == 1 && numel(s.batch_a) == numel(s.batch);
  const auto multiply = [&](const double* a, const double* b, const double*, double* y) {
    if (one_b) return gemm_f64(static_cast<int64_t>(at_a.size()) * s.m, s.n, s.k, a, b, y);  // one tall product
      // Many small products run one a thread; few are parallel inside gemm_f64, which stays serial in a parallel region.
#pragma omp parallel for schedule(dynamic) if (at_a.size() >= 4 && worth_threads(out.numel() * s.k))
    for (size_t i = 0; i < at_a.size(); ++i) gemm_f64(s.m, s.n, s.k, a + at_a[i] * s.m * s.k, b + at_b[i] * s.k * s.n, y + static_cast<int64_t>(i) * s.m * s.n);
  };
  const int halved = one_b ? c.products.strassen : 0;
  bounded_bilinear(multiply, c.in(0), c.in(1), {}, halved ? 0 : s.k, c.products.rounding, sum_type(out.dtype), out.numel(), out.value.data(),
                   c.bounds ? out.bound.data() : nullptr);
  if (c.bounds && c.in(0).shares_of > 0)
    settle_undivided(multiply, c.in(0).value, c.in(1).value, c.in(0).shares_of, sum_type(out.dtype), out.numel(), out.value.data(), out.bound.data());
  if (c.bounds && halved)
    add_strassen_rounding(halved, c.products.rounding, static_cast<int64_t>(at_a.size()) * s.m, s.n, s.k, c.in(0), c.in(1), out.bound.data());
  finish_bounds(out);
}

// Bytes, without zero points: others are written in this form (integer_products.h).
void infer_matmul_integer(InferContext& c) {
  if (c.has_input(2) || c.has_input(3) || c.dtype(0) != DType::kU8 || c.dtype(1) != DType::kI8) throw Refusal("only u8 by i8 without zero points");
  c.set_output(0, DType::kI32, MatMulShape(c.shape(0), c.shape(1)).output());
}

void eval_matmul_integer(EvalContext& c) {
  const MatMulShape s(c.in(0).shape, c.in(1).shape);
  const std::vector<int64_t> at_a = broadcast_batches(s.batch_a, s.batch), at_b = broadcast_batches(s.batch_b, s.batch);
  sum_integers(c, [&](const double* a, const double* b, double* y) {
    for (size_t i = 0; i < at_a.size(); ++i) gemm_f64(s.m, s.n, s.k, a + at_a[i] * s.m * s.k, b + at_b[i] * s.k * s.n, y + static_cast<int64_t>(i) * s.m * s.n);
  });
}

struct GemmShape {
  int64_t m, n, k;
  bool trans_a, trans_b;

  GemmShape(const Node& node, const Shape& a, const Shape& b) {
    if (a.size() != 2 || b.size() != 2) throw Refusal("Gemm needs matrices");
    trans_a = node.attr_int("transA", 0) != 0;
    trans_b = node.attr_int("transB", 0) != 0;
    m = a[trans_a ? 1 : 0];
    k = a[trans_a ? 0 : 1];
    n = b[trans_b ? 0 : 1];
    if (b[trans_b ? 1 : 0] != k) throw Refusal(fmt::format("Gemm of {} and {}: inner dimensions differ", to_string(a), to_string(b)));
  }
};

void infer_gemm(InferContext& c) {
  require_float(c, 0);
  require_float(c, 1);
  const GemmShape s(c.node, c.shape(0), c.shape(1));
  if (c.has_input(2) && broadcast(c.shape(2), {s.m, s.n}) != Shape{s.m, s.n})
    throw Refusal(fmt::format("Gemm addend {} does not broadcast to [{}, {}]", to_string(c.shape(2)), s.m, s.n));
  c.set_output(0, c.dtype(0), {s.m, s.n});
}

// rows x cols, whichever way x lies.
std::vector<double> arranged(const std::vector<double>& x, int64_t rows, int64_t cols, bool transpose) { return transpose ? transposed(x, cols, rows) : x; }

// C over m x n.
std::vector<double> spread(const std::vector<double>& x, const Shape& shape, int64_t m, int64_t n) {
  if (x.empty()) return {};
  const int64_t cols = shape.empty() ? 1 : shape.back(), rows = shape.size() < 2 ? 1 : shape[0];
  std::vector<double> out(static_cast<size_t>(m * n));
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) out[static_cast<size_t>(i * n + j)] = x[static_cast<size_t>((rows == 1 ? 0 : i) * cols + (cols == 1 ? 0 : j))];
  return out;
}

// Multiplies values and their bounds by a number, where a product may be flushed if it is smaller than `tiny`. By one that is not finite there is no telling what becomes of a value that may have either sign.
void scale(std::vector<double>& value, std::vector<double>& bound, double factor, double tiny) {
  if (factor == 1) return;
  for (size_t i = 0; i < value.size(); ++i) {
    const bool any = std::isinf(factor) && !bound.empty() && bound[i] > 0 && std::fabs(value[i]) <= bound[i];
    value[i] = any ? 0.0 : value[i] * factor;
    if (!bound.empty()) bound[i] = any ? HUGE_VAL : std::isfinite(value[i]) ? bound[i] * std::fabs(factor) + tiny : 0.0;
  }
}

// alpha * (A B) + beta * C, in this order: it matters where alpha is infinite. A beta of 0 leaves C out, as BLAS does, whatever it holds.
void eval_gemm(EvalContext& c) {
  const RefTensor &a = c.in(0), &b = c.in(1);
  const GemmShape s(c.node, a.shape, b.shape);
  const double beta = c.node.attr_float("beta", 1.0);
  RefTensor& out = float_output(c, 0);
  const auto av = arranged(a.value, s.m, s.k, s.trans_a), ae = arranged(a.bound, s.m, s.k, s.trans_a);
  const auto bv = arranged(b.value, s.k, s.n, s.trans_b), be = arranged(b.bound, s.k, s.n, s.trans_b);
  const auto multiply = [&](const double* pa, const double* pb, const double*, double* y) { gemm_f64(s.m, s.n, s.k, pa, pb, y); };
  // A kernel may multiply by alpha before it sums up, or after.
  const double alpha = std::fabs(c.node.attr_float("alpha", 1.0));
  SumType sums = sum_type(out.dtype);
  sums.beyond /= std::isfinite(alpha) ? std::fmax(1.0, alpha) : 1.0;
  bounded_bilinear(multiply, {av, ae}, {bv, be}, {}, c.products.strassen ? 0 : s.k, c.products.rounding, sums, out.numel(), out.value.data(),
                   c.bounds ? out.bound.data() : nullptr);
  if (c.bounds && c.products.strassen) add_strassen_rounding(c.products.strassen, c.products.rounding, s.m, s.n, s.k, {av, ae}, {bv, be}, out.bound.data());
  const double tiny = precision_of(out.dtype).tiny;
  scale(out.value, out.bound, c.node.attr_float("alpha", 1.0), tiny);
  if (c.has_input(2) && beta != 0) {
    std::vector<double> cv = spread(c.in(2).value, c.in(2).shape, s.m, s.n), ce = spread(c.in(2).bound, c.in(2).shape, s.m, s.n);
    scale(cv, ce, beta, tiny);
    const double growth = dot_growth(c.products.strassen ? 0 : s.k, sums.u);  // C may be what the sum begins with
    for (size_t i = 0; i < cv.size(); ++i) {
      out.value[i] += cv[i];
      if (c.bounds) out.bound[i] += growth * std::fabs(cv[i]) + (1 + growth) * (ce.empty() ? 0.0 : ce[i]);
    }
  }
  finish_bounds(out);
}

}  // namespace

std::vector<OpDef> linear_ops() {
  return {
      {"", "MatMul", "nn", infer_matmul, eval_matmul, 1, {}, expand_quantized_matmul},
      {"", "MatMulInteger", "iiII", infer_matmul_integer, eval_matmul_integer, 1, {}, expand_matmul_integer},
      {"", "Gemm", "ffF", infer_gemm, eval_gemm, 1, {}, expand_quantized_gemm},
  };
}

}  // namespace amdahl

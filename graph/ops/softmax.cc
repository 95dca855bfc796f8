// Softmax, LogSoftmax, Hardmax. Before opset 13 they flatten to a matrix at `axis`; since then they run along `axis` alone.

#include "graph/ops/softmax.h"

#include <algorithm>
#include <limits>

#include "graph/node_upgrade.h"
#include "graph/ops/eval_support.h"
#include "graph/ops/families.h"
#include "graph/ops/sum_growth.h"

namespace amdahl {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double maximum(std::span<const double> x) {
  double m = -kInfinity;
  for (double v : x) {
    if (std::isnan(v)) return v;
    m = std::max(m, v);
  }
  return m;
}

// Moments of the distribution p = softmax(x) that the bounds need.
struct Moments {
  double max = 0;           // m
  double sum = 0;           // sum exp(x - m)
  double mean_shift = 0;    // E_p |x - m|
  double log_mean_exp = 0;  // log E_p[exp e]
  double growth = 0;        // of the sum's error, in units

  Moments(std::span<const double> x, std::span<const double> e, double u) : max(maximum(x)) {
    static thread_local std::vector<double> terms;
    terms.resize(x.size());
    double shifted = 0, raised = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double d = x[i] - max, p = terms[i] = std::exp(d);
      sum += p;
      if (p > 0) shifted -= p * d;
      if (!e.empty()) raised += std::exp(d + e[i]);
    }
    mean_shift = shifted / sum;
    growth = sum_growth(terms, u);
    if (!e.empty()) log_mean_exp = std::log(raised / sum);
  }
};

}  // namespace

void softmax_row(std::span<const double> x, std::span<const double> e, std::span<double> y, std::span<double> y_bound, const SumType& sums) {
  const Moments m(x, e, sums.u);
  const double common = m.growth + 10.0 + m.mean_shift;
  const bool open = std::any_of(e.begin(), e.end(), [](double v) { return !(v < kInfinity); });  // one may be infinite, and all NaN
  for (size_t i = 0; i < x.size(); ++i) {
    const double d = x[i] - m.max;
    y[i] = std::exp(d) / m.sum;
    if (y_bound.empty()) continue;
    double b = sums.flush + (y[i] > 0 ? y[i] * (common - d) * sums.u : 0.0);
    if (!e.empty()) {
      // For a small move t = e_i + log E_p[exp e], expm1 keeps its digits; for a large one the product may overflow where
      // the probability has underflowed, hence one exponential.
      const double t = e[i] + m.log_mean_exp;
      b += t < 1 ? y[i] * std::expm1(t) : std::exp(d + t) / m.sum - y[i];
    }
    y_bound[i] = open ? kInfinity : std::min(b, 1.0);  // both the value and what is computed lie in [0, 1]
    // What underflows here may not underflow there: by an infinity it is infinite or NaN, and no zero must say that it is NaN.
    if (y[i] == 0 && std::isfinite(d)) y[i] = std::numeric_limits<double>::min();
  }
}

void log_softmax_row(std::span<const double> x, std::span<const double> e, std::span<double> y, std::span<double> y_bound, const SumType& sums) {
  const Moments m(x, e, sums.u);
  const double log_sum = std::log(m.sum), common = m.growth + 10.0 + std::fabs(m.max);
  for (size_t i = 0; i < x.size(); ++i) {
    y[i] = x[i] - m.max - log_sum;
    if (!y_bound.empty()) y_bound[i] = (std::fabs(x[i]) + std::fabs(y[i]) + common) * sums.u + (e.empty() ? 0.0 : e[i] + m.log_mean_exp);
  }
}

ValueAndBound log_sum_exp(std::span<const double> x, std::span<const double> e, const SumType& sums) {
  if (x.empty()) return {-kInfinity, 0.0};
  const double max = maximum(x);
  if (std::isinf(max)) return {max, 0.0};  // exp(inf - inf) would make a NaN of it
  const Moments m(x, e, sums.u);
  const double value = m.max + std::log(m.sum);
  return {value, (std::fabs(value) + std::fabs(m.max) + m.mean_shift + m.growth + 10.0) * sums.u + m.log_mean_exp};
}

namespace {

int64_t softmax_axis(const Node& node, size_t rank) {
  const int64_t axis = node.attr_int("axis", node.version >= 13 ? -1 : 1);
  return axis < 0 ? axis + static_cast<int64_t>(rank) : axis;
}

void infer_softmax(InferContext& c) {
  require_float(c, 0);
  const int64_t axis = softmax_axis(c.node, c.shape(0).size());
  // The flattening form allows axis == rank: rows of one element. So does a vector with the old default, 1.
  if (c.node.version >= 13 || axis != static_cast<int64_t>(c.shape(0).size())) c.normalized_axis(c.node.attr_int("axis", -1), c.shape(0).size());
  c.set_output(0, c.dtype(0), c.shape(0));
}

void hardmax_row(std::span<const double> x, std::span<const double> e, std::span<double> y, std::span<double> y_bound, const SumType&) {
  const auto less = [](double a, double b) { return a < b || (std::isnan(b) && !std::isnan(a)); };  // NaN is the largest, as for ArgMax
  const size_t best = static_cast<size_t>(std::max_element(x.begin(), x.end(), less) - x.begin());
  std::fill(y.begin(), y.end(), 0.0);
  if (x.empty()) return;
  y[best] = 1.0;
  if (y_bound.empty() || e.empty()) return;
  // Any element that the inputs' errors can lift to the top may be the one.
  double floor = -kInfinity;
  for (size_t i = 0; i < x.size(); ++i) floor = std::max(floor, x[i] - e[i]);
  int64_t rivals = 0;
  for (size_t i = 0; i < x.size(); ++i) rivals += x[i] + e[i] >= floor;
  for (size_t i = 0; i < x.size(); ++i) y_bound[i] = rivals > 1 && x[i] + e[i] >= floor ? 1.0 : 0.0;
}

using RowFunction = void (*)(std::span<const double>, std::span<const double>, std::span<double>, std::span<double>, const SumType&);

// What is hidden got the lowest numbers of its type by a mask inside the window, and nothing greater was left: shares of hidden keys. Kernels that leave those out
// have none.
bool sees_nothing(std::span<const double> row) {
  const double most = *std::max_element(row.begin(), row.end());
  return std::isfinite(most) && most < -0x1.0p126;
}

template <RowFunction row_function>
void eval_softmax(EvalContext& c) {
  const RefTensor& x = c.in(0);
  RefTensor& out = float_output(c, 0);
  const auto axis = static_cast<size_t>(softmax_axis(c.node, x.shape.size()));
  int64_t n = 1, inner = 1;
  for (size_t d = axis; d < x.shape.size(); ++d) (c.node.version < 13 || d == axis ? n : inner) *= x.shape[d];
  if (out.value.empty()) return;
  const int64_t rows = x.numel() / n;
  const SumType sums = sum_type(x.dtype);
  if (row_function == softmax_row) out.shares_of = n;
#pragma omp parallel if (worth_threads(x.numel()))
  {
    const auto size = static_cast<size_t>(n);
    std::vector<double> row(size), bound(x.bound.empty() ? 0 : size), y(size), y_bound(c.bounds ? size : 0);
#pragma omp for
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t base = r / inner * n * inner + r % inner;
      for (size_t i = 0; i < size; ++i) {
        const auto at = static_cast<size_t>(base + static_cast<int64_t>(i) * inner);
        row[i] = x.value[at];
        if (!bound.empty()) bound[i] = x.bound[at];
      }
      std::fill(y_bound.begin(), y_bound.end(), 0.0);
      row_function(row, bound, y, y_bound, sums);
      if (c.bounds && x.is_inside && sees_nothing(row))
        for (size_t i = 0; i < size; ++i) leave_open(y[i], y_bound[i]);
      for (size_t i = 0; i < size; ++i) {
        const auto at = static_cast<size_t>(base + static_cast<int64_t>(i) * inner);
        out.value[at] = y[i];
        if (c.bounds) out.bound[at] = y_bound[i];
      }
    }
  }
  finish_bounds(out, false);
}

// Before 13, a softmax ran over all dimensions from `axis` on, as if they were one.
void flatten_from_axis(NodeUpgrade& u) {
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

}  // namespace

std::vector<OpDef> softmax_ops() {
  return {
      {"", "Softmax", "f", infer_softmax, eval_softmax<softmax_row>, 1, {{13, flatten_from_axis}}},
      {"", "LogSoftmax", "f", infer_softmax, eval_softmax<log_softmax_row>, 1, {{13, flatten_from_axis}}},
      {"", "Hardmax", "f", infer_softmax, eval_softmax<hardmax_row>, 1, {{13, flatten_from_axis}}},
  };
}

}  // namespace amdahl

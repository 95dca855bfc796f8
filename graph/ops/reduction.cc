// ReduceX: each row of reduced elements is gathered and handed to one function of the operator.

#include "graph/ops/reduction.h"

#include <algorithm>
#include <limits>

#include "graph/node_upgrade.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/eval_support.h"
#include "graph/ops/families.h"
#include "graph/ops/softmax.h"
#include "graph/ops/sum_growth.h"

namespace amdahl {
namespace {

using Row = std::span<const double>;

double sum(Row x) {
  double s = 0;
  for (double v : x) s += v;
  return s;
}
double sum_abs(Row x) {
  double s = 0;
  for (double v : x) s += std::fabs(v);
  return s;
}
double sum_squares(Row x) {
  double s = 0;
  for (double v : x) s += v * v;
  return s;
}
double finite_magnitude(Row x) {
  double s = 0;
  for (double v : x) s += std::isfinite(v) ? std::fabs(v) : 0;
  return s;
}
// The root of a sum of squares, where the type has no square: scaled, or not.
bool squares_leave_type(Row x, double root, const SumType& t) {
  return root * root >= t.beyond && std::all_of(x.begin(), x.end(), [](double v) { return std::isfinite(v); });
}
double growth(Row x, const SumType& t) { return (sum_growth(x, t.u) + 4.0) * t.u; }
double growth_of_magnitudes(Row x, const SumType& t) {
  std::vector<double> terms(x.size());
  std::ranges::transform(x, terms.begin(), [](double v) { return std::fabs(v); });
  return growth(terms, t);
}

// A sum of one element is exact.
ValueAndBound reduce_sum(Row x, Row e, const SumType& t) {
  const double moved = sum(e);
  ValueAndBound y{sum(x), moved + (x.size() > 1 ? growth(x, t) * (sum_abs(x) + moved) : 0.0)};
  if (x.size() > 1) settle_sum(y.value, y.bound, finite_magnitude(x) + moved, t.beyond);
  return y;
}
ValueAndBound reduce_mean(Row x, Row e, const SumType& t) {
  auto [value, bound] = reduce_sum(x, e, t);
  const auto n = static_cast<double>(x.size());
  // Divided after it was summed, or before: then each quotient may underflow.
  if (std::fabs(value) >= t.beyond && std::isfinite(value)) leave_open(value, bound);
  return {value / n, bound / n + (x.size() > 1 ? n * t.step : 0.0)};
}
ValueAndBound reduce_max(Row x, Row e, const SumType&) {
  double m = -std::numeric_limits<double>::infinity();
  for (double v : x) m = std::isnan(v) || std::isnan(m) ? std::numeric_limits<double>::quiet_NaN() : std::max(m, v);
  return {m, e.empty() ? 0.0 : *std::max_element(e.begin(), e.end())};
}
ValueAndBound reduce_min(Row x, Row e, const SumType&) {
  double m = std::numeric_limits<double>::infinity();
  for (double v : x) m = std::isnan(v) || std::isnan(m) ? std::numeric_limits<double>::quiet_NaN() : std::min(m, v);
  return {m, e.empty() ? 0.0 : *std::max_element(e.begin(), e.end())};
}
// Whether factors can be multiplied in an order in which a partial product overflows or underflows.
bool some_order_leaves_type(Row x, const SumType& t) {
  double largest = 1, smallest = 1;
  for (double v : x) {
    largest *= std::fmax(1.0, std::fabs(v));
    if (v != 0) smallest *= std::fmin(1.0, std::fabs(v));
  }
  return largest >= t.beyond || smallest < t.flush;
}
ValueAndBound reduce_prod(Row x, Row e, const SumType& t) {
  double value = 1, upper = 1;
  for (size_t i = 0; i < x.size(); ++i) {
    value *= x[i];
    upper *= std::fabs(x[i]) + (e.empty() ? 0.0 : e[i]);
  }
  ValueAndBound y{value, (static_cast<double>(x.size()) + 2) * t.u * upper + (upper - std::fabs(value))};
  if (x.size() > 1 && some_order_leaves_type(x, t)) settle_sum(y.value, y.bound, HUGE_VAL, t.beyond);
  return y;
}
ValueAndBound reduce_l1(Row x, Row e, const SumType& t) {
  const double value = sum_abs(x), moved = sum(e);
  return {value, moved + (x.size() > 1 ? growth_of_magnitudes(x, t) * (value + moved) : 0.0)};
}
// A norm moves by at most the norm of the change.
ValueAndBound reduce_l2(Row x, Row e, const SumType& t) {
  const double value = std::sqrt(sum_squares(x)), moved = std::sqrt(sum_squares(e));
  const double underflow = static_cast<double>(x.size()) * t.step;  // of the squares
  ValueAndBound y{value, moved + growth_of_magnitudes(x, t) * (value + moved) + t.flush + std::fmin(std::sqrt(underflow), underflow / value)};
  if (squares_leave_type(x, value + moved, t)) leave_open(y.value, y.bound);
  return y;
}
ValueAndBound reduce_sum_square(Row x, Row e, const SumType& t) {
  const double value = sum_squares(x);
  double moved = 0;
  for (size_t i = 0; i < e.size(); ++i) moved += (2 * std::fabs(x[i]) + e[i]) * e[i];
  return {value, moved + growth_of_magnitudes(x, t) * (value + moved) + static_cast<double>(x.size()) * t.step};
}
ValueAndBound reduce_log_sum(Row x, Row e, const SumType& t) {
  const auto [s, es] = reduce_sum(x, e, t);
  const double value = std::log(s);
  if (!(es < s) && es > 0 && !(s + es < 0)) return {0, std::numeric_limits<double>::infinity()};  // the sum may be zero or negative, or not
  if (!std::isfinite(value)) return {value, 0};
  return {value, 4 * t.u * std::fabs(value) - std::log1p(-es / s)};
}

using RowFunction = ValueAndBound (*)(Row, Row, const SumType&);
using IntFunction = int64_t (*)(std::span<const int64_t>);

int64_t int_sum(std::span<const int64_t> x) {
  uint64_t s = 0;  // wraps as the machine does
  for (int64_t v : x) s += static_cast<uint64_t>(v);
  return static_cast<int64_t>(s);
}
int64_t int_mean(std::span<const int64_t> x) { return x.empty() ? 0 : int_sum(x) / static_cast<int64_t>(x.size()); }
int64_t int_max(std::span<const int64_t> x) { return x.empty() ? INT64_MIN : *std::max_element(x.begin(), x.end()); }
int64_t int_min(std::span<const int64_t> x) { return x.empty() ? INT64_MAX : *std::min_element(x.begin(), x.end()); }
int64_t int_prod(std::span<const int64_t> x) {
  uint64_t p = 1;
  for (int64_t v : x) p *= static_cast<uint64_t>(v);
  return static_cast<int64_t>(p);
}
int64_t int_l1(std::span<const int64_t> x) {
  uint64_t s = 0;
  for (int64_t v : x) s += v < 0 ? 0 - static_cast<uint64_t>(v) : static_cast<uint64_t>(v);
  return static_cast<int64_t>(s);
}
int64_t int_sum_square(std::span<const int64_t> x) {
  uint64_t s = 0;
  for (int64_t v : x) s += static_cast<uint64_t>(v) * static_cast<uint64_t>(v);
  return static_cast<int64_t>(s);
}

// Numbers of 64 bits without a sign: of the others int64_t holds all.
uint64_t unsigned_max(std::span<const int64_t> x) {
  uint64_t m = 0;
  for (int64_t v : x) m = std::max(m, static_cast<uint64_t>(v));
  return m;
}
uint64_t unsigned_min(std::span<const int64_t> x) {
  uint64_t m = UINT64_MAX;
  for (int64_t v : x) m = std::min(m, static_cast<uint64_t>(v));
  return m;
}
int64_t of_unsigned(IntFunction f, std::span<const int64_t> x) {
  if (f == int_max) return static_cast<int64_t>(unsigned_max(x));
  if (f == int_min) return static_cast<int64_t>(unsigned_min(x));
  if (f == int_mean) return x.empty() ? 0 : static_cast<int64_t>(static_cast<uint64_t>(int_sum(x)) / x.size());
  return f == int_l1 ? int_sum(x) : f(x);
}

// How far integers that floats decided move what is made of them, the elements of x behind `row`.
double bound_of_ints(IntFunction f, const RefTensor& x, int64_t row, const std::vector<int64_t>& elements) {
  double sum = 0, most = 0;
  for (const int64_t e : elements) {
    const double bound = x.bound_at(row + e);
    sum += bound;
    most = std::fmax(most, bound);
  }
  if (most == 0) return 0;
  if (f == int_max || f == int_min) return most;
  if (f == int_sum || f == int_l1) return sum;
  return f == int_mean ? std::ceil(sum / static_cast<double>(elements.size())) : HUGE_VAL;
}

// The maximum of nothing is the type's lowest value.
int64_t saturated(DType dtype, int64_t v) {
  if (dtype == DType::kBool) return v > 0;
  if (dtype == DType::kI64 || dtype == DType::kU64) return v;
  const bool is_unsigned = dtype == DType::kU8 || dtype == DType::kU16 || dtype == DType::kU32;
  const int bits = static_cast<int>(8 * size_of(dtype));
  const int64_t low = is_unsigned ? 0 : -(int64_t{1} << (bits - 1)), high = low + (int64_t{1} << bits) - 1;
  return std::clamp(v, low, high);
}

// One flag a dimension. Without axes everything is reduced, or nothing.
std::vector<bool> reduced_dimensions(const Node& node, const std::vector<int64_t>& axes, size_t rank) {
  if (axes.empty()) return std::vector<bool>(rank, !reduces_nothing(node, axes));
  std::vector<bool> reduced(rank, false);
  for (int64_t axis : axes) reduced[static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis)] = true;
  return reduced;
}

enum class Elements { kFloats, kNumbers, kAny };  // what an operator reduces; bool is a number to none but Max and Min

template <Elements elements>
void infer_reduce(InferContext& c) {
  if (elements == Elements::kFloats || (elements == Elements::kNumbers && c.dtype(0) == DType::kBool)) require_float(c, 0);
  const Shape& x = c.shape(0);
  if (axes_are_input(c.node) && c.has_input(1)) c.constant(1, "the axes of a reduction");
  const std::vector<int64_t> axes = axes_of_reduction(c.graph_, c.node);
  for (int64_t axis : axes) c.normalized_axis(axis, x.size());
  const std::vector<bool> reduced = reduced_dimensions(c.node, axes, x.size());
  const bool keep = c.node.attr_int("keepdims", 1) != 0;
  Shape out;
  for (size_t d = 0; d < x.size(); ++d)
    if (!reduced[d]) out.push_back(x[d]);
    else if (keep) out.push_back(1);
  c.set_output(0, c.dtype(0), out);
}

// Element offsets of all index combinations of the dimensions whose flag equals `which`, row-major.
std::vector<int64_t> offsets(const Shape& shape, const std::vector<bool>& flags, bool which) {
  const Shape strides = row_major_strides(shape);
  for (size_t d = 0; d < shape.size(); ++d)
    if (flags[d] == which && shape[d] == 0) return {};  // whatever the others come to: their product may not fit memory
  std::vector<int64_t> out{0};
  for (size_t d = 0; d < shape.size(); ++d) {
    if (flags[d] != which) continue;
    std::vector<int64_t> next;
    next.reserve(out.size() * static_cast<size_t>(shape[d]));
    for (int64_t base : out)
      for (int64_t i = 0; i < shape[d]; ++i) next.push_back(base + i * strides[d]);
    out = std::move(next);
  }
  return out;
}

template <RowFunction row_function, IntFunction int_function = nullptr>
void eval_reduce(EvalContext& c) {
  const RefTensor& x = c.in(0);
  std::vector<int64_t> axes;
  if (!axes_are_input(c.node)) axes = c.node.attr_ints("axes");
  else if (c.has_input(1)) axes = c.in(1).ints;
  const std::vector<bool> reduced = reduced_dimensions(c.node, axes, x.shape.size());
  RefTensor& out = c.out(0);
  if (out.numel() == 0) {
    if (out.is_float()) float_output(c, 0);
    return;
  }
  const std::vector<int64_t> rows = offsets(x.shape, reduced, false), elements = offsets(x.shape, reduced, true);
  const auto count = static_cast<int64_t>(rows.size());
  if (!out.is_float()) {
    if constexpr (int_function != nullptr) {
      out.ints.resize(rows.size());
      std::vector<int64_t> row(elements.size());
      for (size_t r = 0; r < rows.size(); ++r) {
        for (size_t i = 0; i < row.size(); ++i) row[i] = x.ints[static_cast<size_t>(rows[r] + elements[i])];
        if (out.dtype == DType::kU64) out.ints[r] = of_unsigned(int_function, row);
        else out.ints[r] = row.empty() ? saturated(out.dtype, int_function(row)) : wrap(out.dtype, int_function(row));
        if (!x.bound.empty()) out.bound.push_back(bound_of_ints(int_function, x, rows[r], elements));
      }
      open_where_wrapped(out);
    }
    return;
  }
  float_output(c, 0);
  const SumType sums = sum_type(out.dtype);
#pragma omp parallel if (worth_threads(x.numel()))
  {
    std::vector<double> row(elements.size()), bound(x.bound.empty() ? 0 : elements.size());
#pragma omp for
    for (int64_t r = 0; r < count; ++r) {
      for (size_t i = 0; i < row.size(); ++i) {
        const auto at = static_cast<size_t>(rows[static_cast<size_t>(r)] + elements[i]);
        row[i] = x.value[at];
        if (!bound.empty()) bound[i] = x.bound[at];
      }
      const ValueAndBound y = row_function(row, bound, sums);
      out.value[static_cast<size_t>(r)] = y.value;
      if (c.bounds) out.bound[static_cast<size_t>(r)] = y.bound;
    }
  }
  // The exponentials of a row are summed below its maximum: they are not infinite, but that may be.
  finish_bounds(out, row_function != reduce_max && row_function != reduce_min && row_function != log_sum_exp);
}

}  // namespace

bool axes_are_input(const Node& node) { return node.version >= (node.op == "ReduceSum" ? 13 : 18); }

std::vector<int64_t> axes_of_reduction(const Graph& graph, const Node& node) {
  if (!axes_are_input(node)) return node.attr_ints("axes");
  return node.inputs.size() > 1 && node.inputs[1] != kNoValue ? to_ints(*graph.value(node.inputs[1]).constant) : std::vector<int64_t>{};
}

bool reduces_nothing(const Node& node, const std::vector<int64_t>& axes) { return axes.empty() && node.attr_int("noop_with_empty_axes", 0) != 0; }

std::vector<OpDef> reduction_ops() {
  return {
      {"", "ReduceSum", "aI", infer_reduce<Elements::kNumbers>, eval_reduce<reduce_sum, int_sum>, 1, {{13, axes_to_input}}},
      {"", "ReduceMean", "aI", infer_reduce<Elements::kNumbers>, eval_reduce<reduce_mean, int_mean>, 1, {{18, axes_to_input}}},
      {"", "ReduceMax", "aI", infer_reduce<Elements::kAny>, eval_reduce<reduce_max, int_max>, 1, {{18, axes_to_input}}},
      {"", "ReduceMin", "aI", infer_reduce<Elements::kAny>, eval_reduce<reduce_min, int_min>, 1, {{18, axes_to_input}}},
      {"", "ReduceProd", "aI", infer_reduce<Elements::kNumbers>, eval_reduce<reduce_prod, int_prod>, 1, {{18, axes_to_input}}},
      {"", "ReduceL1", "aI", infer_reduce<Elements::kNumbers>, eval_reduce<reduce_l1, int_l1>, 1, {{18, axes_to_input}}},
      {"", "ReduceL2", "aI", infer_reduce<Elements::kFloats>, eval_reduce<reduce_l2>, 1, {{18, axes_to_input}}},
      {"", "ReduceSumSquare", "aI", infer_reduce<Elements::kNumbers>, eval_reduce<reduce_sum_square, int_sum_square>, 1, {{18, axes_to_input}}},
      {"", "ReduceLogSum", "aI", infer_reduce<Elements::kFloats>, eval_reduce<reduce_log_sum>, 1, {{18, axes_to_input}}},
      {"", "ReduceLogSumExp", "aI", infer_reduce<Elements::kFloats>, eval_reduce<log_sum_exp>, 1, {{18, axes_to_input}}},
  };
}

}  // namespace amdahl

// TopK, ArgMax, ArgMin: decisions between values. Values that are closer than their bounds may change places: an index
// decided among such values has an infinite bound, and a value chosen by rank moves by no more than the largest bound of its row.

#include <fmt/format.h>

#include <numeric>

#include "graph/node_upgrade.h"
#include "graph/ops/copy.h"
#include "graph/ops/elementwise.h"

namespace amdahl {
namespace {

// One row along the axis: elements base, base + step, … of the tensor.
struct Row {
  const RefTensor& t;
  int64_t base, step, size;

  bool is_nan(int64_t i) const { return t.is_float() && std::isnan(t.value[static_cast<size_t>(base + i * step)]); }
  double bound(int64_t i) const { return t.bound_at(base + i * step); }
  // True when element i comes before j; equal ones keep their order. NaN is the largest for both directions' winner.
  bool before(int64_t i, int64_t j, bool largest) const {
    const auto a = static_cast<size_t>(base + i * step), b = static_cast<size_t>(base + j * step);
    if (t.is_float()) {
      const double x = t.value[a], y = t.value[b];
      if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && !std::isnan(y);
      return largest ? x > y : x < y;
    }
    if (t.dtype == DType::kU64) {
      const auto x = static_cast<uint64_t>(t.ints[a]), y = static_cast<uint64_t>(t.ints[b]);
      return largest ? x > y : x < y;
    }
    return largest ? t.ints[a] > t.ints[b] : t.ints[a] < t.ints[b];
  }
  // Elements i and j may change places within their bounds.
  bool close(int64_t i, int64_t j) const {
    const double e = bound(i) + bound(j);
    if (e == 0) return false;
    const auto a = static_cast<size_t>(base + i * step), b = static_cast<size_t>(base + j * step);
    const double gap = t.is_float() ? t.value[a] - t.value[b] : static_cast<double>(t.ints[a]) - static_cast<double>(t.ints[b]);
    return !(std::fabs(gap) > e);
  }
  double largest_bound() const {
    double e = 0;
    for (int64_t i = 0; i < size; ++i) e = std::fmax(e, bound(i));
    return e;
  }
};

template <typename Body>
void each_row(const RefTensor& t, size_t axis, Body body) {
  const int64_t outer = product(t.shape, 0, axis), size = t.shape[axis], inner = product(t.shape, axis + 1, t.shape.size());
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i) body(Row{t, o * size * inner + i, inner, size}, o, i, inner);
}

// ---- TopK. K is an attribute before opset 10.

void infer_top_k(InferContext& c) {
  Shape out = c.shape(0);
  if (out.empty()) throw Refusal("a scalar has no axis");
  const auto axis = static_cast<size_t>(c.normalized_axis(c.node.attr_int("axis", -1), out.size()));
  std::vector<int64_t> k = c.node.version < 10 ? std::vector<int64_t>{c.node.attr_int("k", 1)} : c.constant_ints(1, "K");
  if (k.size() != 1 || k[0] < 0 || k[0] > out[axis]) throw Refusal(fmt::format("K does not fit the dimension {}", out[axis]));
  out[axis] = k[0];
  c.set_output(0, c.dtype(0), out);
  c.set_output(1, DType::kI64, out);
}

// The first `count` positions of a row in order; equal ones in the order of their positions.
void sort_row(const Row& row, bool largest, int64_t count, std::vector<int64_t>& order) {
  std::iota(order.begin(), order.end(), 0);
  // NaN counts as larger than any number, as numpy sorts it: first among the largest, last among the smallest.
  const auto comes_before = [&](int64_t a, int64_t b) {
    return largest || !(row.is_nan(a) || row.is_nan(b)) ? row.before(a, b, largest) : row.is_nan(b) && !row.is_nan(a);
  };
  std::partial_sort(order.begin(), order.begin() + count, order.end(),
                    [&](int64_t a, int64_t b) { return comes_before(a, b) || (!comes_before(b, a) && a < b); });
}

// Whether a value so near another in the order may change places with it, when each may be off by `moved`.
bool is_doubtful(const Row& row, int64_t a, int64_t b, double moved) {
  const RefTensor& t = row.t;
  const auto at = [&](int64_t i) { return static_cast<size_t>(row.base + i * row.step); };
  const double gap = t.is_float() ? std::fabs(t.value[at(a)] - t.value[at(b)]) : 0;
  return moved > 0 && !(gap > 2 * moved);
}

// Values and positions of the first `k` of each row, with bounds where the input has some.
struct TopK {
  RefTensor values, indices;

  TopK(const RefTensor& in, size_t axis, int64_t k, bool largest, size_t n) {
    values.dtype = in.dtype;
    indices.dtype = DType::kI64;
    indices.ints.resize(n);
    if (in.is_float()) values.value.resize(n);
    else values.ints.resize(n);
    if (!in.bound.empty()) values.bound.resize(n), indices.bound.resize(n);
    std::vector<int64_t> order(static_cast<size_t>(in.shape[axis]));
    each_row(in, axis, [&](const Row& row, int64_t o, int64_t i, int64_t inner) {
      const auto sorted = std::min<int64_t>(k + 1, row.size);  // one more: the last may be as close to the first one left out
      sort_row(row, largest, sorted, order);
      for (int64_t r = 0; r < k; ++r) take(row, order[static_cast<size_t>(r)], static_cast<size_t>((o * k + r) * inner + i));
      if (in.bound.empty()) return;
      const double moved = row.largest_bound();
      for (int64_t r = 0; r < k; ++r) bound(row, order, r, sorted, moved, static_cast<size_t>((o * k + r) * inner + i));
    });
  }

 private:
  void take(const Row& row, int64_t pick, size_t to) {
    const auto from = static_cast<size_t>(row.base + pick * row.step);
    if (row.t.is_float()) values.value[to] = row.t.value[from];
    else values.ints[to] = row.t.ints[from];
    indices.ints[to] = pick;
  }
  // Neighbours in the order are the nearest values; with unequal bounds a farther one may still reach, hence the row's largest.
  void bound(const Row& row, const std::vector<int64_t>& order, int64_t r, int64_t sorted, double moved, size_t to) {
    values.bound[to] = moved;
    bool doubtful = false;
    for (int64_t other : {r - 1, r + 1})
      if (other >= 0 && other < sorted) doubtful = doubtful || is_doubtful(row, order[static_cast<size_t>(r)], order[static_cast<size_t>(other)], moved);
    indices.bound[to] = doubtful ? HUGE_VAL : 0;
  }
};

void eval_top_k(EvalContext& c) {
  const RefTensor& in = c.in(0);
  const bool wants_values = c.node.outputs[0] != kNoValue;
  const bool wants_indices = c.outputs.size() > 1 && c.node.outputs[1] != kNoValue;
  const size_t axis = axis_of(c.node.attr_int("axis", -1), in.shape.size());
  const RefTensor& out = c.out(wants_values ? 0 : 1);
  TopK top(in, axis, out.shape[axis], c.node.attr_int("largest", 1) != 0, static_cast<size_t>(out.numel()));
  const auto give = [&](size_t i, RefTensor& result) {
    result.dtype = c.out(i).dtype;
    result.shape = c.out(i).shape;
    c.out(i) = std::move(result);
  };
  if (wants_values) give(0, top.values);
  if (wants_indices) give(1, top.indices);
}

// ---- ArgMax, ArgMin.

void infer_arg(InferContext& c) {
  Shape out = c.shape(0);
  if (out.empty()) throw Refusal("a scalar has no axis");
  const auto axis = static_cast<size_t>(c.normalized_axis(c.node.attr_int("axis", 0), out.size()));
  if (out[axis] == 0) throw Refusal("an empty dimension has no extreme");
  if (c.node.attr_int("keepdims", 1)) out[axis] = 1;
  else out.erase(out.begin() + static_cast<std::ptrdiff_t>(axis));
  c.set_output(0, DType::kI64, out);
}

void arg(EvalContext& c, bool largest) {
  const RefTensor& in = c.in(0);
  RefTensor& out = c.out(0);
  const bool last = c.node.attr_int("select_last_index", 0) != 0;
  each_row(in, axis_of(c.node.attr_int("axis", 0), in.shape.size()), [&](const Row& row, int64_t, int64_t, int64_t) {
    int64_t best = 0;
    for (int64_t i = 1; i < row.size; ++i)
      if (row.before(i, best, largest) || (last && !row.before(best, i, largest))) best = i;
    out.ints.push_back(best);
    if (in.bound.empty()) return;
    bool doubtful = false;
    for (int64_t i = 0; i < row.size && !doubtful; ++i) doubtful = i != best && row.close(i, best);
    out.bound.push_back(doubtful ? HUGE_VAL : 0);
  });
}

void eval_arg_max(EvalContext& c) { arg(c, true); }
void eval_arg_min(EvalContext& c) { arg(c, false); }

void k_to_input(NodeUpgrade& u) {
  if (!u.node.has("k")) return;
  u.put(1, u.write.constant("k", from_ints(DType::kI64, {1}, {u.node.attr_int("k", 1)})));
  u.node.attributes.erase("k");
}

}  // namespace

std::vector<OpDef> ranking_ops() {
  return {
      {"", "TopK", "nI", infer_top_k, eval_top_k, 2, {{10, k_to_input}}},
      {"", "ArgMax", "n", infer_arg, eval_arg_max},
      {"", "ArgMin", "n", infer_arg, eval_arg_min},
  };
}

}  // namespace amdahl

// MaxPool, AveragePool, LpPool and their global forms.

#include <fmt/format.h>

#include <limits>

#include "graph/ops/eval_support.h"
#include "graph/ops/families.h"
#include "graph/ops/moved_bytes.h"
#include "graph/ops/sum_growth.h"
#include "graph/ops/window_geometry.h"

namespace amdahl {
namespace {

WindowGeometry pool_geometry(const Node& node, const Shape& x) {
  if (!node.op.starts_with("Global")) return window_geometry(node, x, {});
  Node whole;  // a window as large as the input
  whole.attributes["kernel_shape"] = Shape(x.begin() + std::min<ptrdiff_t>(2, x.end() - x.begin()), x.end());
  return window_geometry(whole, x, {});
}

void infer_pool(InferContext& c) {
  const bool bytes = c.node.op == "MaxPool" && is_byte(c.dtype(0));
  if (!bytes) require_float(c, 0);
  const Shape& x = c.shape(0);
  if (x.size() < 3) throw Refusal(fmt::format("pooling of an input of rank {}", x.size()));
  const Shape out = pool_geometry(c.node, x).output_shape(x[0], x[1]);
  c.set_output(0, c.dtype(0), out);
  if (c.node.op == "MaxPool") c.set_output(1, DType::kI64, out);
}

// Calls window(plane, output, positions): `positions` are the input offsets inside the image that the window covers.
template <typename F>
void for_each_window(const WindowGeometry& g, int64_t planes, F&& window) {
#pragma omp parallel if (worth_threads(planes * g.out_size() * g.taps()))
  {
    std::vector<int64_t> positions;
#pragma omp for collapse(2)
    for (int64_t plane = 0; plane < planes; ++plane)
      for (int64_t o0 = 0; o0 < g.out[0]; ++o0)
        for (int64_t o1 = 0; o1 < g.out[1]; ++o1)
          for (int64_t o2 = 0; o2 < g.out[2]; ++o2) {
            positions.clear();
            for (int64_t k0 = 0; k0 < g.kernel[0]; ++k0)
              for (int64_t k1 = 0; k1 < g.kernel[1]; ++k1)
                for (int64_t k2 = 0; k2 < g.kernel[2]; ++k2) {
                  const int64_t i0 = g.position(0, o0, k0), i1 = g.position(1, o1, k1), i2 = g.position(2, o2, k2);
                  if (i0 < 0 || i0 >= g.in[0] || i1 < 0 || i1 >= g.in[1] || i2 < 0 || i2 >= g.in[2]) continue;
                  positions.push_back((i0 * g.in[1] + i1) * g.in[2] + i2);
                }
            window(plane, (o0 * g.out[1] + o1) * g.out[2] + o2, positions);
          }
  }
}

// The place of a maximum as MaxPool's second output counts it: along rows, or with storage_order 1 along the first spatial
// dimension.
int64_t numbered(const WindowGeometry& g, bool column_major, int64_t position) {
  if (!column_major) return position;
  const int64_t i2 = position % g.in[2], i1 = position / g.in[2] % g.in[1], i0 = position / g.in[2] / g.in[1];
  return (i2 * g.in[1] + i1) * g.in[0] + i0;
}

// The largest of a window: which, and how far the inputs' bounds may move it.
struct Extreme {
  double value = -std::numeric_limits<double>::infinity(), bound = 0;
  int64_t at = 0;
  bool doubtful = false;  // another element may be the largest

  Extreme(const RefTensor& x, int64_t base, const std::vector<int64_t>& positions) {
    const auto value_at = [&](int64_t p) {
      const auto i = static_cast<size_t>(base + p);
      return x.is_float() ? x.value[i] : static_cast<double>(x.ints[i]);
    };
    if (!positions.empty()) at = positions[0];
    for (int64_t p : positions) {
      const double v = value_at(p);
      if (v > value || (std::isnan(v) && !std::isnan(value))) value = v, at = p;
      bound = std::max(bound, x.bound_at(base + p));
    }
    for (int64_t p : positions) doubtful |= p != at && bound > 0 && value_at(p) + x.bound_at(base + p) >= value - x.bound_at(base + at);
  }
};

void eval_max_pool(EvalContext& c) {
  const RefTensor& x = c.in(0);
  const WindowGeometry g = pool_geometry(c.node, x.shape);
  const bool column_major = c.node.attr_int("storage_order", 0) != 0;
  RefTensor& out = c.out(0);
  const auto n = static_cast<size_t>(out.numel());
  if (out.is_float()) float_output(c, 0);
  else out.ints.assign(n, 0), out.bound.assign(x.bound.empty() ? 0 : n, 0.0);
  RefTensor* indices = c.outputs.size() > 1 && c.node.outputs[1] != kNoValue ? &c.out(1) : nullptr;
  if (indices) indices->ints.assign(n, 0);
  if (indices && !x.bound.empty()) indices->bound.assign(n, 0.0);
  for_each_window(g, x.shape[0] * x.shape[1], [&](int64_t plane, int64_t o, const std::vector<int64_t>& positions) {
    const Extreme best(x, plane * g.in_size(), positions);
    const auto to = static_cast<size_t>(plane * g.out_size() + o);
    if (!out.is_float()) out.ints[to] = positions.empty() ? (out.dtype == DType::kI8 ? INT8_MIN : 0) : static_cast<int64_t>(best.value);
    else out.value[to] = best.value;
    if (!out.bound.empty()) out.bound[to] = best.bound;
    if (indices) indices->ints[to] = positions.empty() ? 0 : plane * g.in_size() + numbered(g, column_major, best.at);
    if (best.doubtful && indices && !indices->bound.empty()) indices->bound[to] = std::numeric_limits<double>::infinity();
  });
  if (out.is_float()) finish_bounds(out, false);
}

// What an average divides by: the covered elements, or with count_include_pad those and the declared padding (but not what
// ceil_mode adds behind it).
int64_t divisor(const WindowGeometry& g, int64_t o, int64_t covered, bool include_pad) {
  if (!include_pad) return covered;
  const int64_t at[3] = {o / g.out[2] / g.out[1], o / g.out[2] % g.out[1], o % g.out[2]};
  int64_t n = 1;
  for (int d = 0; d < 3; ++d) {
    int64_t count = 0;
    for (int64_t k = 0; k < g.kernel[d]; ++k) count += g.position(d, at[d], k) < g.in[d] + g.pad_end[d];
    n *= count;
  }
  return n;
}

void eval_average_pool(EvalContext& c) {
  const RefTensor& x = c.in(0);
  const WindowGeometry g = pool_geometry(c.node, x.shape);
  const bool include_pad = c.node.attr_int("count_include_pad", 0) != 0;
  RefTensor& out = float_output(c, 0);
  const SumType sums = sum_type(out.dtype);
  for_each_window(g, x.shape[0] * x.shape[1], [&](int64_t plane, int64_t o, const std::vector<int64_t>& positions) {
    double sum = 0, magnitude = 0, propagated = 0;
    static thread_local std::vector<double> terms;
    terms.clear();
    for (int64_t p : positions) {
      const int64_t i = plane * g.in_size() + p;
      terms.push_back(x.value[static_cast<size_t>(i)]);
      sum += x.value[static_cast<size_t>(i)];
      if (std::isfinite(x.value[static_cast<size_t>(i)])) magnitude += std::fabs(x.value[static_cast<size_t>(i)]);
      propagated += x.bound_at(i);
    }
    const auto covered = static_cast<int64_t>(positions.size());
    const auto n = static_cast<double>(divisor(g, o, covered, include_pad));
    const auto to = static_cast<size_t>(plane * g.out_size() + o);
    out.value[to] = sum / n;
    if (!c.bounds) return;
    out.bound[to] = ((sum_growth(terms, sums.u) + 4.0) * sums.u * (magnitude + propagated) + propagated) / n + static_cast<double>(covered) * sums.step;
    settle_sum(out.value[to], out.bound[to], magnitude + propagated, sums.beyond);
  });
  finish_bounds(out);
}

void eval_lp_pool(EvalContext& c) {
  const RefTensor& x = c.in(0);
  const WindowGeometry g = pool_geometry(c.node, x.shape);
  const auto p = static_cast<double>(c.node.attr_int("p", 2));
  RefTensor& out = float_output(c, 0);
  const SumType sums = sum_type(out.dtype);
  for_each_window(g, x.shape[0] * x.shape[1], [&](int64_t plane, int64_t o, const std::vector<int64_t>& positions) {
    double sum = 0, propagated = 0;
    static thread_local std::vector<double> terms;
    terms.clear();
    bool finite = true;
    for (int64_t at : positions) {
      const int64_t i = plane * g.in_size() + at;
      finite = finite && std::isfinite(x.value[static_cast<size_t>(i)]);
      terms.push_back(std::pow(std::fabs(x.value[static_cast<size_t>(i)]), p));
      sum += terms.back();
      propagated += std::pow(x.bound_at(i), p);
    }
    const auto to = static_cast<size_t>(plane * g.out_size() + o);
    out.value[to] = std::pow(sum, 1 / p);
    // A norm changes by at most the norm of the change. Beside the sum, each pow costs a few units relative to its term.
    if (!c.bounds) return;
    const double moved = std::pow(propagated, 1 / p);
    out.bound[to] = moved + (sum_growth(terms, sums.u) + 16.0) * sums.u * (out.value[to] + moved);
    // Powers overflow, or underflow.
    const double powers = std::pow(out.value[to] + moved, p);
    if (finite && (powers >= sums.beyond || (powers > 0 && powers < sums.least_root * sums.least_root))) leave_open(out.value[to], out.bound[to]);
  });
  finish_bounds(out);
}

}  // namespace

std::vector<OpDef> pooling_ops() {
  return {
      {"", "MaxPool", "n", infer_pool, eval_max_pool, 2, {}, expand_moved_bytes},
      {"", "AveragePool", "f", infer_pool, eval_average_pool},
      {"", "LpPool", "f", infer_pool, eval_lp_pool},
      {"", "GlobalMaxPool", "f", infer_pool, eval_max_pool},
      {"", "GlobalAveragePool", "f", infer_pool, eval_average_pool},
      {"", "GlobalLpPool", "f", infer_pool, eval_lp_pool},
  };
}

}  // namespace amdahl

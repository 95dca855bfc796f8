// Normalisation of rows: Layer, RMS, Instance, Group and mean-variance normalisation share one row function.

#include <fmt/format.h>

#include <algorithm>

#include "graph/node_upgrade.h"
#include "graph/ops/eval_support.h"
#include "graph/ops/families.h"
#include "graph/ops/sum_growth.h"

namespace amdahl {
namespace {

using Row = std::span<const double>;

// Statistics of a row of n elements, and how far those of an honest computation may be.
struct RowStatistics {
  double mean = 0, scale = 0;  // scale = sqrt(var + eps), or sqrt(mean square + eps) when not centred
  double mean_abs = 0;         // mean |x|, when centred
  double mean_moved = 0;       // how far the inputs' bounds move the mean
  double scale_moved = 0;      // ... and the scale: at most the RMS of how far the centred elements move
  double smallest_scale = 0;   // the scale is at least this after the move
  double growth = 0;           // of what is computed from its sums, relative
  bool open = false;           // squares overflow or underflow: honest forms differ

  RowStatistics() = default;
  RowStatistics(Row x, Row e, double eps, bool centred, const SumType& sums) {
    const auto n = static_cast<double>(x.size());
    if (centred) {
      for (double v : x) mean += v / n, mean_abs += std::fabs(v) / n;
      for (double v : e) mean_moved += v / n;
    }
    double squares = 0, moved = 0;
    double all = 0;
    std::vector<double> terms;
    terms.reserve(x.size());
    for (double v : x) {
      terms.push_back((v - mean) * (v - mean));
      squares += terms.back();
      all += std::isfinite(v) ? v * v : 0;
    }
    growth = (std::max(sum_growth(terms, sums.u), centred ? sum_growth(x, sums.u) : 0) + 8.0) * sums.u;
    for (double v : e) moved += (v + mean_moved) * (v + mean_moved);
    scale = std::sqrt(squares / n + eps);
    scale_moved = std::sqrt(moved / n);
    smallest_scale = std::max(scale - scale_moved, std::sqrt(eps));
    open = !(all + moved < sums.beyond) || (scale < sums.least_root && scale > 0);
  }
};

// y = (x - mean) / scale with |error| <= (sum_growth + 8) u ((|x| + mean|x|) / scale + |y|) + what the bounds of x move.
// Quotients by n may underflow, also before they are summed. The move is exact, not first order: |y' - y| <= (|x' - x| + |y| |scale' - scale|) / scale'.
void normalize_row(Row x, Row e, const RowStatistics& s, bool centred, const SumType& sums, std::span<double> y, std::span<double> y_bound) {
  const double underflow = centred ? static_cast<double>(x.size()) * sums.step : 0.0;
  for (size_t i = 0; i < x.size(); ++i) {
    y[i] = (x[i] - s.mean) / s.scale;
    if (y_bound.empty()) continue;
    if (s.open) leave_open(y[i], y_bound[i]);
    if (s.open) continue;
    const double magnitude = centred ? (std::fabs(x[i]) + s.mean_abs) / s.scale + std::fabs(y[i]) : std::fabs(y[i]);
    y_bound[i] = s.growth * magnitude + underflow / s.scale;
    if (e.empty()) continue;
    const double moved = (e[i] + s.mean_moved + std::fabs(y[i]) * s.scale_moved) / s.smallest_scale;
    y_bound[i] += (1.0 + s.growth) * moved;
  }
}

// y = y * gamma + beta, in place, with bounds. `reach`: of the numbers by which gamma may be multiplied first, which underflows.
void apply_affine(double& y, double* bound, double gamma, double e_gamma, double beta, double e_beta, double reach, const SumType& sums) {
  if (bound)
    *bound = *bound * (std::fabs(gamma) + e_gamma) + e_gamma * std::fabs(y) + e_beta + 2.0 * sums.u * (std::fabs(beta) + e_beta) + sums.step * (2 + reach);
  y = y * gamma + beta;
}

// Parameter `i` of the affine part: `absent` where the input is not there.
struct Parameter {
  const RefTensor* t;
  double absent;
  Parameter(const EvalContext& c, size_t input, double otherwise) : t(c.has_input(input) ? c.inputs[input] : nullptr), absent(otherwise) {}
  double at(int64_t i) const { return t ? t->value[static_cast<size_t>(i % t->numel())] : absent; }
  double bound(int64_t i) const { return t ? t->bound_at(i % t->numel()) : 0.0; }
};

// Normalises every row of `n` adjacent elements. `parameter_of(row, i)` is the index of gamma and beta of an element.
// Returns the statistics of all rows.
template <typename F>
std::vector<RowStatistics> normalize_rows(EvalContext& c, const RefTensor& x, int64_t n, double eps, bool centred, const SumType& sums, Parameter gamma,
                                          Parameter beta, F parameter_of) {
  RefTensor& out = float_output(c, 0);
  const int64_t rows = n == 0 ? 0 : x.numel() / n;
  std::vector<RowStatistics> statistics(static_cast<size_t>(rows));
#pragma omp parallel for if (worth_threads(x.numel()))
  for (int64_t r = 0; r < rows; ++r) {
    const auto at = static_cast<size_t>(r * n), size = static_cast<size_t>(n);
    const Row row(x.value.data() + at, size), e = x.bound.empty() ? Row() : Row(x.bound.data() + at, size);
    const std::span<double> y(out.value.data() + at, size);
    const std::span<double> bound = c.bounds ? std::span<double>(out.bound.data() + at, size) : std::span<double>();
    const RowStatistics s(row, e, eps, centred, sums);
    normalize_row(row, e, s, centred, sums, y, bound);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t p = parameter_of(r, i);
      apply_affine(y[static_cast<size_t>(i)], c.bounds ? &bound[static_cast<size_t>(i)] : nullptr, gamma.at(p), gamma.bound(p), beta.at(p), beta.bound(p),
                   std::fabs(row[static_cast<size_t>(i)]) + s.mean_abs, sums);
    }
    statistics[static_cast<size_t>(r)] = s;
  }
  finish_bounds(out);
  return statistics;
}

int64_t product_from(const Shape& shape, size_t first) {
  int64_t n = 1;
  for (size_t d = first; d < shape.size(); ++d) n *= shape[d];
  return n;
}

// By the standard rows are normalised in fp32, whatever their type, unless stash_type names another.
SumType sums_of_rows(const Node& node, DType dtype) { return sum_type(node.attr_int("stash_type", 1) == 1 ? DType::kF32 : dtype); }

// LayerNormalization and RMSNormalization: rows are the dimensions from `axis` on; gamma and beta broadcast to them.

size_t layer_axis(const Node& node, size_t rank) {
  const int64_t axis = node.attr_int("axis", -1);
  return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
}

void check_layer_parameter(const InferContext& c, size_t i, const Shape& x, size_t axis) {
  if (!c.has_input(i)) return;
  require_float(c, i);
  const Shape row(x.begin() + static_cast<ptrdiff_t>(axis), x.end());
  Shape p = c.shape(i);
  while (p.size() > row.size() && p.front() == 1) p.erase(p.begin());
  if (p != row && numel(p) != 1)
    throw Refusal(fmt::format("parameter {} of a normalisation over {}; only the whole row or a scalar is supported", to_string(c.shape(i)), to_string(row)));
}

void infer_layer(InferContext& c) {
  require_float(c, 0);
  const Shape& x = c.shape(0);
  const auto axis = static_cast<size_t>(c.normalized_axis(c.node.attr_int("axis", -1), x.size()));
  check_layer_parameter(c, 1, x, axis);
  check_layer_parameter(c, 2, x, axis);
  c.set_output(0, c.dtype(0), x);
  Shape statistics = x;
  std::fill(statistics.begin() + static_cast<ptrdiff_t>(axis), statistics.end(), 1);
  const bool rms = c.node.op != "LayerNormalization";
  const DType stash = c.node.attr_int("stash_type", 1) == 1 ? DType::kF32 : c.dtype(0);
  // SimplifiedLayerNormalization has the inverse scale as its second output, RMSNormalization has only the first.
  if (c.node.op != "RMSNormalization") c.set_output(1, stash, statistics);
  if (!rms) c.set_output(2, stash, statistics);
}

void write_statistics(EvalContext& c, size_t output, const std::vector<RowStatistics>& rows, int64_t n, bool inverse_scale, const SumType& sums) {
  if (output >= c.outputs.size() || c.node.outputs[output] == kNoValue) return;
  RefTensor& out = float_output(c, output);
  for (size_t r = 0; r < rows.size(); ++r) {
    const RowStatistics& s = rows[r];
    out.value[r] = inverse_scale ? 1.0 / s.scale : s.mean;
    if (!c.bounds) continue;
    if (inverse_scale) {
      out.bound[r] = (s.growth * (1.0 + s.mean_abs / s.scale) + s.scale_moved / s.smallest_scale) * out.value[r];
      if (s.open) leave_open(out.value[r], out.bound[r]);
    } else {
      out.bound[r] = s.growth * (s.mean_abs + s.mean_moved) + s.mean_moved + static_cast<double>(n) * sums.step;
      if (std::isfinite(s.mean_abs)) settle_sum(out.value[r], out.bound[r], s.mean_abs * static_cast<double>(n), sums.beyond);
    }
  }
  finish_bounds(out);
}

void eval_layer(EvalContext& c) {
  const RefTensor& x = c.in(0);
  const bool rms = c.node.op != "LayerNormalization";
  const int64_t n = product_from(x.shape, layer_axis(c.node, x.shape.size()));
  const SumType sums = sums_of_rows(c.node, x.dtype);
  const auto statistics =
      normalize_rows(c, x, n, c.node.attr_float("epsilon", 1e-5), !rms, sums, Parameter(c, 1, 1.0), Parameter(c, 2, 0.0), [](int64_t, int64_t i) { return i; });
  if (!rms) write_statistics(c, 1, statistics, n, false, sums);
  write_statistics(c, rms ? 1 : 2, statistics, n, true, sums);
}

// InstanceNormalization and GroupNormalization: rows are channels or groups of channels of one image.

void infer_channels(InferContext& c) {
  for (size_t i = 0; i < 3; ++i) require_float(c, i);
  const Shape& x = c.shape(0);
  if (x.size() < 3) throw Refusal(fmt::format("{} of an input of rank {}", c.node.op, x.size()));
  int64_t parameters = x[1];
  if (c.node.op == "GroupNormalization") {
    const int64_t groups = c.node.attr_int("num_groups", 0);
    if (groups < 1 || x[1] % groups != 0) throw Refusal(fmt::format("{} channels in {} groups", x[1], groups));
    if (c.node.version < 21) parameters = groups;  // one scale a group until opset 21, one a channel since
  }
  for (size_t i = 1; i < 3; ++i)
    if (c.shape(i) != Shape{parameters}) throw Refusal(fmt::format("parameter {} where [{}] is needed", to_string(c.shape(i)), parameters));
  c.set_output(0, c.dtype(0), x);
}

void eval_channels(EvalContext& c) {
  const RefTensor& x = c.in(0);
  const bool grouped = c.node.op == "GroupNormalization";
  const int64_t channels = x.shape[1], plane = product_from(x.shape, 2);
  const int64_t rows = grouped ? c.node.attr_int("num_groups", 1) : channels, row_channels = channels / rows;
  const bool by_group = grouped && c.node.version < 21;
  normalize_rows(c, x, row_channels * plane, c.node.attr_float("epsilon", 1e-5), true, grouped ? sums_of_rows(c.node, x.dtype) : sum_type(x.dtype),
                 Parameter(c, 1, 1.0), Parameter(c, 2, 0.0),
                 [&](int64_t row, int64_t i) { return by_group ? row % rows : row % rows * row_channels + i / plane; });
}

// Until 20, scale and bias had one element a group; from 21 on one a channel.
void repeat_per_channel(NodeUpgrade& u) {
  const Shape& shape = u.graph.value(u.node.inputs[0]).shape;
  if (shape.size() < 2) return;  // refused by its shape rule
  const int64_t channels = shape[1];
  for (size_t i = 1; i < 3; ++i) {
    if (!u.graph.is_constant(u.node.inputs[i])) continue;
    const Tensor& t = *u.graph.value(u.node.inputs[i]).constant;
    if (t.numel() == 0 || channels % t.numel() != 0) continue;
    const std::vector<double> groups = to_doubles(t);
    std::vector<double> all(static_cast<size_t>(channels));
    for (size_t c = 0; c < all.size(); ++c) all[c] = groups[c / (all.size() / groups.size())];
    u.node.inputs[i] = u.write.constant("per_channel", from_doubles(t.dtype(), {channels}, all));
  }
}

}  // namespace

std::vector<OpDef> normalization_ops() {
  return {
      {"", "LayerNormalization", "ffF", infer_layer, eval_layer, 3},
      {"", "RMSNormalization", "ff", infer_layer, eval_layer},
      {"com.microsoft", "SimplifiedLayerNormalization", "ff", infer_layer, eval_layer, 2},
      {"", "SimplifiedLayerNormalization", "ff", infer_layer, eval_layer, 2},
      {"", "InstanceNormalization", "fff", infer_channels, eval_channels},
      {"", "GroupNormalization", "fff", infer_channels, eval_channels, 1, {{21, repeat_per_channel}}},
  };
}

}  // namespace amdahl

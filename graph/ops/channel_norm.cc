// Normalisations without learned rows: BatchNormalization (inference), LpNormalization, MeanVarianceNormalization, LRN.

#include <fmt/format.h>

#include <algorithm>

#include "graph/ops/batch_norm_training.h"
#include "graph/ops/eval_support.h"
#include "graph/ops/families.h"
#include "graph/ops/sum_growth.h"

namespace amdahl {
namespace {

int64_t plane_size(const Shape& shape) {
  int64_t n = 1;
  for (size_t d = 2; d < shape.size(); ++d) n *= shape[d];
  return n;
}

void infer_batch_norm(InferContext& c) {
  require_float(c, 0);
  const Shape& x = c.shape(0);
  if (x.size() < 2) throw Refusal(fmt::format("BatchNormalization of an input of rank {}", x.size()));
  if (c.node.attr_int("spatial", 1) == 0) throw Refusal("BatchNormalization with spatial = 0");
  for (size_t i = 1; i < 5; ++i)
    if (c.shape(i) != Shape{x[1]}) throw Refusal(fmt::format("parameter {} for {} channels", to_string(c.shape(i)), x[1]));
  c.set_output(0, c.dtype(0), x);  // the others belong to training
}

// y = a (x - mean) + beta with a = gamma / sqrt(var + eps). 4u(|a x| + |a mean| + |beta|) permits folding into x * a + b.
void eval_batch_norm(EvalContext& c) {
  const RefTensor &x = c.in(0), &gamma = c.in(1), &beta = c.in(2), &mean = c.in(3), &var = c.in(4);
  const int64_t channels = x.shape[1], plane = plane_size(x.shape);
  const double eps = c.node.attr_float("epsilon", 1e-5);
  RefTensor& out = float_output(c, 0);
  const SumType sums = sum_type(out.dtype);
#pragma omp parallel for if (worth_threads(x.numel()))
  for (int64_t i = 0; i < x.shape[0] * channels; ++i) {
    const int64_t ch = i % channels;
    const auto k = static_cast<size_t>(ch);
    const double variance = var.value[k] + eps, a = gamma.value[k] / std::sqrt(variance);
    // How far the parameters' bounds move a; 1/sqrt is steepest at the smallest variance.
    const double lowest = std::max(variance - var.bound_at(ch), eps);
    const double a_moved = gamma.bound_at(ch) / std::sqrt(lowest) + std::fabs(gamma.value[k]) * (1.0 / std::sqrt(lowest) - 1.0 / std::sqrt(variance));
    for (int64_t p = 0; p < plane; ++p) {
      const int64_t at = i * plane + p;
      const double v = x.value[static_cast<size_t>(at)], centred = v - mean.value[k];
      out.value[static_cast<size_t>(at)] = a * centred + beta.value[k];
      if (!c.bounds) continue;
      const double centred_moved = x.bound_at(at) + mean.bound_at(ch);
      const double moved = (std::fabs(a) + a_moved) * centred_moved + a_moved * std::fabs(centred) + beta.bound_at(ch);
      out.bound[static_cast<size_t>(at)] = moved +
                                           4.0 * sums.u * (std::fabs(a) * (std::fabs(v) + std::fabs(mean.value[k])) + std::fabs(beta.value[k]) + moved) +
                                           sums.step * (4 + std::fabs(v) + std::fabs(mean.value[k]));
      // Factors may be multiplied in any order, and their product with the mean taken first.
      const double reach = (std::isfinite(v) ? std::fabs(v) : 0) + std::fabs(mean.value[k]);
      settle_sum(out.value[static_cast<size_t>(at)], out.bound[static_cast<size_t>(at)],
                 std::max({1.0, std::fabs(a), std::fabs(gamma.value[k]), 1 / std::sqrt(std::fabs(variance))}) * std::fmax(1.0, reach) +
                     std::fabs(beta.value[k]) + moved,
                 sums.beyond);
    }
  }
  finish_bounds(out);
}

void infer_same(InferContext& c) {
  require_float(c, 0);
  c.set_output(0, c.dtype(0), c.shape(0));
}

void infer_lp_norm(InferContext& c) {
  c.normalized_axis(c.node.attr_int("axis", -1), c.shape(0).size());
  const int64_t p = c.node.attr_int("p", 2);
  if (p != 1 && p != 2) throw Refusal(fmt::format("LpNormalization with p = {}", p));
  infer_same(c);
}

// x / ||x||; zero where the norm is zero. The bound divides by the smallest norm that the inputs' errors allow.
void eval_lp_norm(EvalContext& c) {
  const RefTensor& x = c.in(0);
  const int64_t rank = static_cast<int64_t>(x.shape.size()), axis = (c.node.attr_int("axis", -1) + rank) % rank;
  const bool euclid = c.node.attr_int("p", 2) == 2;
  const int64_t n = x.shape[static_cast<size_t>(axis)], inner = row_major_strides(x.shape)[static_cast<size_t>(axis)];
  const SumType sums = sum_type(x.dtype);
  RefTensor& out = float_output(c, 0);
  const int64_t rows = n == 0 ? 0 : x.numel() / n;
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t base = r / inner * n * inner + r % inner;
    double norm = 0, moved = 0;
    bool finite = true;
    std::vector<double> terms;
    for (int64_t i = 0; i < n; ++i) {
      const double v = x.value[static_cast<size_t>(base + i * inner)], e = x.bound_at(base + i * inner);
      finite = finite && std::isfinite(v);
      terms.push_back(euclid ? v * v : std::fabs(v));
      norm += terms.back();
      moved += euclid ? e * e : e;
    }
    if (euclid) norm = std::sqrt(norm), moved = std::sqrt(moved);
    const double growth = c.bounds ? (sum_growth(terms, sums.u) + 10.0) * sums.u : 0;
    for (int64_t i = 0; i < n; ++i) {
      const int64_t at = base + i * inner;
      const double y = norm == 0 ? 0.0 : x.value[static_cast<size_t>(at)] / norm;
      out.value[static_cast<size_t>(at)] = y;
      if (!c.bounds) continue;
      // A quotient by its own norm never leaves [-1, 1], so 2 is the largest error there is, but of what may be infinite.
      const double change = moved < norm ? (x.bound_at(at) + std::fabs(y) * moved) / (norm - moved) : moved > 0 ? 2.0 : 0.0;
      out.bound[static_cast<size_t>(at)] = std::min(2.0, change + growth * (std::fabs(y) + change));
      const double lowest = euclid ? sums.least_root : sums.flush, highest = euclid ? sums.most_root : sums.beyond;  // where squares, or sums, are numbers
      if ((finite && norm != 0 && !(norm > lowest && norm + moved < highest)) || x.bound_at(at) == HUGE_VAL)
        leave_open(out.value[static_cast<size_t>(at)], out.bound[static_cast<size_t>(at)]);
    }
  }
  finish_bounds(out);
}

void infer_mvn(InferContext& c) {
  for (int64_t axis : c.node.attr_ints("axes", {0, 2, 3})) c.normalized_axis(axis, c.shape(0).size());
  infer_same(c);
}

// (x - mean) / (sqrt(E[(x - mean)^2]) + 1e-9) over `axes`.
void eval_mvn(EvalContext& c) {
  const RefTensor& x = c.in(0);
  std::vector<bool> reduced(x.shape.size(), false);
  for (int64_t axis : c.node.attr_ints("axes", {0, 2, 3})) reduced[static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(x.shape.size()) : axis)] = true;
  int64_t groups = 1;
  for (size_t d = 0; d < x.shape.size(); ++d) groups *= reduced[d] ? 1 : x.shape[d];
  std::vector<std::vector<int64_t>> members(static_cast<size_t>(groups));
  for (int64_t i = 0; i < x.numel(); ++i) {
    int64_t rest = i, group = 0, scale = 1;
    for (size_t d = x.shape.size(); d-- > 0; rest /= x.shape[d])
      if (!reduced[d]) group += rest % x.shape[d] * scale, scale *= x.shape[d];
    members[static_cast<size_t>(group)].push_back(i);
  }
  RefTensor& out = float_output(c, 0);
  const SumType sums = sum_type(out.dtype);
  for (const auto& member : members) {
    const auto n = static_cast<double>(member.size());
    double mean = 0, mean_abs = 0, mean_moved = 0, squares = 0, moved = 0;
    for (int64_t i : member) {
      mean += x.value[static_cast<size_t>(i)] / n;
      mean_abs += std::fabs(x.value[static_cast<size_t>(i)]) / n;
      mean_moved += x.bound_at(i) / n;
    }
    std::vector<double> values, terms;
    for (int64_t i : member) {
      values.push_back(x.value[static_cast<size_t>(i)]);
      terms.push_back(std::pow(values.back() - mean, 2));
      squares += terms.back();
      moved += std::pow(x.bound_at(i) + mean_moved, 2);
    }
    const double scale = std::sqrt(squares / n) + 1e-9, scale_moved = std::sqrt(moved / n);
    const double lowest = std::max(scale - scale_moved, 1e-9), growth = (std::max(sum_growth(values, sums.u), sum_growth(terms, sums.u)) + 8.0) * sums.u;
    for (int64_t i : member) {
      const double v = x.value[static_cast<size_t>(i)], y = (v - mean) / scale;
      out.value[static_cast<size_t>(i)] = y;
      if (!c.bounds) continue;
      // The definition subtracts E[x]^2 from E[x^2]; a kernel must be better than that, as for LayerNormalization.
      const double change = (x.bound_at(i) + mean_moved + std::fabs(y) * scale_moved) / lowest;
      if (squares >= sums.beyond || mean_abs * mean_abs * n >= sums.beyond) {
        leave_open(out.value[static_cast<size_t>(i)], out.bound[static_cast<size_t>(i)]);
        continue;
      }
      out.bound[static_cast<size_t>(i)] = (1.0 + growth) * change + growth * ((std::fabs(v) + mean_abs) / scale + std::fabs(y)) + n * sums.step / scale;
    }
  }
  finish_bounds(out);
}

void infer_lrn(InferContext& c) {
  if (c.shape(0).size() < 3) throw Refusal(fmt::format("LRN of an input of rank {}", c.shape(0).size()));
  if (c.node.attr_int("size", 0) < 1) throw Refusal("LRN without a size");
  infer_same(c);
}

// x / (bias + alpha / size * sum of squares over `size` neighbouring channels)^beta.
void eval_lrn(EvalContext& c) {
  const RefTensor& x = c.in(0);
  const int64_t channels = x.shape[1], plane = plane_size(x.shape), size = c.node.attr_int("size", 1);
  const double alpha = c.node.attr_float("alpha", 1e-4) / static_cast<double>(size);
  const double beta = c.node.attr_float("beta", 0.75), bias = c.node.attr_float("bias", 1.0);
  RefTensor& out = float_output(c, 0);
  const SumType sums = sum_type(out.dtype);
#pragma omp parallel for if (worth_threads(x.numel()))
  for (int64_t i = 0; i < x.shape[0] * channels; ++i) {
    const int64_t ch = i % channels;
    const int64_t first = std::max<int64_t>(0, ch - (size - 1) / 2), last = std::min(channels - 1, ch + size / 2);
    for (int64_t p = 0; p < plane; ++p) {
      double squares = 0, moved = 0;
      bool finite = true;
      for (int64_t k = first; k <= last; ++k) {
        const int64_t at = (i - ch + k) * plane + p;
        const double v = std::fabs(x.value[static_cast<size_t>(at)]), e = x.bound_at(at);
        finite = finite && std::isfinite(v);
        squares += v * v;
        moved += (2 * v + e) * e;
      }
      const int64_t at = i * plane + p;
      const double v = x.value[static_cast<size_t>(at)], y = v / std::pow(bias + alpha * squares, beta);
      out.value[static_cast<size_t>(at)] = y;
      if (!c.bounds) continue;
      // Squares may underflow, and what alpha makes of them.
      const double lost = (static_cast<double>(size) * (std::fabs(alpha) + 1) + 1) * sums.step;
      const double steepest = 1.0 / std::pow(std::max(0.0, bias + std::fabs(alpha) * std::max(0.0, squares - moved) - lost), beta);
      const double flattest = 1.0 / std::pow(bias + std::fabs(alpha) * (squares + moved) + lost, beta);
      const double change = (x.bound_at(at) == 0 ? 0 : x.bound_at(at) * steepest) + (v == 0 ? 0 : std::fabs(v) * (steepest - flattest));
      // The sum's error enters through the power, pow itself costs a few units.
      out.bound[static_cast<size_t>(at)] = change + (beta * dot_growth(size, sums.u) + 10.0 * sums.u) * (std::fabs(y) + change) + sums.flush;
      if (finite && squares + moved >= sums.beyond) leave_open(out.value[static_cast<size_t>(at)], out.bound[static_cast<size_t>(at)]);
    }
  }
  finish_bounds(out);
}

}  // namespace

std::vector<OpDef> channel_norm_ops() {
  return {
      {"", "BatchNormalization", "fffff", infer_batch_norm, eval_batch_norm, 5, {}, write_out_training},
      {"", "LpNormalization", "f", infer_lp_norm, eval_lp_norm},
      {"", "MeanVarianceNormalization", "f", infer_mvn, eval_mvn},
      {"", "LRN", "f", infer_lrn, eval_lrn},
  };
}

}  // namespace amdahl

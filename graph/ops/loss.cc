// SoftmaxCrossEntropyLoss and NegativeLogLikelihoodLoss: scores N x C x positions, a class number for each position.

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/printable.h"
#include "graph/ops/eval_support.h"
#include "graph/ops/families.h"
#include "graph/ops/softmax.h"

namespace amdahl {
namespace {

void infer_loss(InferContext& c) {
  require_float(c, 0);
  const Shape& x = c.shape(0);
  if (x.size() < 2) throw Refusal(fmt::format("{} of scores of rank {}", c.node.op, x.size()));
  Shape labels = x;
  labels.erase(labels.begin() + 1);
  if (c.shape(1) != labels) throw Refusal(fmt::format("labels {} for scores {}", to_string(c.shape(1)), to_string(x)));
  if (is_float(c.dtype(1))) throw Refusal("labels must be integers");
  if (c.has_input(2) && c.shape(2) != Shape{x[1]}) throw Refusal(fmt::format("weights {} for {} classes", to_string(c.shape(2)), x[1]));
  const std::string reduction = c.node.attr_string("reduction", "mean");
  if (reduction != "none" && reduction != "mean" && reduction != "sum") throw Refusal("unknown reduction " + reduction);
  c.set_output(0, c.dtype(0), reduction == "none" ? labels : Shape{});
  if (c.node.op == "SoftmaxCrossEntropyLoss") c.set_output(1, c.dtype(0), x);
}

// log(softmax) along dimension 1.
RefTensor log_probabilities(const RefTensor& x, bool bounds) {
  RefTensor out = x;
  if (bounds) out.bound.assign(x.value.size(), 0.0);
  const int64_t classes = x.shape[1], plane = x.numel() / std::max<int64_t>(1, x.shape[0] * classes);
#pragma omp parallel if (worth_threads(x.numel()))
  {
    const auto n = static_cast<size_t>(classes);
    std::vector<double> row(n), e(x.bound.empty() ? 0 : n), y(n), y_bound(bounds ? n : 0);
#pragma omp for
    for (int64_t r = 0; r < x.shape[0] * plane; ++r) {
      const int64_t base = r / plane * classes * plane + r % plane;
      for (int64_t i = 0; i < classes; ++i) {
        row[static_cast<size_t>(i)] = x.value[static_cast<size_t>(base + i * plane)];
        if (!e.empty()) e[static_cast<size_t>(i)] = x.bound_at(base + i * plane);
      }
      log_softmax_row(row, e, y, y_bound, sum_type(x.dtype));
      for (int64_t i = 0; i < classes; ++i) {
        out.value[static_cast<size_t>(base + i * plane)] = y[static_cast<size_t>(i)];
        if (bounds) out.bound[static_cast<size_t>(base + i * plane)] = y_bound[static_cast<size_t>(i)];
      }
    }
  }
  return out;
}

// loss_i = -weight[label_i] * log_p[label_i]; reduced to a sum, or a mean weighted by the same weights.
void negative_log_likelihood(EvalContext& c, const RefTensor& log_p) {
  const RefTensor& labels = c.in(1);
  const RefTensor* weights = c.has_input(2) ? c.inputs[2] : nullptr;
  const std::string reduction = c.node.attr_string("reduction", "mean");
  const bool ignores = c.node.has("ignore_index");
  const int64_t ignored = c.node.attr_int("ignore_index", 0);
  const int64_t classes = log_p.shape[1], positions = labels.numel();
  const int64_t plane = positions / std::max<int64_t>(1, log_p.shape[0]);
  RefTensor& out = float_output(c, 0);
  const SumType sums = sum_type(out.dtype);
  double sum = 0, magnitude = 0, moved = 0, weight_sum = 0, weight_moved = 0;
  for (int64_t i = 0; i < positions; ++i) {
    const int64_t label = labels.ints[static_cast<size_t>(i)];
    const bool is_open = labels.bound_at(i) > 0;  // it may be another one
    if (is_open) moved = HUGE_VAL;
    if (is_open && reduction == "none" && c.bounds) out.bound[static_cast<size_t>(i)] = HUGE_VAL;
    if (ignores && label == ignored) continue;
    if (label < 0 || label >= classes)
      throw Error(ExitCode::kBadInput, fmt::format("node '{}' ({}): label {} is not one of {} classes", shown(c.node.name), c.node.op, label, classes));
    const int64_t at = (i / plane * classes + label) * plane + i % plane;
    const double w = weights ? weights->value[static_cast<size_t>(label)] : 1.0, ew = weights ? weights->bound_at(label) : 0.0;
    const double lp = log_p.value[static_cast<size_t>(at)], e = log_p.bound_at(at), loss = -w * lp;
    const double loss_moved = std::fabs(w) * e + ew * (std::fabs(lp) + e);
    if (reduction == "none") {
      out.value[static_cast<size_t>(i)] = loss;
      if (c.bounds && !is_open) out.bound[static_cast<size_t>(i)] = loss_moved + (weights ? 2 * sums.u * std::fabs(loss) : 0.0);
    }
    sum += loss;
    if (std::isfinite(loss)) magnitude += std::fabs(loss);
    moved += loss_moved;
    weight_sum += w;
    weight_moved += ew;
  }
  if (reduction == "none") return;
  const double growth = dot_growth(positions, sums.u), divisor = reduction == "mean" ? weight_sum : 1.0;
  out.value[0] = sum / divisor;
  if (!c.bounds) return;
  const double sum_error = moved + growth * (magnitude + moved);
  const double divisor_error = reduction == "mean" ? weight_moved + (weights ? growth * weight_sum : 0.0) : 0.0;
  const double lowest = divisor - divisor_error;
  out.bound[0] = lowest > 0 ? (sum_error + std::fabs(out.value[0]) * divisor_error) / lowest + 2 * sums.u * std::fabs(out.value[0])
                            : std::numeric_limits<double>::infinity();
  if (moved < HUGE_VAL && magnitude + moved >= sums.beyond) leave_open(out.value[0], out.bound[0]);
}

void eval_cross_entropy(EvalContext& c) {
  RefTensor log_p = log_probabilities(c.in(0), c.bounds);
  negative_log_likelihood(c, log_p);
  finish_bounds(c.out(0));
  if (c.outputs.size() < 2 || c.node.outputs[1] == kNoValue) return;
  c.out(1) = std::move(log_p);
  finish_bounds(c.out(1));
}

void eval_nll(EvalContext& c) {
  negative_log_likelihood(c, c.in(0));
  finish_bounds(c.out(0));
}

}  // namespace

std::vector<OpDef> loss_ops() {
  return {
      {"", "SoftmaxCrossEntropyLoss", "fiF", infer_loss, eval_cross_entropy, 2},
      {"", "NegativeLogLikelihoodLoss", "fiF", infer_loss, eval_nll},
  };
}

}  // namespace amdahl

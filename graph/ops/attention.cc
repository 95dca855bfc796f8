// Attention (opset 23): softmax(scale * Q K^T + mask) V, with grouped key/value heads. A key/value cache is written out before (attention_cache.cc).

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "graph/ops/eval_support.h"
#include "graph/ops/families.h"
#include "graph/ops/fused_attention.h"
#include "graph/ops/softmax.h"

namespace amdahl {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Q is [batch, q_heads, queries, head] or [batch, queries, q_heads * head]; K and V likewise with kv_heads and keys.
struct AttentionShape {
  int64_t batch, q_heads, kv_heads, queries, keys, head, v_head;
  bool heads_inside;

  AttentionShape(const Node& node, const Shape& q, const Shape& k, const Shape& v) {
    if (q.size() != k.size() || q.size() != v.size() || (q.size() != 3 && q.size() != 4))
      throw Refusal(fmt::format("Attention of {}, {}, {}", to_string(q), to_string(k), to_string(v)));
    heads_inside = q.size() == 3;
    batch = q[0];
    q_heads = heads_inside ? node.attr_int("q_num_heads", 0) : q[1];
    kv_heads = heads_inside ? node.attr_int("kv_num_heads", 0) : k[1];
    if (q_heads < 1 || kv_heads < 1 || q_heads % kv_heads != 0) throw Refusal(fmt::format("Attention with {} query heads on {} key heads", q_heads, kv_heads));
    queries = q[q.size() - 2];
    keys = k[k.size() - 2];
    head = heads_inside ? q[2] / q_heads : q[3];
    v_head = heads_inside ? v[2] / kv_heads : v[3];
    const int64_t k_head = heads_inside ? k[2] / kv_heads : k[3];
    if (k[0] != batch || v[0] != batch || k_head != head || v[v.size() - 2] != keys ||
        (heads_inside && (q[2] % q_heads != 0 || k[2] % kv_heads != 0 || v[2] % kv_heads != 0)))
      throw Refusal(fmt::format("Attention of {}, {}, {}", to_string(q), to_string(k), to_string(v)));
  }
  Shape output() const { return heads_inside ? Shape{batch, queries, q_heads * v_head} : Shape{batch, q_heads, queries, v_head}; }
};

void infer_attention(InferContext& c) {
  for (size_t i = 0; i < 3; ++i) require_float(c, i);
  const AttentionShape s(c.node, c.shape(0), c.shape(1), c.shape(2));
  if (c.has_input(3)) {
    const Shape scores{s.batch, s.q_heads, s.queries, s.keys};
    if (c.dtype(3) != DType::kBool) require_float(c, 3);
    if (broadcast(c.shape(3), scores) != scores) throw Refusal(fmt::format("mask {} for scores {}", to_string(c.shape(3)), to_string(scores)));
  }
  c.set_output(0, c.dtype(0), s.output());
}

// Rows [positions x width] of one head, copied together when heads lie inside the rows.
std::vector<double> head_rows(const std::vector<double>& x, bool inside, int64_t b, int64_t h, int64_t heads, int64_t positions, int64_t width) {
  if (x.empty()) return {};
  std::vector<double> out(static_cast<size_t>(positions * width));
  for (int64_t p = 0; p < positions; ++p) {
    const int64_t from = (inside ? (b * positions + p) * heads + h : (b * heads + h) * positions + p) * width;
    std::copy_n(x.begin() + from, width, out.begin() + p * width);
  }
  return out;
}

// Offset into the mask of (b, h, q, k), dimensions of size 1 repeated.
int64_t mask_at(const Shape& mask, int64_t b, int64_t h, int64_t q, int64_t k) {
  const int64_t index[4] = {b, h, q, k};
  int64_t at = 0;
  for (size_t d = 0; d < mask.size(); ++d) {
    const int64_t i = index[4 - mask.size() + d];
    at = at * mask[d] + (mask[d] == 1 ? 0 : i);
  }
  return at;
}

struct Scores {
  std::vector<double> value, bound;
};

// Scale, soft cap, then mask: in place on one head's scores.
void finish_scores(const EvalContext& c, const AttentionShape& s, int64_t b, int64_t h, Scores& scores) {
  const double scale = c.node.has("scale") ? c.node.attr_float("scale", 1) : 1.0 / std::sqrt(static_cast<double>(s.head));
  const double cap = c.node.attr_float("softcap", 0.0);
  const bool causal = c.node.attr_int("is_causal", 0) != 0;
  const RefTensor* mask = c.has_input(3) ? c.inputs[3] : nullptr;
  const SumType sums = sum_type(c.in(0).dtype);
  for (int64_t i = 0; i < s.queries; ++i)
    for (int64_t j = 0; j < s.keys; ++j) {
      const auto at = static_cast<size_t>(i * s.keys + j);
      double v = scores.value[at] * scale, e = c.bounds ? scores.bound[at] * std::fabs(scale) : 0.0;
      // Before it is scaled, or scaled before it is summed.
      if (c.bounds && std::fabs(scores.value[at]) + scores.bound[at] >= sums.beyond) leave_open(v, e);
      e += 2 * sums.u * std::fabs(v);  // the scale may be applied to Q and K as its square root
      if (cap > 0) {
        v = cap * std::tanh(v / cap);
        e += 6 * sums.u * std::fabs(v);  // tanh has slope at most one
      }
      if (mask) {
        const int64_t m = mask_at(mask->shape, b, h, i, j);
        if (mask->is_float()) {
          v += mask->value[static_cast<size_t>(m)];
          e += mask->bound_at(m);
          // A score that may be infinite, less infinity, may be no number; and a sum beyond the type is infinite.
          if (c.bounds && (std::isinf(e) || (std::isfinite(v) && std::fabs(v) >= sums.beyond))) leave_open(v, e);
          else if (std::isfinite(v)) e += sums.u * std::fabs(v);
        } else if (!mask->ints[static_cast<size_t>(m)]) {
          v = -kInfinity;
        }
      }
      if (causal && j > i) v = -kInfinity;
      scores.value[at] = v;
      if (c.bounds) scores.bound[at] = std::isfinite(v) ? e : 0.0;
    }
}

void attend_head(EvalContext& c, const AttentionShape& s, int64_t b, int64_t h) {
  const int64_t kv = h / (s.q_heads / s.kv_heads);
  const auto rows = [&](size_t input, bool bound, int64_t head, int64_t heads, int64_t positions, int64_t width) {
    return head_rows(bound ? c.in(input).bound : c.in(input).value, s.heads_inside, b, head, heads, positions, width);
  };
  const auto q = rows(0, false, h, s.q_heads, s.queries, s.head), q_bound = rows(0, true, h, s.q_heads, s.queries, s.head);
  const auto k = transposed(rows(1, false, kv, s.kv_heads, s.keys, s.head), s.keys, s.head);
  const auto k_bound = transposed(rows(1, true, kv, s.kv_heads, s.keys, s.head), s.keys, s.head);
  const auto v = rows(2, false, kv, s.kv_heads, s.keys, s.v_head), v_bound = rows(2, true, kv, s.kv_heads, s.keys, s.v_head);
  const auto product = [](int64_t m, int64_t n, int64_t depth) {
    return [=](const double* x, const double* y, const double*, double* out) { gemm_f64(m, n, depth, x, y, out); };
  };

  const auto size = static_cast<size_t>(s.queries * s.keys);
  Scores scores{std::vector<double>(size), std::vector<double>(c.bounds ? size : 0)}, weights = scores;
  bounded_bilinear(product(s.queries, s.keys, s.head), {q, q_bound}, {k, k_bound}, {}, s.head, c.products.rounding, sum_type(c.out(0).dtype),
                   s.queries * s.keys, scores.value.data(), c.bounds ? scores.bound.data() : nullptr);
  finish_scores(c, s, b, h, scores);
  for (int64_t i = 0; i < s.queries; ++i) {
    const auto from = static_cast<size_t>(i * s.keys), n = static_cast<size_t>(s.keys);
    const auto part = [&](std::vector<double>& x) { return x.empty() ? std::span<double>() : std::span(x).subspan(from, n); };
    const auto row = part(scores.value);
    if (std::all_of(row.begin(), row.end(), [](double v) { return v == -kInfinity; })) continue;  // sees nothing: zeros
    softmax_row(row, part(scores.bound), part(weights.value), part(weights.bound), sum_type(c.out(0).dtype));
  }
  std::vector<double> y(static_cast<size_t>(s.queries * s.v_head)), y_bound(c.bounds ? y.size() : 0);
  bounded_bilinear(product(s.queries, s.v_head, s.keys), {weights.value, weights.bound}, {v, v_bound}, {}, s.keys, c.products.rounding,
                   sum_type(c.out(0).dtype), s.queries * s.v_head, y.data(), c.bounds ? y_bound.data() : nullptr);
  if (c.bounds)
    settle_undivided(product(s.queries, s.v_head, s.keys), weights.value, v, s.keys, sum_type(c.out(0).dtype), s.queries * s.v_head, y.data(), y_bound.data());
  for (int64_t i = 0; i < s.queries; ++i) {
    const int64_t to = (s.heads_inside ? (b * s.queries + i) * s.q_heads + h : (b * s.q_heads + h) * s.queries + i) * s.v_head;
    std::copy_n(y.begin() + i * s.v_head, s.v_head, c.out(0).value.begin() + to);
    if (c.bounds) std::copy_n(y_bound.begin() + i * s.v_head, s.v_head, c.out(0).bound.begin() + to);
  }
}

void eval_attention(EvalContext& c) {
  const AttentionShape s(c.node, c.in(0).shape, c.in(1).shape, c.in(2).shape);
  RefTensor& out = float_output(c, 0);
#pragma omp parallel for schedule(dynamic) if (s.batch * s.q_heads > 1 && worth_threads(s.batch * s.q_heads * s.queries * s.keys))
  for (int64_t i = 0; i < s.batch * s.q_heads; ++i) attend_head(c, s, i / s.q_heads, i % s.q_heads);
  if (c.has_input(3) && !c.in(3).is_float() && is_uncertain(c.in(3))) std::fill(out.bound.begin(), out.bound.end(), kInfinity);  // other keys may be seen
  finish_bounds(out);
}

}  // namespace

std::vector<OpDef> attention_ops() { return {{"", "Attention", "fffAFFI", infer_attention, eval_attention, 4, {}, write_out_cache}}; }

}  // namespace amdahl

// RotaryEmbedding: the form of opset 23 and the older one of com.microsoft, which differ in the order of inputs.

#include <fmt/format.h>

#include "base/error.h"
#include "base/printable.h"
#include "graph/ops/eval_support.h"
#include "graph/ops/families.h"

namespace amdahl {
namespace {

// Where element (batch, head, position, i) of X lies, and which row of the caches turns it.
struct RotaryShape {
  int64_t batch, heads, positions, head_size, rotated;
  bool heads_inside;  // [batch, positions, heads * head_size] instead of [batch, heads, positions, head_size]
  bool interleaved;
  size_t cos, sin, ids;  // input numbers

  int64_t at(int64_t b, int64_t h, int64_t p) const { return (heads_inside ? (b * positions + p) * heads + h : (b * heads + h) * positions + p) * head_size; }
};

RotaryShape rotary_shape(const Node& node, const Shape& x, const Shape& cos) {
  RotaryShape s;
  const bool microsoft = node.domain == "com.microsoft";
  s.cos = microsoft ? 2 : 1, s.sin = microsoft ? 3 : 2, s.ids = microsoft ? 1 : 3;
  s.interleaved = node.attr_int("interleaved", 0) != 0;
  s.heads_inside = x.size() == 3;
  const int64_t dim = node.attr_int("rotary_embedding_dim", 0);
  if (cos.empty()) throw Refusal("the cosine cache is a scalar");
  if (x.size() == 4) {
    s.batch = x[0], s.heads = x[1], s.positions = x[2], s.head_size = x[3];
  } else if (x.size() == 3) {
    // com.microsoft may leave num_heads out when the whole head is rotated: the caches then tell the head size.
    s.heads = node.attr_int("num_heads", 0);
    if (s.heads == 0 && microsoft && dim == 0) s.heads = x[2] / std::max<int64_t>(1, 2 * cos.back());
    if (s.heads < 1 || x[2] % s.heads != 0) throw Refusal(fmt::format("RotaryEmbedding of {} with num_heads = {}", to_string(x), s.heads));
    s.batch = x[0], s.positions = x[1], s.head_size = x[2] / s.heads;
  } else {
    throw Refusal(fmt::format("RotaryEmbedding of an input of rank {}", x.size()));
  }
  s.rotated = dim > 0 ? dim : s.head_size;
  if (s.rotated % 2 != 0 || s.rotated > s.head_size || cos.back() != s.rotated / 2)
    throw Refusal(fmt::format("caches {} do not fit a rotation of {} of {} elements", to_string(cos), s.rotated, s.head_size));
  return s;
}

void infer_rotary(InferContext& c) {
  const bool microsoft = c.node.domain == "com.microsoft";
  const size_t cos = microsoft ? 2 : 1, sin = microsoft ? 3 : 2;
  require_float(c, 0);
  require_float(c, cos);
  require_float(c, sin);
  if (c.shape(cos) != c.shape(sin)) throw Refusal("cosine and sine caches differ in shape");
  if (c.node.attr_int("is_packed_batching", 0) != 0) throw Refusal("packed batching is not supported");
  const RotaryShape s = rotary_shape(c.node, c.shape(0), c.shape(cos));
  if (c.has_input(s.ids)) {
    const Shape& ids = c.shape(s.ids);
    const bool offset = microsoft && ids.size() <= 1 && numel(ids) == 1;
    if (!offset && ids != Shape{s.batch, s.positions}) throw Refusal("position_ids " + to_string(ids) + " do not fit");
    if (c.shape(cos).size() != 2) throw Refusal("caches that position_ids look up must be matrices");
  } else if (microsoft) {
    throw Refusal("position_ids are missing");
  } else if (c.shape(cos) != Shape{s.batch, s.positions, s.rotated / 2}) {
    throw Refusal(fmt::format("caches {} without position_ids", to_string(c.shape(cos))));
  }
  c.set_output(0, c.dtype(0), c.shape(0));
}

// Row of the caches for (batch, position).
int64_t cache_row(const EvalContext& c, const RotaryShape& s, int64_t b, int64_t p) {
  if (!c.has_input(s.ids)) return b * s.positions + p;
  const RefTensor& ids = c.in(s.ids);
  const bool offset = ids.shape.size() <= 1 && ids.numel() == 1 && c.node.domain == "com.microsoft";
  const int64_t row = offset ? ids.ints[0] + p : ids.ints[static_cast<size_t>(b * s.positions + p)];
  if (row < 0 || row >= c.in(s.cos).shape[0])
    throw Error(ExitCode::kBadInput,
                fmt::format("node '{}' ({}): position {} is outside the caches of {}", shown(c.node.name), c.node.op, row, c.in(s.cos).shape[0]));
  return row;
}

void eval_rotary(EvalContext& c) {
  const RefTensor& x = c.in(0);
  const RotaryShape s = rotary_shape(c.node, x.shape, c.in(c.node.domain == "com.microsoft" ? 2 : 1).shape);
  const RefTensor &cos = c.in(s.cos), &sin = c.in(s.sin);
  RefTensor& out = float_output(c, 0);
  out.value = x.value;  // what is not rotated passes through
  if (c.bounds && !x.bound.empty()) out.bound = x.bound;
  const int64_t half = s.rotated / 2;
  const SumType sums = sum_type(out.dtype);
  // a * ca + b * cb: two products and a sum, each rounded.
  const auto put = [&](int64_t to, int64_t a, const RefTensor& ca, double sign, int64_t b, const RefTensor& cb, int64_t k) {
    const auto uk = static_cast<size_t>(k);
    const double va = x.value[static_cast<size_t>(a)], vb = x.value[static_cast<size_t>(b)];
    const double wa = ca.value[uk], wb = cb.value[uk], ea = x.bound_at(a), eb = x.bound_at(b);
    out.value[static_cast<size_t>(to)] = va * wa + sign * vb * wb;
    if (!c.bounds) return;
    const double magnitude = std::fabs(va * wa) + std::fabs(vb * wb);
    const double upper = (std::fabs(va) + ea) * (std::fabs(wa) + ca.bound_at(k)) + (std::fabs(vb) + eb) * (std::fabs(wb) + cb.bound_at(k));
    out.bound[static_cast<size_t>(to)] = upper - magnitude + 2.0 * sums.u * upper + 2 * sums.step;
    if (std::isfinite(va) && std::isfinite(vb) && std::isfinite(wa) && std::isfinite(wb))
      settle_sum(out.value[static_cast<size_t>(to)], out.bound[static_cast<size_t>(to)], upper, sums.beyond);
  };
  for (int64_t b = 0; b < s.batch; ++b)
    for (int64_t p = 0; p < s.positions; ++p) {
      const int64_t row = cache_row(c, s, b, p) * half;
      for (int64_t h = 0; h < s.heads; ++h)
        for (int64_t i = 0; i < half; ++i) {
          const int64_t first = s.at(b, h, p) + (s.interleaved ? 2 * i : i), second = first + (s.interleaved ? 1 : half);
          put(first, first, cos, -1.0, second, sin, row + i);
          put(second, first, sin, 1.0, second, cos, row + i);
        }
    }
  if (c.has_input(s.ids) && is_uncertain(c.in(s.ids))) std::fill(out.bound.begin(), out.bound.end(), HUGE_VAL);  // other rows of the caches may turn it
  finish_bounds(out);
}

}  // namespace

std::vector<OpDef> rotary_ops() {
  return {
      {"", "RotaryEmbedding", "fffI", infer_rotary, eval_rotary},
      {"com.microsoft", "RotaryEmbedding", "fiff", infer_rotary, eval_rotary},
  };
}

}  // namespace amdahl

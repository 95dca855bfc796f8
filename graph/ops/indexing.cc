// OneHot, CumSum, Trilu, EyeLike, ReverseSequence, Compress, NonZero; scatters and rankings are in files of their own.

#include <fmt/format.h>

#include "base/error.h"
#include "graph/ops/copy.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/eval_support.h"
#include "graph/ops/families.h"

namespace amdahl {
namespace {

// ---- OneHot.

void infer_one_hot(InferContext& c) {
  const std::vector<int64_t> depth = c.constant_ints(1, "the depth");
  Shape out = c.shape(0);
  const int64_t axis = c.normalized_axis(c.node.attr_int("axis", -1), out.size() + 1);
  if (depth.size() != 1 || depth[0] < 1) throw Refusal("the depth must be one positive number");
  if (c.shape(2) != Shape{2}) throw Refusal("the values must be a pair");
  out.insert(out.begin() + axis, depth[0]);
  c.set_output(0, c.dtype(2), out);
}

// Truncated; what no class can be is -infinity's stand-in.
int64_t whole(double v) { return std::fabs(v) < 0x1p62 ? static_cast<int64_t>(v) : INT64_MIN; }

void eval_one_hot(EvalContext& c) {
  const RefTensor &indices = c.in(0), &values = c.in(2);
  RefTensor& out = c.out(0);
  const size_t axis = axis_of(c.node.attr_int("axis", -1), out.shape.size());
  const int64_t depth = out.shape[axis], outer = product(out.shape, 0, axis), inner = product(out.shape, axis + 1, out.shape.size());
  const auto n = static_cast<size_t>(out.numel());
  if (out.is_float()) out.value.assign(n, values.value[0]);
  else out.ints.assign(n, values.ints[0]);
  const bool uncertain = !indices.bound.empty();
  if (c.bounds && (uncertain || !values.bound.empty())) out.bound.assign(n, values.bound_at(0));
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i) {
      const int64_t from = o * inner + i;
      int64_t hot = indices.is_float() ? whole(indices.value[static_cast<size_t>(from)]) : indices.ints[static_cast<size_t>(from)];
      if (hot < 0) hot += depth;
      for (int64_t d = 0; uncertain && indices.bound_at(from) > 0 && d < depth; ++d) out.bound[static_cast<size_t>((o * depth + d) * inner + i)] = HUGE_VAL;
      if (hot < 0 || hot >= depth) continue;  // all off
      const auto to = static_cast<size_t>((o * depth + hot) * inner + i);
      if (out.is_float()) out.value[to] = values.value[1];
      else out.ints[to] = values.ints[1];
      if (!out.bound.empty()) out.bound[to] = std::fmax(out.bound[to] == HUGE_VAL ? HUGE_VAL : 0.0, values.bound_at(1));
    }
}

// ---- CumSum.

void infer_cum_sum(InferContext& c) {
  const std::vector<int64_t> axis = c.constant_ints(1, "the axis");
  if (axis.size() != 1 || c.shape(0).empty()) throw Refusal("needs one axis");
  c.normalized_axis(axis[0], c.shape(0).size());
  infer_same(c);
}

void eval_cum_sum(EvalContext& c) {
  const RefTensor& in = c.in(0);
  RefTensor& out = c.out(0);
  const size_t axis = axis_of(c.in(1).ints.at(0), in.shape.size());
  const bool exclusive = c.node.attr_int("exclusive", 0) != 0, reverse = c.node.attr_int("reverse", 0) != 0;
  const int64_t outer = product(in.shape, 0, axis), size = in.shape[axis], inner = product(in.shape, axis + 1, in.shape.size());
  const auto n = static_cast<size_t>(out.numel());
  const Precision p = precision_of(out.dtype);
  const double beyond = sum_type(in.dtype).beyond;
  if (in.is_float()) out.value.resize(n);
  else out.ints.resize(n);
  if (in.is_float() ? c.bounds : !in.bound.empty()) out.bound.resize(n);
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i) {
      double sum = 0, magnitude = 0, moved = 0;
      uint64_t whole = 0;
      for (int64_t k = 0; k < size; ++k) {
        const auto at = static_cast<size_t>((o * size + (reverse ? size - 1 - k : k)) * inner + i);
        const double terms = static_cast<double>(exclusive ? k : k + 1);
        const auto store = [&] {
          if (in.is_float()) out.value[at] = sum;
          else out.ints[at] = wrap(out.dtype, static_cast<int64_t>(whole));
          if (out.bound.empty()) return;
          if (!in.is_float()) out.bound[at] = moved > 0 ? HUGE_VAL : 0;
          else if (!(magnitude + moved < beyond) && (in.dtype == DType::kF64 || !std::isnan(sum)))
            settle_sum(out.value[at], out.bound[at], magnitude + moved, beyond);
          else if (std::isfinite(sum)) out.bound[at] = moved + (terms > 1 ? (3 * std::sqrt(terms) + 4) * p.u * magnitude + p.store * std::fabs(sum) : 0);
        };
        if (exclusive) store();
        if (in.is_float()) {
          sum += in.value[at];
          if (std::isfinite(in.value[at])) magnitude += std::fabs(in.value[at]);
        } else {
          whole += static_cast<uint64_t>(in.ints[at]);
        }
        moved += in.bound_at(static_cast<int64_t>(at));
        if (!exclusive) store();
      }
    }
}

// ---- Trilu, EyeLike.

void infer_trilu(InferContext& c) {
  if (c.shape(0).size() < 2) throw Refusal("input must be a matrix");
  if (c.has_input(1) && c.constant(1, "the diagonal").numel() != 1) throw Refusal("needs one diagonal");
  infer_same(c);
}

void eval_trilu(EvalContext& c) {
  const Shape& shape = c.in(0).shape;
  const int64_t diagonal = c.has_input(1) ? c.in(1).ints.at(0) : 0;
  const bool upper = c.node.attr_int("upper", 1) != 0;
  const int64_t rows = shape[shape.size() - 2], columns = shape.back(), batch = product(shape, 0, shape.size() - 2);
  copy_planes(c.in(0), c.out(0), [&](const auto* from, auto* to) {
    for (int64_t r = 0; r < batch * rows; ++r)
      for (int64_t j = 0; j < columns; ++j, ++from, ++to) {
        const int64_t above = j - r % rows;
        *to = (upper ? above >= diagonal : above <= diagonal) ? *from : 0;
      }
  });
}

void infer_eye_like(InferContext& c) {
  if (c.shape(0).size() != 2) throw Refusal("input must be a matrix");
  c.set_output(0, c.node.has("dtype") ? dtype_from_onnx(c.node.attr_int("dtype", 1)) : c.dtype(0), c.shape(0));
}

void eval_eye_like(EvalContext& c) {
  RefTensor& out = c.out(0);
  const auto n = static_cast<size_t>(out.numel());
  if (out.is_float()) out.value.assign(n, 0.0);
  else out.ints.assign(n, 0);
  const int64_t k = std::clamp<int64_t>(c.node.attr_int("k", 0), -out.shape[0], out.shape[1]);
  for (int64_t r = 0; r < out.shape[0]; ++r) {
    if (r + k < 0 || r + k >= out.shape[1]) continue;
    const auto at = static_cast<size_t>(r * out.shape[1] + r + k);
    if (out.is_float()) out.value[at] = 1;
    else out.ints[at] = 1;
  }
}

// ---- ReverseSequence: the first lengths[b] steps of each sequence backwards.

void infer_reverse_sequence(InferContext& c) {
  const int64_t batch = c.node.attr_int("batch_axis", 1), time = c.node.attr_int("time_axis", 0);
  const bool first_two = (batch == 0 && time == 1) || (batch == 1 && time == 0);
  if (c.shape(0).size() < 2 || !first_two) throw Refusal("batch and time must be the first two dimensions");
  if (c.shape(1) != Shape{c.shape(0)[static_cast<size_t>(batch)]}) throw Refusal("needs one length a sequence");
  infer_same(c);
}

void eval_reverse_sequence(EvalContext& c) {
  const Shape& shape = c.in(0).shape;
  const bool batch_first = c.node.attr_int("batch_axis", 1) == 0;
  const int64_t block = product(shape, 2, shape.size()), steps = shape[batch_first ? 1 : 0];
  copy_planes(c.in(0), c.out(0), [&](const auto* from, auto* to) {
    for (int64_t i = 0; i < shape[0]; ++i)
      for (int64_t j = 0; j < shape[1]; ++j, to += block) {
        const int64_t b = batch_first ? i : j, t = batch_first ? j : i;
        const int64_t length = std::clamp<int64_t>(c.in(1).ints[static_cast<size_t>(b)], 0, steps);
        const int64_t source = t < length ? length - 1 - t : t;
        std::copy_n(from + (batch_first ? b * steps + source : source * shape[1] + b) * block, block, to);
      }
  });
  if (is_uncertain(c.in(1))) c.out(0).bound.assign(static_cast<size_t>(c.out(0).numel()), HUGE_VAL);
}

// ---- Compress, NonZero: shapes that depend on data, known when the data is constant.

std::vector<int64_t> picks(const std::vector<int64_t>& condition) {
  std::vector<int64_t> at;
  for (size_t i = 0; i < condition.size(); ++i)
    if (condition[i]) at.push_back(static_cast<int64_t>(i));
  return at;
}

void infer_compress(InferContext& c) {
  const std::vector<int64_t> at = picks(c.constant_ints(1, "the condition"));
  Shape out{numel(c.shape(0))};
  size_t axis = 0;
  if (c.node.has("axis")) {
    out = c.shape(0);
    axis = static_cast<size_t>(c.normalized_axis(c.node.attr_int("axis", 0), out.size()));
  }
  if (!at.empty() && at.back() >= out.at(axis)) throw Refusal("the condition is longer than the data");
  out[axis] = static_cast<int64_t>(at.size());
  c.set_output(0, c.dtype(0), out);
}

void eval_compress(EvalContext& c) {
  const RefTensor& in = c.in(0);
  const Shape shape = c.node.has("axis") ? in.shape : Shape{in.numel()};
  const size_t axis = c.node.has("axis") ? axis_of(c.node.attr_int("axis", 0), shape.size()) : 0;
  const int64_t outer = product(shape, 0, axis), size = shape[axis], inner = product(shape, axis + 1, shape.size());
  const std::vector<int64_t> at = picks(c.in(1).ints);
  copy_planes(in, c.out(0), [&](const auto* from, auto* to) {
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i : at) to = std::copy_n(from + (o * size + i) * inner, inner, to);
  });
}

void infer_non_zero(InferContext& c) {
  const std::vector<double> data = to_doubles(c.constant(0, "the data"));
  const int64_t count = std::count_if(data.begin(), data.end(), [](double v) { return v != 0; });
  c.set_output(0, DType::kI64, {static_cast<int64_t>(c.shape(0).size()), count});
}

void eval_non_zero(EvalContext& c) {
  const RefTensor& in = c.in(0);
  const Shape strides = row_major_strides(in.shape);
  const int64_t count = c.out(0).shape[1];
  c.out(0).ints.resize(in.shape.size() * static_cast<size_t>(count));
  for (int64_t i = 0, found = 0; i < in.numel(); ++i) {
    if (in.is_float() ? in.value[static_cast<size_t>(i)] == 0 : in.ints[static_cast<size_t>(i)] == 0) continue;
    for (size_t d = 0; d < strides.size(); ++d) c.out(0).ints[d * static_cast<size_t>(count) + static_cast<size_t>(found)] = i / strides[d] % in.shape[d];
    ++found;
  }
}

}  // namespace

std::vector<OpDef> indexing_ops() {
  std::vector<OpDef> all{
      {"", "OneHot", "nna", infer_one_hot, eval_one_hot},
      {"", "CumSum", "ni", infer_cum_sum, eval_cum_sum},
      {"", "Trilu", "aI", infer_trilu, eval_trilu},
      {"", "EyeLike", "a", infer_eye_like, eval_eye_like},
      {"", "ReverseSequence", "ai", infer_reverse_sequence, eval_reverse_sequence},
      {"", "Compress", "ab", infer_compress, eval_compress},
      {"", "NonZero", "a", infer_non_zero, eval_non_zero},
  };
  for (auto part : {scatter_ops, ranking_ops}) {
    const std::vector<OpDef> rows = part();
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return all;
}

}  // namespace amdahl

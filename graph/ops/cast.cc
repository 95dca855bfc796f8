// Cast and CastLike.

#include <fmt/format.h>

#include "graph/ops/elementwise.h"

namespace amdahl {
namespace {

void infer_cast(InferContext& c) {
  if (!c.node.has("to")) throw Refusal("attribute 'to' is missing");
  c.set_output(0, dtype_from_onnx(c.node.attr_int("to", 0)), c.shape(0));
}

void infer_cast_like(InferContext& c) { c.set_output(0, c.dtype(1), c.shape(0)); }

double as_double(DType dtype, int64_t v) { return dtype == DType::kU64 ? static_cast<double>(static_cast<uint64_t>(v)) : static_cast<double>(v); }

// Range of the integer type, as doubles: [lowest, beyond).
bool fits(DType dtype, double v) {
  const int bits = static_cast<int>(size_of(dtype)) * 8;
  const bool is_unsigned = dtype == DType::kU8 || dtype == DType::kU16 || dtype == DType::kU32 || dtype == DType::kU64;
  return is_unsigned ? v > -1 && v < std::ldexp(1, bits) : v > -std::ldexp(1, bits - 1) - 1 && v < std::ldexp(1, bits - 1);
}

// Float to integer truncates. Out of range is open in ONNX: any result is accepted (bound infinity).
void float_to_int(EvalContext& c) {
  const RefTensor& in = c.in(0);
  RefTensor& out = c.out(0);
  const size_t n = in.value.size();
  out.ints.resize(n);
  for (size_t i = 0; i < n; ++i) {
    const double v = std::trunc(in.value[i]);
    const bool in_range = !std::isnan(v) && fits(out.dtype, v);
    if (out.dtype == DType::kU64 && in_range && v >= 0x1p63) out.ints[i] = static_cast<int64_t>(static_cast<uint64_t>(v));
    else out.ints[i] = in_range ? static_cast<int64_t>(v) : 0;
    if (!c.bounds) continue;
    const double e = in.bound_at(static_cast<int64_t>(i));
    const double d = !in_range ? HUGE_VAL : std::fmax(spread(v, std::trunc(in.value[i] - e)), spread(v, std::trunc(in.value[i] + e)));
    if (d > 0 && out.bound.empty()) out.bound.assign(n, 0.0);
    if (d > 0) out.bound[i] = d;
  }
}

void to_bool(EvalContext& c) {
  const RefTensor& in = c.in(0);
  RefTensor& out = c.out(0);
  for (double v : in.value) out.ints.push_back(v != 0);  // NaN is true
  for (int64_t v : in.ints) out.ints.push_back(v != 0);
  if (!c.bounds || in.bound.empty()) return;
  for (size_t i = 0; i < in.bound.size(); ++i) {
    const double a = in.is_float() ? std::fabs(in.value[i]) : std::fabs(static_cast<double>(in.ints[i]));
    out.bound.push_back(in.bound[i] > 0 && a <= in.bound[i] ? 1.0 : 0.0);
  }
}

// The rounding of the stored type is exact, and monotone: an input's bound ends at rounded ends.
void to_float(EvalContext& c) {
  const RefTensor& in = c.in(0);
  RefTensor& out = c.out(0);
  const size_t n = static_cast<size_t>(in.numel());
  // A store to a wider type of the same oracle value changes nothing: fp32 values keep their float64 precision.
  const bool widens = in.is_float() && (out.dtype == in.dtype || out.dtype == DType::kF64 || (out.dtype == DType::kF32 && in.dtype != DType::kF64));
  const auto convert = [&](double v) { return widens ? v : round_to(out.dtype, v); };
  out.value.resize(n);
  if (in.is_float())
    for (size_t i = 0; i < n; ++i) out.value[i] = convert(in.value[i]);
  else
    for (size_t i = 0; i < n; ++i) out.value[i] = convert(as_double(in.dtype, in.ints[i]));
  if (!c.bounds || in.bound.empty()) return;
  out.bound.resize(n);
  for (size_t i = 0; i < n; ++i) {
    const double v = in.is_float() ? in.value[i] : as_double(in.dtype, in.ints[i]);
    out.bound[i] = std::fmax(spread(out.value[i], convert(v - in.bound[i])), spread(out.value[i], convert(v + in.bound[i])));
  }
}

void eval_cast(EvalContext& c) {
  const RefTensor& in = c.in(0);
  RefTensor& out = c.out(0);
  if (out.is_float()) return to_float(c);
  if (out.dtype == DType::kBool) return to_bool(c);
  if (in.is_float()) return float_to_int(c);
  for (int64_t v : in.ints) out.ints.push_back(wrap(out.dtype, v));
  out.bound = in.bound;
  open_where_wrapped(out);
}

}  // namespace

std::vector<OpDef> cast_ops() {
  return {
      {"", "Cast", "a", infer_cast, eval_cast},
      {"", "CastLike", "aa", infer_cast_like, eval_cast},
  };
}

}  // namespace amdahl

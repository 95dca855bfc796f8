#pragma once
// Loops of the pointwise families: broadcasting, and (value, bound) pairs through any function of one or two elements.
//
// A function comes as three lambdas: `f` the value; `moved` how far the inputs' bounds can move it, over the whole interval and
// not to first order only; `own` the error that an honest implementation adds on exact inputs.
//
// Integer and bool tensors are exact, except where they were decided by floats with a bound (comparisons, casts to
// integers, ArgMax, TopK): there their `bound` says how far the integer may be off, infinity when anything is possible.

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <string>

#include "graph/op.h"
#include "graph/ops/precision.h"

namespace amdahl {

// TensorProto.DataType; throws Refusal for types that are not supported (strings, complex, 4 and 8 bit floats).
DType dtype_from_onnx(int64_t data_type);

// `v` as `dtype` holds it: wraps around; bool is 0/1.
inline int64_t wrap(DType dtype, int64_t v) {
  switch (dtype) {
    case DType::kI8: return static_cast<int8_t>(v);
    case DType::kI16: return static_cast<int16_t>(v);
    case DType::kI32: return static_cast<int32_t>(v);
    case DType::kU8: return static_cast<uint8_t>(v);
    case DType::kU16: return static_cast<uint16_t>(v);
    case DType::kU32: return static_cast<uint32_t>(v);
    case DType::kBool: return v != 0;
    default: return v;
  }
}

// `v` rounded as a store to `dtype` does.
double round_to(DType dtype, double v);

// Shape rules.
void infer_same(InferContext& c);             // output 0 as input 0
void infer_float(InferContext& c);            // the same; input 0 must be a float
void infer_broadcast(InferContext& c);        // all inputs of one type, broadcast together
void infer_float_broadcast(InferContext& c);  // the same, floats only
void infer_compare(InferContext& c);          // two inputs of one type, broadcast; bool output

// A broadcast of K inputs to `out`, with adjacent dimensions merged where every input runs through them (or stands still)
// alike. After that an input's stride in the innermost dimension is 0 or 1.
template <size_t K>
struct RowWalk {
  Shape dims;                    // outermost first, at least one
  std::array<Shape, K> strides;  // of each input, in elements

  RowWalk(const Shape& out, const std::array<const Shape*, K>& in) {
    for (size_t d = 0; d < out.size(); ++d) {
      if (out[d] == 1) continue;
      std::array<int64_t, K> s;
      for (size_t k = 0; k < K; ++k) s[k] = stride_of(*in[k], out.size() - 1 - d);
      bool merge = !dims.empty();
      for (size_t k = 0; merge && k < K; ++k) merge = strides[k].back() == s[k] * out[d];
      if (merge) {
        dims.back() *= out[d];
        for (size_t k = 0; k < K; ++k) strides[k].back() = s[k];
      } else {
        dims.push_back(out[d]);
        for (size_t k = 0; k < K; ++k) strides[k].push_back(s[k]);
      }
    }
    if (!dims.empty()) return;
    dims.push_back(1);
    for (size_t k = 0; k < K; ++k) strides[k].push_back(1);
  }

  // row(out offset, input offsets, length) for each innermost run, in output order.
  template <typename Row>
  void each(Row row) const {
    for (int64_t d : dims)
      if (d == 0) return;
    const size_t outer = dims.size() - 1;
    const int64_t n = dims.back();
    Shape index(outer, 0);
    std::array<int64_t, K> at{};
    for (int64_t o = 0;; o += n) {
      row(o, at, n);
      size_t d = outer;
      while (d-- > 0) {
        for (size_t k = 0; k < K; ++k) at[k] += strides[k][d];
        if (++index[d] < dims[d]) break;
        for (size_t k = 0; k < K; ++k) at[k] -= strides[k][d] * dims[d];
        index[d] = 0;
      }
      if (d == static_cast<size_t>(-1)) return;
    }
  }

 private:
  // Stride of the dimension `from_last` of a row-major tensor; 0 where it is broadcast.
  static int64_t stride_of(const Shape& shape, size_t from_last) {
    if (from_last >= shape.size()) return 0;
    const size_t d = shape.size() - 1 - from_last;
    if (shape[d] == 1) return 0;
    int64_t s = 1;
    for (size_t i = d + 1; i < shape.size(); ++i) s *= shape[i];
    return s;
  }
};

// out[i] = f(a, b) over a broadcast. Separate loops for the inner strides, so that each is plain and vectorises.
template <typename A, typename B, typename Out, typename F>
void broadcast_loop(const Shape& shape, const Shape& sa, const A* a, const Shape& sb, const B* b, Out* out, F f) {
  const RowWalk<2> walk(shape, {&sa, &sb});
  const bool run_a = walk.strides[0].back() == 1, run_b = walk.strides[1].back() == 1;
  walk.each([&](int64_t o, const std::array<int64_t, 2>& at, int64_t n) {
    const A* pa = a + at[0];
    const B* pb = b + at[1];
    Out* po = out + o;
    if (run_a && run_b)
      for (int64_t j = 0; j < n; ++j) po[j] = f(pa[j], pb[j]);
    else if (run_a)
      for (int64_t j = 0; j < n; ++j) po[j] = f(pa[j], *pb);
    else if (run_b)
      for (int64_t j = 0; j < n; ++j) po[j] = f(*pa, pb[j]);
    else
      for (int64_t j = 0; j < n; ++j) po[j] = f(*pa, *pb);
  });
}

// The tensor's bounds, or zeros of `storage`.
inline const double* bounds_of(const RefTensor& t, std::vector<double>& storage) {
  if (!t.bound.empty()) return t.bound.data();
  storage.assign(static_cast<size_t>(t.numel()), 0.0);
  return storage.data();
}

// Distance between two results of the same function; equal infinities are no distance, a NaN is any.
inline double spread(double z, double w) {
  if (w == z || (std::isnan(w) && std::isnan(z))) return 0;
  return std::isnan(w) ? HUGE_VAL : std::fabs(w - z);
}

// `moved` of a function that is monotone between the turning points, on a domain that honest inputs do not leave.
template <typename F>
auto monotone(F f, std::initializer_list<double> turning = {}, double lowest = -HUGE_VAL, double highest = HUGE_VAL) {
  std::array<double, 2> turns{};
  const size_t count = std::min(turning.size(), turns.size());
  std::copy_n(turning.begin(), count, turns.begin());
  return [=](double x, double e, double z) {
    double d = std::fmax(spread(z, f(std::clamp(x - e, lowest, highest))), spread(z, f(std::clamp(x + e, lowest, highest))));
    for (size_t i = 0; i < count; ++i)
      if (std::fabs(turns[i] - x) < e) d = std::fmax(d, spread(z, f(turns[i])));
    return d;
  };
}

// Input 0 to output 0, floats. own(x, |z|, u).
template <typename F, typename Moved, typename Own>
void float_unary(EvalContext& c, F f, Moved moved, Own own) {
  const RefTensor& in = c.in(0);
  RefTensor& out = c.out(0);
  const Finish finish(out);
  const bool is_f64 = out.dtype == DType::kF64;
  const size_t n = in.value.size();
  out.value.resize(n);
  for (size_t i = 0; i < n; ++i) out.value[i] = f(in.value[i]);
  if (!c.bounds) {
    for (double& z : out.value) z = finish.value(z);
    return;
  }
  out.bound.resize(n);
  for (size_t i = 0; i < n; ++i) {
    const double x = in.value[i], e = in.bound_at(static_cast<int64_t>(i));
    double& z = out.value[i];
    if (std::isnan(z) && e > 0 && !(std::isnan(f(x - e)) && std::isnan(f(x + e)))) {  // beside a number that the function has a value of
      z = 0;
      leave_open(z, out.bound[i]);
      continue;
    }
    const double d = e == HUGE_VAL ? HUGE_VAL : e > 0 && !std::isnan(z) ? moved(x, e, z) : 0.0;  // what is open may be NaN, for functions with an end too
    finish.bounded(z, out.bound[i], d, own(x, std::fabs(z) + d, finish.p.u), is_f64 && std::isfinite(x));
  }
}

// For functions that leave exact inputs exact (Abs, Floor, Relu): the bounds stay empty as long as the input has none.
template <typename F>
void exact_unary(EvalContext& c, F f, std::initializer_list<double> turning = {}) {
  const RefTensor& in = c.in(0);
  RefTensor& out = c.out(0);
  out.value.resize(in.value.size());
  for (size_t i = 0; i < in.value.size(); ++i) out.value[i] = f(in.value[i]);
  if (!c.bounds || in.bound.empty()) return;
  const auto moved = monotone(f, turning);
  out.bound.resize(in.value.size());
  for (size_t i = 0; i < in.value.size(); ++i)
    out.bound[i] = std::isnan(out.value[i]) ? 0.0 : in.bound[i] == HUGE_VAL ? HUGE_VAL : moved(in.value[i], in.bound[i], out.value[i]);
}

// Bound of a zero of either sign (graph/zero_signs.h): as near to 0 as a bound can be.
inline constexpr double kEitherZero = 0x1.0p-1074;

inline bool are_two_zeros(double x, double y) { return x == 0 && y == 0 && std::signbit(x) != std::signbit(y); }

// After an exact function of one number: zeros of the input for which `open` leave the sign of the result open.
template <typename Open>
void open_zero_signs(EvalContext& c, Open open) {
  RefTensor& out = c.out(0);
  for (size_t i = 0; c.bounds && i < out.value.size(); ++i) {
    if (out.value[i] != 0 || c.in(0).value[i] != 0 || !open(c.in(0).value[i])) continue;
    if (out.bound.empty()) out.bound.assign(out.value.size(), 0.0);
    out.bound[i] = std::fmax(out.bound[i], kEitherZero);
  }
}

// A broadcast of two float tensors of their own shapes: moved(a, ea, b, eb, z), own(a, b, |z|, u).
template <typename F, typename Moved, typename Own>
void float_binary(bool bounds, const RefTensor& a, const RefTensor& b, RefTensor& out, F f, Moved moved, Own own) {
  const Finish finish(out);
  const bool is_f64 = out.dtype == DType::kF64;
  out.value.resize(static_cast<size_t>(out.numel()));
  broadcast_loop(out.shape, a.shape, a.value.data(), b.shape, b.value.data(), out.value.data(), [&](double x, double y) { return finish.value(f(x, y)); });
  if (!bounds) return;
  out.bound.resize(out.value.size());
  std::vector<double> zero_a, zero_b;
  const double* ea = bounds_of(a, zero_a);
  const double* eb = bounds_of(b, zero_b);
  const RowWalk<2> walk(out.shape, {&a.shape, &b.shape});
  const int64_t step_a = walk.strides[0].back(), step_b = walk.strides[1].back();
  walk.each([&](int64_t o, const std::array<int64_t, 2>& at, int64_t n) {
    for (int64_t j = 0; j < n; ++j) {
      const int64_t i = at[0] + j * step_a, k = at[1] + j * step_b;
      const double x = a.value[static_cast<size_t>(i)], y = b.value[static_cast<size_t>(k)];
      double z = f(x, y);
      double& bound = out.bound[static_cast<size_t>(o + j)];
      if (std::isnan(z) && (ea[i] > 0 || eb[k] > 0) && !std::isnan(x) && !std::isnan(y)) {  // an infinity by what need not be zero, say
        z = 0;
        leave_open(z, bound);
        out.value[static_cast<size_t>(o + j)] = z;
        continue;
      }
      const double d = (ea[i] > 0 || eb[k] > 0) && !std::isnan(z) ? moved(x, ea[i], y, eb[k], z) : 0.0;
      finish.bounded(z, bound, d, own(x, y, std::fabs(z) + d, finish.p.u), is_f64 && std::isfinite(x) && std::isfinite(y));
      out.value[static_cast<size_t>(o + j)] = z;
    }
  });
}

// A broadcast of two integer tensors. f is called with int64_t, or uint64_t when the inputs are u64; its result wraps to
// the output's type. A result of an uncertain integer can be anything.
template <typename F>
void int_binary(const RefTensor& a, const RefTensor& b, RefTensor& out, F f) {
  out.ints.resize(static_cast<size_t>(out.numel()));
  const DType dtype = out.dtype;
  if (a.dtype == DType::kU64)
    broadcast_loop(out.shape, a.shape, a.ints.data(), b.shape, b.ints.data(), out.ints.data(),
                   [=](int64_t x, int64_t y) { return wrap(dtype, static_cast<int64_t>(f(static_cast<uint64_t>(x), static_cast<uint64_t>(y)))); });
  else
    broadcast_loop(out.shape, a.shape, a.ints.data(), b.shape, b.ints.data(), out.ints.data(),
                   [=](int64_t x, int64_t y) { return wrap(dtype, static_cast<int64_t>(f(x, y))); });
  if (a.bound.empty() && b.bound.empty()) return;
  std::vector<double> zero_a, zero_b;
  out.bound.resize(out.ints.size());
  broadcast_loop(out.shape, a.shape, bounds_of(a, zero_a), b.shape, bounds_of(b, zero_b), out.bound.data(),
                 [](double ea, double eb) { return ea > 0 || eb > 0 ? HUGE_VAL : 0.0; });
}

// Integers that are off by their bounds, and would wrap there: what they are then is open.
void open_where_wrapped(RefTensor& out);

// Rows of the pointwise family, by file.
std::vector<OpDef> arithmetic_ops();  // arithmetic.cc
std::vector<OpDef> unary_math_ops();  // unary_math.cc
std::vector<OpDef> activation_ops();  // activations.cc
std::vector<OpDef> logic_ops();       // logic.cc
std::vector<OpDef> cast_ops();        // cast.cc

}  // namespace amdahl

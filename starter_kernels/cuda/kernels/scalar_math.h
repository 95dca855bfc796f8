// Scalar functions of pointwise programs (starter_kernels/text/program_text.h names them). Those of float are CUDA's own, with their IEEE division,
// square root and denormals; errors in ulp over all inputs as NVIDIA states them: exp 2, log 1, log1p 1, expm1 1, tanh 2, erf 2, sin, cos 2, pow 4 or 8.
#define SCALAR static __device__ __forceinline__

namespace scalar {

// ---- storage --------------------------------------------------------------------------------------------------------------
SCALAR float from_bf16(uint16_t h) { return __uint_as_float(uint32_t(h) << 16); }
SCALAR uint16_t to_bf16(float x) {  // round to nearest even; NaN stays a (quiet) NaN
  const uint32_t b = __float_as_uint(x);
  return uint16_t(x != x ? (b >> 16) | 0x40u : (b + 0x7fffu + ((b >> 16) & 1u)) >> 16);
}
template <class F> SCALAR float round_f16(F x) { return float(half_t(x)); }
SCALAR float round_bf16(float x) { return from_bf16(to_bf16(x)); }

// float -> integer: truncates, saturates at 64 bits, NaN is 0; narrower integers take the low bits.
template <class T, class F> SCALAR T to_int(F x) {
  if (x != x) return T(0);
  if (T(-1) > T(0) && sizeof(T) == 8 && x >= F(9223372036854775808.0)) return T(uint64_t(x));
  return T(x >= F(9223372036854775808.0) ? INT64_MAX : int64_t(x));
}

// ---- exact functions ------------------------------------------------------------------------------------------------------
SCALAR float abs(float x) { return ::fabsf(x); }
SCALAR double abs(double x) { return ::fabs(x); }
SCALAR float sqrt(float x) { return ::sqrtf(x); }
SCALAR double sqrt(double x) { return ::sqrt(x); }
SCALAR float floor(float x) { return ::floorf(x); }
SCALAR double floor(double x) { return ::floor(x); }
SCALAR float ceil(float x) { return ::ceilf(x); }
SCALAR double ceil(double x) { return ::ceil(x); }
SCALAR float round(float x) { return ::rintf(x); }  // half to even
SCALAR double round(double x) { return ::rint(x); }
SCALAR float copysign(float x, float s) { return ::copysignf(x, s); }
SCALAR double copysign(double x, double s) { return ::copysign(x, s); }
template <class T> SCALAR T sign(T x) { return x > T(0) ? T(1) : x < T(0) ? T(-1) : x; }
template <class T> SCALAR T relu(T x) { return x < T(0) ? T(0) : x; }
// NaN in either operand is the result (x != x is false for integers).
template <class T> SCALAR T max(T a, T b) { return (a > b) | (a != a) ? a : b; }
template <class T> SCALAR T min(T a, T b) { return (a < b) | (a != a) ? a : b; }
// min(max(x, lo), hi): NaN in any of the three is the result.
template <class T> SCALAR T clip(T x, T lo, T hi) {
  const T y = x < lo ? lo : x, z = y > hi ? hi : y;
  return lo != lo ? lo : hi != hi ? hi : z;
}
// x^0.5: a root, but for -0, whose power is 0, and -infinity, whose power is infinity.
template <class T> SCALAR T pow_half(T x) { return x == -__builtin_inff() ? -x : sqrt(x + T(0)); }

// Integers wrap, as unsigned arithmetic does; a division by zero is 0.
template <class T> SCALAR T abs_int(T x) { return x < T(0) ? T(0 - uint64_t(x)) : x; }
template <class T> SCALAR T div_int(T a, T b) { return b == T(0) ? T(0) : b == T(-1) && T(-1) < T(0) ? T(0 - uint64_t(a)) : T(a / b); }
template <class T> SCALAR T fmod_int(T a, T b) { return b == T(0) || (b == T(-1) && T(-1) < T(0)) ? T(0) : T(a % b); }
template <class T> SCALAR T mod_int(T a, T b) {  // sign of the divisor
  const T r = fmod_int(a, b);
  return r != T(0) && ((r < T(0)) != (b < T(0))) ? T(r + b) : r;
}
template <class T, class E> SCALAR T pow_int(T x, E e) {
  if (e < E(0)) return x == T(1) ? T(1) : x == T(-1) && T(-1) < T(0) ? (e & 1 ? T(-1) : T(1)) : T(0);
  uint64_t base = uint64_t(x), y = 1;
  for (; e > E(0); e >>= 1, base *= base)
    if (e & 1) y *= base;
  return T(y);
}
template <class T, class E> SCALAR T shift_left(T x, E n) { return uint64_t(n) >= 8 * sizeof(T) ? T(0) : T(x << n); }
template <class T, class E> SCALAR T shift_right(T x, E n) { return uint64_t(n) >= 8 * sizeof(T) ? T(0) : T(x >> n); }

SCALAR float fmod(float a, float b) { return ::fmodf(a, b); }
SCALAR double fmod(double a, double b) { return ::fmod(a, b); }
template <class T> SCALAR T mod(T a, T b) {
  const T r = fmod(a, b);
  return r != T(0) && ((r < T(0)) != (b < T(0))) ? r + b : r;
}

// ---- elementary functions -------------------------------------------------------------------------------------------------
#define SCALAR_CUDA(name)                              \
  SCALAR float name(float x) { return ::name##f(x); } \
  SCALAR double name(double x) { return ::name(x); }
SCALAR_CUDA(exp) SCALAR_CUDA(log) SCALAR_CUDA(log1p) SCALAR_CUDA(expm1) SCALAR_CUDA(tanh) SCALAR_CUDA(erf)
SCALAR_CUDA(sin) SCALAR_CUDA(cos) SCALAR_CUDA(tan) SCALAR_CUDA(asin) SCALAR_CUDA(acos) SCALAR_CUDA(atan)
SCALAR_CUDA(sinh) SCALAR_CUDA(cosh) SCALAR_CUDA(asinh) SCALAR_CUDA(acosh) SCALAR_CUDA(atanh)
#undef SCALAR_CUDA
SCALAR float pow(float x, float y) { return ::powf(x, y); }
SCALAR double pow(double x, double y) { return ::pow(x, y); }

// ---- activations ----------------------------------------------------------------------------------------------------------
// The largest finite magnitudes stand in for infinities where inf * 0 or inf / inf would be met; NaN goes through.
template <class T> SCALAR T from_below(T x) { return x < T(-3e38) ? T(-3e38) : x; }
// x / y. Where all results are half floats, within 2 ulp and without the branches of IEEE's: their rounding is some 4000 times as coarse. (GELU behind a
// product of 128 x 3072: 5.2 us and 4.4, H200.)
template <class T> SCALAR T quotient(T x, T y) { return x / y; }
#ifdef HALF_RESULTS
SCALAR float quotient(float x, float y) { return __fdividef(x, y); }
#endif
template <class T> SCALAR T sigmoid(T x) { return quotient(T(1), T(1) + exp(-x)); }
// The share of a normal distribution that lies below x, without cancellation in the tail.
#ifdef HALF_RESULTS
// exp(-x^2 / 2) t P(t) with t = 1 / (1 + 0.2546 |x|), fitted to a relative 1.0e-7: 26 instructions for GELU where erfcf makes them 51 (sm_90a). In float within 4 units of 2^-24.
SCALAR float normal_share(float x) {
  const float a = abs(x), t = quotient(1.f, 1.f + 0.254558444f * a);
  float p = -0.0858683437f;
  p = p * t + 0.299241453f;
  p = p * t - 0.20738925f;
  p = p * t + 0.240830421f;
  p = p * t + 0.0408398584f;
  p = p * t + 0.111573473f;
  p = p * t + 0.100772336f;
  const float tail = p * t * ::exp2f(x * x * -0.72134752f);
  return x > 0.f ? 1.f - tail : tail;
}
#else
SCALAR float normal_share(float x) { return 0.5f * ::erfcf(x * -0.70710678118654752f); }
#endif
SCALAR double normal_share(double x) { return 0.5 * ::erfc(x * -0.70710678118654752); }
// As the products that exporters write them as: NaN at -infinity, where the operators have their limit.
template <class T> SCALAR T gelu_product(T x) { return x * normal_share(x); }
// 0.5 x (1 + tanh u) = x / (1 + exp(-2u)): one division less, and no cancellation in the tail.
template <class T> SCALAR T gelu_tanh_product(T x) {
  constexpr double kTwoRoots = 2 * 0.79788456080286536;  // 2 sqrt(2 / pi)
  return quotient(x, T(1) + exp(x * (T(-kTwoRoots) - T(kTwoRoots * 0.044715) * x * x)));
}
template <class T> SCALAR T gelu(T x) { return gelu_product(from_below(x)); }
template <class T> SCALAR T gelu_tanh(T x) { return gelu_tanh_product(from_below(x)); }
// x sigmoid(x), with the product's NaN at -infinity too.
template <class T> SCALAR T swish_product(T x) { return quotient(x, T(1) + exp(-x)); }
template <class T> SCALAR T swish(T x, T alpha) { return from_below(x) * sigmoid(alpha * x); }
template <class T> SCALAR T softplus(T x) { return relu(x) + log1p(exp(-abs(x))); }
template <class T> SCALAR T softsign(T x) {
  const T c = clip(x, T(-1e30), T(1e30));
  return c / (T(1) + abs(c));
}
// tanh(log(1 + e)) = (e^2 + 2e) / (e^2 + 2e + 2) with e = exp(x); 1 in float beyond 20.
template <class T> SCALAR T mish(T x) {
  const T e = exp(x > T(20) ? T(20) : x), n = e * (e + T(2));
  return from_below(x) * (n / (n + T(2)));
}
template <class T> SCALAR T elu(T x, T alpha) { return x < T(0) ? alpha * expm1(x) : x; }
template <class T> SCALAR T celu(T x, T alpha) { return x < T(0) ? alpha * expm1(x / alpha) : x; }
template <class T> SCALAR T selu(T x, T alpha, T gamma) { return gamma * (x < T(0) ? alpha * expm1(x) : x); }
template <class T> SCALAR T hardsigmoid(T x, T alpha, T beta) { return clip(alpha * x + beta, T(0), T(1)); }
template <class T> SCALAR T hardswish(T x) { return from_below(x) * clip(x * T(1.0 / 6) + T(0.5), T(0), T(1)); }
template <class T> SCALAR T shrink(T x, T lambda, T bias) { return x < -lambda ? x + bias : x > lambda ? x - bias : T(0); }

}  // namespace scalar

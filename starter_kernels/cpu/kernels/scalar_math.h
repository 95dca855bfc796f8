// Scalar functions that the compiler can vectorise, and forms for vectors of the most used: straight-line code on registers, selects instead of branches, no calls
// and no tables for float. A loop that calls them under `#pragma omp simd` becomes vector code on any target.
//
// Polynomials are relative-error minimax fits (Remez exchange in long double), rounded to float; range reductions are
// Cody & Waite's (Software Manual for the Elementary Functions, 1980). Errors in ulp of float, over all inputs:
//   exp 1.1   log 0.9   log1p 1.5   expm1 1.5   tanh 2.6   erf 1.3   sigmoid 2.2   sin, cos 1.1   pow 0.6
//   exp_below_zero 2.2 + |x| / 22   exp2_saturated 2.2
// Results of exp below FLT_MIN are flushed to zero (a denormal costs 100+ cycles in whatever reads it). NaN propagates.
// double overloads call libm: they are for float64 models, which nobody runs for speed.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__clang__) && !defined(__AVX512FP16__)
#define _Float16 __fp16  // clang < 15 has the storage type under this name only
#endif

#define SCALAR static inline __attribute__((always_inline))

namespace scalar {

template <class To, class From>
SCALAR To bits(From x) { return __builtin_bit_cast(To, x); }

// ---- storage ------------------------------------------------------------------------------------------------------------
SCALAR float from_bf16(uint16_t h) { return bits<float>(uint32_t{h} << 16); }
SCALAR uint16_t to_bf16(float x) {  // round to nearest even; NaN stays a (quiet) NaN
  const uint32_t b = bits<uint32_t>(x);
  return uint16_t(x != x ? (b >> 16) | 0x40u : (b + 0x7fffu + ((b >> 16) & 1u)) >> 16);
}
template <class F> SCALAR float round_f16(F x) { return float(_Float16(x)); }
SCALAR float round_bf16(float x) { return from_bf16(to_bf16(x)); }

// float -> integer: truncates, saturates at 64 bits, NaN is 0; narrower integers take the low bits.
template <class T, class F>
SCALAR T to_int(F x) {
  if (sizeof(T) < 4) return T(x != x ? 0 : int32_t(x));
  if (sizeof(T) < 8) return T(x != x ? 0 : int64_t(x));
  if (T(-1) > T(0)) return T(x != x ? 0 : x >= F(0x1p63) ? uint64_t(x) : uint64_t(int64_t(x)));
  return T(x != x ? 0 : x >= F(0x1p63) ? INT64_MAX : int64_t(x));
}

// ---- exact functions ----------------------------------------------------------------------------------------------------
SCALAR float abs(float x) { return __builtin_fabsf(x); }
SCALAR double abs(double x) { return __builtin_fabs(x); }
SCALAR float sqrt(float x) { return __builtin_sqrtf(x); }
SCALAR double sqrt(double x) { return __builtin_sqrt(x); }
SCALAR float floor(float x) { return __builtin_floorf(x); }
SCALAR double floor(double x) { return __builtin_floor(x); }
SCALAR float ceil(float x) { return __builtin_ceilf(x); }
SCALAR double ceil(double x) { return __builtin_ceil(x); }
SCALAR float round(float x) { return __builtin_rintf(x); }  // half to even: the rounding mode is never changed
SCALAR double round(double x) { return __builtin_rint(x); }
SCALAR float copysign(float x, float s) { return __builtin_copysignf(x, s); }
SCALAR double copysign(double x, double s) { return __builtin_copysign(x, s); }
template <class T> SCALAR T sign(T x) { return x > T(0) ? T(1) : x < T(0) ? T(-1) : x; }
template <class T> SCALAR T relu(T x) { return x < T(0) ? T(0) : x; }
// NaN in either operand is the result (x != x is false for integers).
template <class T> SCALAR T max(T a, T b) { return (a > b) | (a != a) ? a : b; }
template <class T> SCALAR T min(T a, T b) { return (a < b) | (a != a) ? a : b; }
// min(max(x, lo), hi): NaN in any of the three is the result. What is known of the limits when this is compiled costs nothing.
template <class T> SCALAR T clip(T x, T lo, T hi) {
  const T y = x < lo ? lo : x, z = y > hi ? hi : y;
  return lo != lo ? lo : hi != hi ? hi : z;
}

// x^0.5: a root, but for -0, whose power is 0, and -infinity, whose power is infinity.
template <class T> SCALAR T pow_half(T x) { return x == -__builtin_inff() ? -x : sqrt(x + T(0)); }

// Integers wrap, as unsigned arithmetic does; a division by zero is 0 instead of a trap.
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

SCALAR float fmod(float a, float b) { return __builtin_fmodf(a, b); }
SCALAR double fmod(double a, double b) { return __builtin_fmod(a, b); }
template <class T> SCALAR T mod(T a, T b) {
  const T r = fmod(a, b);
  return r != T(0) && ((r < T(0)) != (b < T(0))) ? r + b : r;
}

// ---- exp family ---------------------------------------------------------------------------------------------------------
// x = n ln2 + r with |r| <= ln2 / 2. Adding 1.5 * 2^23 rounds to an integer and leaves n in the low bits of the sum.
constexpr float kRound = 0x1.8p23f, kLog2e = 0x1.715476p0f, kLn2Hi = 0x1.62e4p-1f, kLn2Lo = 0x1.7f7d1cp-20f;

// In name_of<F, U>, F is float, or a vector of them, and U as many uint32_t: what a kernel applies to sums that it holds in vectors. Or
// double and uint64_t: libm, for float64 models.
template <class F> struct Number { typedef float type; };
template <> struct Number<double> { typedef double type; };
#define SCALAR_OF(name)                                                     \
  SCALAR float name(float x) { return name##_of<float, uint32_t>(x); }     \
  SCALAR double name(double x) { return name##_of<double, uint64_t>(x); }
#define SCALAR_OF_DOUBLE(name) \
  template <> inline __attribute__((always_inline)) double name##_of<double, uint64_t>(double x) { return __builtin_##name(x); }

template <class F, class U> SCALAR F abs_of(F x) { return bits<F>(bits<U>(x) & 0x7fffffffu); }
template <class F, class U> SCALAR F copysign_of(F x, F s) { return bits<F>((bits<U>(x) & 0x7fffffffu) | (bits<U>(s) & 0x80000000u)); }

template <class F, class U>
SCALAR F exp_of(F x) {
  const F t = x * kLog2e + kRound;
  const F n = t - kRound;
  const F r = (x - n * kLn2Hi) - n * kLn2Lo;
  F q = F{} + 0x1.6a2352p-10f;
  q = q * r + 0x1.123a6cp-7f;
  q = q * r + 0x1.5558f4p-5f;
  q = q * r + 0x1.55549p-3f;
  q = q * r + 0x1.fffffcp-2f;
  const F p = (q * r) * r + r + 1.0f;
  const F y = bits<F>(bits<U>(p) + (bits<U>(t) << 23));  // p 2^n: n added to the exponent
  const F low = x < -0x1.5d589ep6f ? F{} : y;            // ln FLT_MIN
  return x <= 0x1.62e42ep6f ? low : x + __builtin_inff();  // ln FLT_MAX; NaN comes here too
}
SCALAR_OF_DOUBLE(exp)
SCALAR_OF(exp)

// Kernels that spend their time in exp know more of x, and need not pay for the rest: both ends and the last bits are 8 of exp's 18 operations.

// e^r 2^n for t = n + kRoundBiased. With the bias a shift of t's low bits is 2^n: 0 for n = -127, infinity for n = 128.
constexpr float kRoundBiased = kRound + 127.0f;
template <class F, class U>
SCALAR F exp_of_reduced(F r, F t) {
  F q = F{} + 0x1.0faaaap-7f;
  q = q * r + 0x1.57378ap-5f;
  q = q * r + 0x1.555a6ap-3f;
  q = q * r + 0x1.fffdcep-2f;
  q = q * r + 0x1.fffff6p-1f;
  return (q * r + 1.0f) * bits<F>(bits<U>(t) << 23);
}

// For -88 <= x <= 89, a difference from a maximum or another number that was computed: its rounding moved the result by up to |x| / 2 ulp, beside which
// the |x| / 22 of ln2 in one part are nothing, where its product is not rounded. exp(-88) is 0, exp(89) infinity. NaN propagates.
template <class F, class U>
SCALAR F exp_within_of(F x) {
  const F t = x * kLog2e + kRoundBiased, n = t - kRoundBiased;
#if defined(__FMA__) || defined(__FP_FAST_FMAF)
  return exp_of_reduced<F, U>(x - n * 0x1.62e43p-1f, t);
#else
  return exp_of_reduced<F, U>((x - n * kLn2Hi) - n * kLn2Lo, t);
#endif
}
// For every x <= 0: -infinity weighs exactly nothing.
template <class F, class U>
SCALAR F exp_below_zero_of(F x) {
  const F y = exp_within_of<F, U>(x);
  return x < -0x1.5d589ep6f ? F{} : y;  // ln FLT_MIN
}
SCALAR float exp_below_zero(float x) { return exp_below_zero_of<float, uint32_t>(x); }
SCALAR double exp_below_zero(double x) { return __builtin_exp(x); }

// Powers of 2, for arguments that are products with a constant anyway: log2(e) is a part of it. What is left of x beside n is exact, and the three
// operations of the reduction are sums, which Zen adds beside its products. The coefficients are those of exp_of_reduced, times ln2^k.
template <class F, class U>
SCALAR F exp2_of_reduced(F r, F t) {
  F q = F{} + 0x1.5bbd3cp-10f;
  q = q * r + 0x1.3ce7f4p-7f;
  q = q * r + 0x1.c6b752p-5f;
  q = q * r + 0x1.ebf9c4p-3f;
  q = q * r + 0x1.62e42ap-1f;
  return (q * r + 1.0f) * bits<F>(bits<U>(t) << 23);
}
// For quotients like x / (1 + 2^y): 0 from -127 down, infinity from 128 up, and anything for NaN. The ends are cut off as integers: beside floats a
// compiler pays for the NaN that a minimum might meet, and most units do integers.
template <class U> struct Signed { typedef decltype(U{} < U{}) type; };
template <> struct Signed<uint32_t> { typedef int32_t type; };
template <class F, class U>
SCALAR F exp2_saturated_of(F x) {
  typedef typename Signed<U>::type I;
  const I high = bits<I>(F{} + 128.0f), b = bits<I>(x);
  const U low = bits<U>(F{} - 127.0f), not_above = bits<U>(b < high ? b : high);  // a negative float is a negative integer
  const F z = bits<F>(not_above < low ? not_above : low), t = z + kRoundBiased;   // and as unsigned the larger, the farther from 0
  return exp2_of_reduced<F, U>(z - (t - kRoundBiased), t);
}
template <> inline __attribute__((always_inline)) double exp2_saturated_of<double, uint64_t>(double x) { return __builtin_exp2(x); }

// exp(x) - 1 without cancellation: 2^n (expm1(r)) + (2^n - 1). For -30 <= x <= 88.8; NaN propagates.
template <class F, class U>
SCALAR F expm1_within_of(F x) {
  const F t = x * kLog2e + kRound;
  const F n = t - kRound;
  const F r = (x - n * kLn2Hi) - n * kLn2Lo;
  F q = F{} + 0x1.6bebf2p-10f;
  q = q * r + 0x1.1227f6p-7f;
  q = q * r + 0x1.555674p-5f;
  q = q * r + 0x1.5554bp-3f;
  q = q * r + 0x1.fffffep-2f;
  const F p = (q * r) * r + r;
  const F half = bits<F>((bits<U>(t) << 23) + 0x3f000000u);  // 2^(n-1): n = 128 must not overflow early
  return ((half * p) + (half - 0.5f)) * 2.0f;
}
template <> inline __attribute__((always_inline)) double expm1_within_of<double, uint64_t>(double x) { return __builtin_expm1(x); }
template <class F, class U>
SCALAR F expm1_of(F x) {
  const F lo = x < -30.0f ? F{} - 30.0f : x;
  return expm1_within_of<F, U>(lo > 88.8f ? F{} + 88.8f : lo);
}
SCALAR_OF_DOUBLE(expm1)
SCALAR_OF(expm1)

template <class F, class U>
SCALAR F sigmoid_of(F x) {
  typedef typename Number<F>::type N;
  return N(1) / (N(1) + exp_of<F, U>(-x));
}
SCALAR_OF(sigmoid)

// With e = exp(2|x|) - 1: tanh|x| = e / (e + 2), accurate down to 0. Beyond 10 it is 1 in float.
template <class F, class U>
SCALAR F tanh_of(F x) {
  const F a = abs_of<F, U>(x);
  const F e = expm1_within_of<F, U>((a > 10.0f ? F{} + 10.0f : a) * 2.0f);
  return copysign_of<F, U>(e / (e + 2.0f), x);
}
SCALAR_OF_DOUBLE(tanh)
SCALAR_OF(tanh)

// ---- log family ---------------------------------------------------------------------------------------------------------
// x = m 2^e with m in [sqrt(1/2), sqrt(2)): subtracting sqrt(1/2)'s bits makes the exponent field count from there.
SCALAR float log(float x) {
  const bool tiny = x < 0x1p-126f;
  const uint32_t b = bits<uint32_t>(tiny ? x * 0x1p23f : x);
  const int32_t k = int32_t(b - 0x3f3504f3u) >> 23;
  const float f = bits<float>(b - (uint32_t(k) << 23)) - 1.0f;
  const float e = float(k) - (tiny ? 23.0f : 0.0f);
  float q = -0x1.38b588p-4f;
  q = q * f + 0x1.055b6cp-3f;
  q = q * f - 0x1.0d8542p-3f;
  q = q * f + 0x1.22da1cp-3f;
  q = q * f - 0x1.547244p-3f;
  q = q * f + 0x1.99a008p-3f;
  q = q * f - 0x1.000226p-2f;
  q = q * f + 0x1.555554p-2f;
  const float f2 = f * f;
  const float small = (q * f) * f2 + e * kLn2Lo - 0.5f * f2;
  const float y = e * kLn2Hi + (f + small);
  const float finite = x < __builtin_inff() ? y : x;  // inf and NaN as they came
  const float positive = x < 0.0f ? __builtin_nanf("") : finite;
  return x == 0.0f ? -__builtin_inff() : positive;
}
SCALAR double log(double x) { return __builtin_log(x); }

// log(u) of the rounded u = 1 + x, plus what the rounding lost, to first order.
SCALAR float log1p(float x) {
  const float u = 1.0f + x;
  const float lost = x - (u - 1.0f);
  const float c = u > 0x1p24f ? 0.0f : lost / u;
  return u == 0.0f ? -__builtin_inff() : log(u) + c;
}
SCALAR double log1p(double x) { return __builtin_log1p(x); }

// ---- erf ----------------------------------------------------------------------------------------------------------------
// |x| < 0.92: x + x P(x^2). Above: 1 - exp(L(|x|)), L fitted to log erfc with the error weighted by erfc.
template <class F, class U>
SCALAR F erf_of(F x) {
  const F a = abs_of<F, U>(x), z = x * x;
  F p = F{} - 0x1.3a8adp-11f;
  p = p * z + 0x1.475764p-8f;
  p = p * z - 0x1.b68ff6p-6f;
  p = p * z + 0x1.ce1abap-4f;
  p = p * z - 0x1.8126e8p-2f;
  p = p * z + 0x1.06eba6p-3f;
  const F near = p * a + a;
  const F c = a > 4.0f ? F{} + 4.0f : a;
  F l = F{} - 0x1.630958p-16f;
  l = l * c + 0x1.c85bfp-12f;
  l = l * c - 0x1.1196d2p-8f;
  l = l * c + 0x1.9bb50cp-6f;
  l = l * c - 0x1.bb926ap-4f;
  l = l * c - 0x1.44447p-1f;
  l = l * c - 0x1.212846p+0f;
  l = l * c + 0x1.70d548p-13f;
  const F far = 1.0f - exp_of<F, U>(l);
  return copysign_of<F, U>(a < 0.92f ? near : far, x);
}
SCALAR_OF_DOUBLE(erf)
SCALAR_OF(erf)

// ---- sin, cos -----------------------------------------------------------------------------------------------------------
// Quarter turns are counted in double: w * (first + second), where the two parts hold 107 bits of 2/pi. Of a float from 2^48 on, which is a whole multiple of
// 2^25, w is that multiple and the parts hold what 2^25 * 2/pi leaves of a division by 4: whole turns are lost on purpose. Likewise from 2^75 and 2^102 on.
// w stays below 2^50 so that counts are exact. Payne & Hanek, Radian Reduction for Trigonometric Functions, 1983.
SCALAR float sin_quadrant(float x, uint64_t quarter_turns) {
  const double d = x, a = abs(d);
  const bool large = a >= 0x1p48, larger = a >= 0x1p75, largest = a >= 0x1p102;
  const double scale = largest ? 0x1p-79 : larger ? 0x1p-52 : large ? 0x1p-25 : 1.0;
  const double first = largest ? -0x1.505c1596447e5p-2 : larger ? 0x1.529fc2757d1f5p+0 : large ? -0x1.236377d5ac07bp+0 : 0x1.45f306dc9c883p-1;
  const double second = largest ? 0x1.b14acc9e21c82p-56 : larger ? 0x1.a6ee06db14acdp-55 : large ? -0x1.505c1596447e5p-56 : -0x1.6b01ec5417056p-55;
  const double w = d * scale, t = w * first + 0x1.8p52;
  const double part = __builtin_fma(w, second, __builtin_fma(w, first, 0x1.8p52 - t));  // the inner one is exact where w is a whole number
  const double t2 = part + 0x1.8p52;  // what rounding the count hid may be a quarter of a quarter turn
  const float r = float((part - (t2 - 0x1.8p52)) * 0x1.921fb54442d18p0);
  const uint32_t quadrant = uint32_t(bits<uint64_t>(t) + bits<uint64_t>(t2) + quarter_turns);
  const float z = r * r;
  float s = -0x1.994062p-13f;
  s = s * z + 0x1.11073p-7f;
  s = s * z - 0x1.555546p-3f;
  s = (s * z) * r + r;
  float c = 0x1.99e86ap-16f;
  c = c * z - 0x1.6c0c28p-10f;
  c = c * z + 0x1.55554ap-5f;
  c = (c * z) * z - 0.5f * z + 1.0f;
  const float y = quadrant & 1 ? c : s;
  return bits<float>(bits<uint32_t>(y) ^ ((quadrant & 2) << 30));
}
SCALAR float sin(float x) { return x == 0.0f ? x : sin_quadrant(x, 0); }  // -0 as it is
SCALAR float cos(float x) { return sin_quadrant(x, 1); }
SCALAR double sin(double x) { return __builtin_sin(x); }
SCALAR double cos(double x) { return __builtin_cos(x); }

// ---- pow ----------------------------------------------------------------------------------------------------------------
// 2^(y log2|x|) in double, so that the product's rounding stays far below float's. Special cases are those of C.
SCALAR float pow(float x, float y) {
  const double a = abs(x);
  const uint64_t b = bits<uint64_t>(a);
  const int64_t k = int64_t(b - 0x3fe6a09e667f3bcdu) >> 52;
  const double m = bits<double>(b - (uint64_t(k) << 52));
  const double s = (m - 1.0) / (m + 1.0), z = s * s;  // log2 m = 2/ln2 atanh(s)
  double p = 0x1.f1c98568fa76cp-3;
  p = p * z + 0x1.0bb4ef2aca746p-2;
  p = p * z + 0x1.484fc1fb769aep-2;
  p = p * z + 0x1.a617562960a46p-2;
  p = p * z + 0x1.2776c516e71dep-1;
  p = p * z + 0x1.ec709dc39c7aep-1;
  p = p * z + 0x1.71547652b82ffp+1;
  const double log2 = a == 0.0 ? -__builtin_inf() : a < __builtin_inf() ? double(k) + s * p : a;
  const double e0 = log2 * double(y);
  const double e1 = e0 > 200.0 ? 200.0 : e0;
  const double e = e1 < -200.0 ? -200.0 : e1;
  const double t = e + 0x1.8p52;
  const double r = e - (t - 0x1.8p52);
  double q = 0x1.fe17831e25615p-17;
  q = q * r + 0x1.446a1fdadeafdp-13;
  q = q * r + 0x1.5d8a7088fde03p-10;
  q = q * r + 0x1.3b29dc40d649ap-7;
  q = q * r + 0x1.c6b08aaf2e2f5p-5;
  q = q * r + 0x1.ebfbe0a4be81ap-3;
  q = q * r + 0x1.62e42ff11629p-1;
  q = q * r + 0x1.ffffffffabbcdp-1;
  const float magnitude = a == 1.0 ? 1.0f : float(q * bits<double>((bits<uint64_t>(t) << 52) + 0x3ff0000000000000u));
  const bool whole = round(y) == y;
  const bool odd = whole && round(0.5f * y) != 0.5f * y;
  const bool no_root = x < 0.0f && !whole && x > -__builtin_inff();
  const uint32_t sign = odd ? bits<uint32_t>(x) & 0x80000000u : 0u;
  const float value = no_root ? __builtin_nanf("") : bits<float>(bits<uint32_t>(magnitude) | sign);
  const bool one = (x == 1.0f) | (y == 0.0f);
  return one ? 1.0f : (x != x) | (y != y) ? __builtin_nanf("") : value;
}
SCALAR double pow(double x, double y) { return __builtin_pow(x, y); }

// ---- rare ones: libm ----------------------------------------------------------------------------------------------------
#define SCALAR_LIBM(name)                                         \
  SCALAR float name(float x) { return __builtin_##name##f(x); } \
  SCALAR double name(double x) { return __builtin_##name(x); }
SCALAR_LIBM(tan) SCALAR_LIBM(asin) SCALAR_LIBM(acos) SCALAR_LIBM(atan)
SCALAR_LIBM(sinh) SCALAR_LIBM(cosh) SCALAR_LIBM(asinh) SCALAR_LIBM(acosh) SCALAR_LIBM(atanh)
#undef SCALAR_LIBM

// ---- activations --------------------------------------------------------------------------------------------------------
// The largest finite magnitudes stand in for infinities where inf * 0 or inf / inf would be met; NaN goes through.
template <class F>
SCALAR F from_below(F x) {
  typedef typename Number<F>::type N;
  return x < N(-3e38) ? F{} + N(-3e38) : x;
}
// The share of a normal distribution that lies below x, off by 1.5 / 2^24 at most. What lies beyond |x| is 2^(|x| p(|x|) - 1): its logarithm is nearly a
// parabola, while erf takes two polynomials, one of them in an exponential, and a choice. From 6 on that is less than 2^-29 and counts as nothing.
// Remez exchange on the logarithm, errors weighed by what lies beyond, or by 1e-4 where that is less: 1e-8 at most.
template <class F, class U>
SCALAR F normal_share_of(F x) {
  const F a = abs_of<F, U>(x);
  F l = F{} + 0x1.ca9fdep-23f;
  l = l * a - 0x1.541296p-18f;
  l = l * a + 0x1.91413ep-15f;
  l = l * a - 0x1.a1e248p-13f;
  l = l * a - 0x1.199366p-13f;
  l = l * a + 0x1.cfe654p-8f;
  l = l * a - 0x1.ae2ff2p-5f;
  l = l * a - 0x1.d638eap-2f;
  l = l * a - 0x1.26aee4p+0f;
  l = l * a;
  constexpr float kHalves = kRoundBiased - 1.0f;
  const F t = l + kHalves, y = exp2_of_reduced<F, U>(l - (t - kHalves), t);
  const F beyond = a < 6.0f ? y : F{};
  return x < 0.0f ? beyond : 1.0f - beyond;
}
template <> inline __attribute__((always_inline)) double normal_share_of<double, uint64_t>(double x) { return 0.5 * __builtin_erfc(x * -0.70710678118654752); }

// As the products that exporters write them as: NaN at -infinity, where the operators have their limit.
template <class F, class U> SCALAR F gelu_product_of(F x) { return x * normal_share_of<F, U>(x); }
SCALAR_OF(gelu_product)
// 0.5 x (1 + tanh u) = x / (1 + exp(-2u)): one division less, and no cancellation in the tail.
template <class F, class U>
SCALAR F gelu_tanh_product_of(F x) {
  typedef typename Number<F>::type N;
  constexpr double kTwoRoots = 2 * 0.79788456080286536 * 1.4426950408889634;  // log2(e) sqrt(8 / pi)
  return x / (N(1) + exp2_saturated_of<F, U>(x * (N(-kTwoRoots) - N(kTwoRoots * 0.044715) * x * x)));
}
SCALAR_OF(gelu_tanh_product)
template <class F, class U> SCALAR F gelu_of(F x) { return gelu_product_of<F, U>(from_below(x)); }
SCALAR_OF(gelu)
template <class F, class U> SCALAR F gelu_tanh_of(F x) { return gelu_tanh_product_of<F, U>(from_below(x)); }
SCALAR_OF(gelu_tanh)
// x sigmoid(x), with the product's NaN at -infinity too.
template <class F, class U>
SCALAR F swish_product_of(F x) {
  typedef typename Number<F>::type N;
  return x / (N(1) + exp2_saturated_of<F, U>(x * N(-1.4426950408889634)));
}
SCALAR_OF(swish_product)
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
template <class T> SCALAR T shrink(T x, T lambda, T bias) {
  return x < -lambda ? x + bias : x > lambda ? x - bias : T(0);
}

}  // namespace scalar

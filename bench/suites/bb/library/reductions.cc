// A block to a number or two. PyTorch's rules for NaN: it is the largest and the smallest number, and the first of several is taken.
#include <limits>

#include "blocks.h"

namespace aten {
namespace {

using P = const double*;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <class C>
bool isNan(C x) {
  return x != x;
}

template <class C>
bool isBetter(C a, C than, bool largest) {
  if (isNan(than)) return false;
  return isNan(a) || (largest ? a > than : a < than);
}

template <class C>
int64_t bestIndex(const Block<C>& x, bool largest) {
  int64_t best = 0;
  for (int64_t i = 1; i < x.count(); ++i)
    if (isBetter(x[i], x[best], largest)) best = i;
  return best;
}

// Value and index.
template <bool largest>
constexpr auto extreme = [](auto& b, P) {
  int64_t best = bestIndex(b[2], largest);
  b[0][0] = b[2][best];
  b[1][0] = best;
};

template <bool largest>
constexpr auto extremeValue = [](auto& b, P) { b[0][0] = b[1][bestIndex(b[1], largest)]; };

template <bool largest>
constexpr auto extremeIndex = [](auto& b, P) { b[0][0] = bestIndex(b[1], largest); };

template <class C>
double meanOf(const Block<C>& x) {
  double sum = 0;
  for (int64_t i = 0; i < x.count(); ++i) sum += double(x[i]);
  return sum / double(x.count());
}

double variance(const Block<double>& x, double correction) {
  double mean = meanOf(x), sum = 0;
  for (double v : x.numbers) sum += (v - mean) * (v - mean);
  double divisor = double(x.count()) - correction;
  return sum / std::max(0.0, divisor);
}

double norm(const Block<double>& x, double p) {
  double result = p == -kInfinity ? kInfinity : 0;
  for (double v : x.numbers) {
    double a = std::abs(v);
    if (isNan(a)) return kNan;
    if (p == kInfinity) result = std::max(result, a);
    else if (p == -kInfinity) result = std::min(result, a);
    else result += p == 0 ? a != 0 : p == 1 ? a : p == 2 ? a * a : std::pow(a, p);
  }
  return p == 2 ? std::sqrt(result) : p == 0 || p == 1 || std::isinf(p) ? result : std::pow(result, 1 / p);
}

double logOfSum(const Block<double>& x) {
  if (x.count() == 0) return -kInfinity;
  double most = x[bestIndex(x, true)], sum = 0;
  if (std::isinf(most) || isNan(most)) return most;
  for (double v : x.numbers) sum += std::exp(v - most);
  return most + std::log(sum);
}

}  // namespace

const BlockKernels& reductions() {
  static const BlockKernels kernels = {
      {"sum", block([](auto& b, P) {
         b[0][0] = 0;
         for (auto x : b[1].numbers) b[0][0] += x;
       })},
      {"nansum", block([](auto& b, P) {
         b[0][0] = 0;
         for (auto x : b[1].numbers) b[0][0] += isNan(x) ? 0 : x;
       })},
      {"prod", block([](auto& b, P) {
         b[0][0] = 1;
         for (auto x : b[1].numbers) b[0][0] *= x;
       })},
      {"mean", block([](auto& b, P) { b[0][0] = meanOf(b[1]); })},
      {"var", block([](Blocks<double>& b, P p) { b[0][0] = variance(b[1], p[0]); })},
      {"std", block([](Blocks<double>& b, P p) { b[0][0] = std::sqrt(variance(b[1], p[0])); })},
      {"max", block(extreme<true>)},
      {"min", block(extreme<false>)},
      {"amax", block(extremeValue<true>)},
      {"amin", block(extremeValue<false>)},
      {"argmax", block(extremeIndex<true>)},
      {"argmin", block(extremeIndex<false>)},
      {"all", block([](auto& b, P) {
         b[0][0] = 1;
         for (auto x : b[1].numbers) b[0][0] = b[0][0] != 0 && x != 0;
       })},
      {"any", block([](auto& b, P) {
         b[0][0] = 0;
         for (auto x : b[1].numbers) b[0][0] = b[0][0] != 0 || x != 0;
       })},
      {"count_nonzero", block([](auto& b, P) {
         b[0][0] = 0;
         for (auto x : b[1].numbers) b[0][0] += x != 0;
       })},
      {"norm", block([](Blocks<double>& b, P p) { b[0][0] = norm(b[1], p[0]); })},
      {"logsumexp", block([](Blocks<double>& b, P) { b[0][0] = logOfSum(b[1]); })},
  };
  return kernels;
}

}  // namespace aten

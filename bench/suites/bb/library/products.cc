// Products of vectors and matrices, summed in double (or int64_t).
#include "blocks.h"

namespace aten {
namespace {

using P = const double*;

// out[m, n] = sum of a[m, k] b[k, n]
template <class C>
void multiply(C* out, const C* a, const C* b, int64_t m, int64_t k, int64_t n) {
  std::fill(out, out + m * n, C(0));
  for (int64_t i = 0; i < m; ++i)
    for (int64_t l = 0; l < k; ++l)
      for (int64_t j = 0; j < n; ++j) out[i * n + j] += a[i * k + l] * b[l * n + j];
}

std::vector<double> multiplied(const std::vector<double>& a, const std::vector<double>& b, int64_t n) {
  std::vector<double> out(n * n);
  multiply(out.data(), a.data(), b.data(), n, n, n);
  return out;
}

// By Taylor's series after halving until the norm is small, then squaring.
void exponential(Blocks<double>& b, P) {
  int64_t n = b[1].size[0];
  double norm = 0;
  for (int64_t i = 0; i < n; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < n; ++j) sum += std::abs(b[1][i * n + j]);
    norm = std::max(norm, sum);
  }
  int halvings = norm > 0.125 ? std::max(0, std::ilogb(norm) + 4) : 0;
  std::vector<double> x = b[1].numbers, power(n * n, 0.0), sum;
  for (double& v : x) v = std::ldexp(v, -halvings);
  for (int64_t i = 0; i < n; ++i) power[i * n + i] = 1;
  sum = power;
  for (int k = 1; k <= 20; ++k) {
    power = multiplied(power, x, n);
    for (int64_t i = 0; i < n * n; ++i) sum[i] += power[i] /= k;
  }
  for (int i = 0; i < halvings; ++i) sum = multiplied(sum, sum, n);
  b[0].numbers = sum;
}

}  // namespace

const BlockKernels& products() {
  static const BlockKernels kernels = {
      {"dot", block([](auto& b, P) {
         b[0][0] = 0;
         for (int64_t i = 0; i < b[1].count(); ++i) b[0][0] += b[1][i] * b[2][i];
       })},
      {"matmul", block([](auto& b, P) { multiply(b[0].numbers.data(), b[1].numbers.data(), b[2].numbers.data(), b[1].size[0], b[1].size[1], b[2].size[1]); })},
      // p: beta, alpha; what beta makes 0 may hold NaN
      {"addmm", block([](auto& b, P p) {
         multiply(b[0].numbers.data(), b[2].numbers.data(), b[3].numbers.data(), b[2].size[0], b[2].size[1], b[3].size[1]);
         using C = std::remove_reference_t<decltype(b[0][0])>;
         for (int64_t i = 0; i < b[0].count(); ++i) b[0][i] = C(p[1]) * b[0][i] + (p[0] == 0 ? C(0) : C(p[0]) * b[1][i]);
       })},
      {"matrix_exp", block([](Blocks<double>& b, P p) { exponential(b, p); })},
      {"pdist", block([](Blocks<double>& b, P p) {
         int64_t rows = b[1].size[0], width = b[1].size[1], at = 0;
         for (int64_t i = 0; i < rows; ++i)
           for (int64_t j = i + 1; j < rows; ++j, ++at) {
             double sum = 0;
             for (int64_t k = 0; k < width; ++k) {
               double off = std::abs(b[1][i * width + k] - b[1][j * width + k]);
               sum = std::isinf(p[0]) ? std::max(sum, off) : sum + (p[0] == 0 ? double(off != 0) : std::pow(off, p[0]));
             }
             b[0][at] = std::isinf(p[0]) || p[0] == 0 ? sum : std::pow(sum, 1 / p[0]);
           }
       })},
  };
  return kernels;
}

}  // namespace aten

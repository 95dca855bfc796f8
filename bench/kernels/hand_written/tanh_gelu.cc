// GELU by tanh: x/2 (1 + tanh(u)) = x / (1 + e^(-2u)) with u = sqrt(2/pi) (x + 0.044715 x^3).

#include "bench/kernels/hand_written/hand_written.h"
#include "bench/kernels/hand_written/rows.h"
#include "bench/kernels/hand_written/vectors.h"

namespace amdahl::hand_written {
namespace {

template <bool kDivide>
Vec gelu(Vec x) {
  constexpr float kMinus2Root = -1.5957691216f;  // -2 sqrt(2/pi)
  const Vec exponent = x * (kMinus2Root + kMinus2Root * 0.044715f * (x * x));
  const Vec denominator = 1 + exp(smaller(exponent, all(80)));
  return kDivide ? x / denominator : x * reciprocal(denominator);
}

template <bool kStream, bool kDivide>
Run gelu_of_all(const Rows& r) {
  return [=] {
    const int64_t n = r.rows * r.columns;
#pragma omp parallel for
    for (int64_t j = 0; j < n; j += kLanes) put<kStream>(r.y + j, gelu<kDivide>(at(r.x + j)));
  };
}

}  // namespace

std::vector<Run> tanh_gelu(const Operands& operands, int) {
  const Rows r = rows_of(operands, kLanes);
  return {gelu_of_all<false, false>(r), gelu_of_all<false, true>(r), gelu_of_all<true, false>(r), gelu_of_all<true, true>(r)};
}

}  // namespace amdahl::hand_written

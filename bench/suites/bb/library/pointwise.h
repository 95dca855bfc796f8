// Kernels of single numbers, over tensors of one shape (0 strides repeat a number).
#ifndef BENCH_SUITES_BB_LIBRARY_POINTWISE_H_
#define BENCH_SUITES_BB_LIBRARY_POINTWISE_H_

#include <map>
#include <string_view>

#include "rows.h"

namespace aten {

constexpr int64_t kChunk = 256;  // numbers that are converted, computed and stored at a time: they stay in the first cache

template <class C>
using Chunk = void (*)(C* out, const C* const* in, int64_t n, const double* parameters);

struct Pointwise {
  Chunk<double> reals;
  Chunk<int64_t> integers;
};

template <class F, class C>
void chunk(C* out, const C* const* in, int64_t n, const double* p) {
  using P = const double*;
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (std::is_invocable_v<F, P>) out[i] = C(F()(p));
    else if constexpr (std::is_invocable_v<F, C, P>) out[i] = C(F()(in[0][i], p));
    else if constexpr (std::is_invocable_v<F, C, C, P>) out[i] = C(F()(in[0][i], in[1][i], p));
    else if constexpr (std::is_invocable_v<F, C, C, C, P>) out[i] = C(F()(in[0][i], in[1][i], in[2][i], p));
    else out[i] = C(F()(in[0][i], in[1][i], in[2][i], in[3][i], p));
  }
}

// From a lambda over 0 to 4 numbers, then the parameters.
template <class F>
constexpr Pointwise each(F) {
  return {chunk<F, double>, chunk<F, int64_t>};
}

using PointwiseKernels = std::map<std::string_view, Pointwise>;

const PointwiseKernels& arithmetic();
const PointwiseKernels& functions();
const PointwiseKernels& activations();

void runPointwise(const Pointwise& kernel, const Call& call);

}  // namespace aten

#endif  // BENCH_SUITES_BB_LIBRARY_POINTWISE_H_

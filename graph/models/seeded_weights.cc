#include "graph/models/seeded_weights.h"

#include <cmath>

#include "base/random.h"

namespace amdahl {
namespace {

// Element i is the i-th number of the stream, computed from its index alone: threads need no agreement, and the loop
// vectorises. 124M weights take well under a second on two cores, most of it page faults.
// `place` may multiply but not multiply and add: a fused operation would round differently on another machine.
template <typename Place>
Tensor filled(Shape shape, uint64_t seed, Place place) {
  std::byte* raw;
  Tensor t = Tensor::allocate(DType::kF32, std::move(shape), &raw);
  auto* out = reinterpret_cast<float*>(raw);
  const int64_t n = t.numel();
  constexpr uint64_t kStep = 0x9e3779b97f4a7c15ull;  // of base/random.h
#pragma omp parallel for schedule(static) if (n > (1 << 18))
  for (int64_t i = 0; i < n; ++i) out[i] = place(Random(seed + static_cast<uint64_t>(i) * kStep).next());
  return t;
}

}  // namespace

Tensor seeded_normals(Shape shape, uint64_t seed, double deviation) {
  // Four independent uniforms of width 65536 have variance 4 * 65536^2 / 12.
  const auto scale = static_cast<float>(deviation / (65536.0 * std::sqrt(4.0 / 12.0)));
  return filled(std::move(shape), seed, [scale](uint64_t bits) {
    const auto sum = static_cast<int32_t>((bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48));
    return static_cast<float>(sum - 131070) * scale;
  });
}

Tensor seeded_uniforms(Shape shape, uint64_t seed, double lo, double hi) {
  const double step = (hi - lo) / 65536.0;
  const auto base = static_cast<int32_t>(std::lround(lo / step));
  return filled(std::move(shape), seed,
                [base, scale = static_cast<float>(step)](uint64_t bits) { return static_cast<float>(base + static_cast<int32_t>(bits >> 48)) * scale; });
}

}  // namespace amdahl

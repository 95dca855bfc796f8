#include "graph/quantized_form.h"

namespace amdahl {

Tensor floats_of(const Tensor& q, const Tensor& scale, const Tensor* zero_point, int64_t axis) {
  const Shape& shape = q.shape();
  const auto rank = static_cast<int64_t>(shape.size()), at = axis < 0 ? axis + rank : axis;
  int64_t inner = 1;
  for (int64_t d = at + 1; d < rank; ++d) inner *= shape[static_cast<size_t>(d)];
  const std::vector<double> scales = to_doubles(scale), zeros = zero_point ? to_doubles(*zero_point) : std::vector<double>{0};
  const auto along = [&](const std::vector<double>& of, int64_t i) {
    return static_cast<float>(of[of.size() == 1 ? 0 : static_cast<size_t>(i / inner % shape[static_cast<size_t>(at)])]);
  };
  std::byte* made = nullptr;
  const Tensor floats = Tensor::allocate(DType::kF32, shape, &made);
  auto* out = reinterpret_cast<float*>(made);
  const auto fill = [&](const auto bytes) {
#pragma omp parallel for if (q.numel() > 1 << 16)
    for (int64_t i = 0; i < q.numel(); ++i) out[i] = (static_cast<float>(bytes[static_cast<size_t>(i)]) - along(zeros, i)) * along(scales, i);
  };
  if (q.dtype() == DType::kI8) fill(q.as<int8_t>());
  else fill(q.as<uint8_t>());
  return floats;
}

}  // namespace amdahl

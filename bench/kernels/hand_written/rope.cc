// Rotary position embedding: the halves (a, b) of a row become (a cos - b sin, b cos + a sin). A row of both tables serves both halves.

#include "bench/kernels/hand_written/hand_written.h"
#include "bench/kernels/hand_written/rows.h"
#include "bench/kernels/hand_written/vectors.h"

namespace amdahl::hand_written {
namespace {

// The left halves of a table's rows. Throws Error where the right ones differ.
HugeArray left_halves(const Tensor& table) {
  const int64_t width = table.shape().back(), half = width / 2, rows = table.numel() / width;
  const float* const from = table.as<float>().data();
  const HugeArray to = huge_array(static_cast<size_t>(rows * half));
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < half; ++j) {
      to[i * half + j] = from[i * width + j];
      if (from[i * width + j] != from[i * width + half + j]) throw Error(ExitCode::kUnsupported, "the halves of the table differ");
    }
  return to;
}

template <bool kStream>
Run rope_rows(const Rows& r, int64_t tokens, HugeArray cosines, HugeArray sines) {
  return [=] {
    const int64_t half = r.columns / 2;
#pragma omp parallel for
    for (int64_t i = 0; i < r.rows; ++i) {
      const float *const x = r.x + i * r.columns, *const cosine = cosines.get() + i % tokens * half, *const sine = sines.get() + i % tokens * half;
      float* const y = r.y + i * r.columns;
      for (int64_t j = 0; j < half; j += kLanes) {
        const Vec a = at(x + j), b = at(x + half + j), c = at(cosine + j), s = at(sine + j);
        put<kStream>(y + j, a * c - b * s);
        put<kStream>(y + half + j, b * c + a * s);
      }
    }
  };
}

}  // namespace

std::vector<Run> rope(const Operands& operands, int) {
  const Rows r = rows_of(operands, 2 * kLanes);
  const int64_t tokens = operands.inputs[0].shape.at(2);
  const HugeArray cosines = left_halves(operands.constant("c8")), sines = left_halves(operands.constant("c9"));
  return {rope_rows<false>(r, tokens, cosines, sines), rope_rows<true>(r, tokens, cosines, sines)};
}

}  // namespace amdahl::hand_written

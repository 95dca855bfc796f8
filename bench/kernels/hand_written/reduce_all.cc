// The sum of all elements. A thread reads several streams at once, which memory serves faster than one; a block's sum goes on in double, so that the
// order of 16 million additions does not show.

#include "bench/kernels/hand_written/hand_written.h"
#include "bench/kernels/hand_written/rows.h"
#include "bench/kernels/hand_written/vectors.h"

namespace amdahl::hand_written {
namespace {

constexpr int64_t kBlock = 1024;  // elements of one stream that are added in float

template <int kStreams>
double sum_of_blocks(const float* x, int64_t distance) {
  Vec sum[kStreams][2] = {};
  for (int64_t j = 0; j < kBlock; j += 2 * kLanes)
    for (int s = 0; s < kStreams; ++s)
      for (int u = 0; u < 2; ++u) sum[s][u] += at(x + s * distance + j + u * kLanes);
  double total = 0;
  for (int s = 0; s < kStreams; ++s) total += sum_of(sum[s][0] + sum[s][1]);
  return total;
}

template <int kStreams>
Run sum_all(const Rows& r) {
  return [=] {
    const int64_t blocks = r.rows * r.columns / kBlock, stream = blocks / kStreams;
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int64_t b = 0; b < stream; ++b) sum += sum_of_blocks<kStreams>(r.x + b * kBlock, stream * kBlock);
    for (int64_t b = stream * kStreams; b < blocks; ++b) sum += sum_of_blocks<1>(r.x + b * kBlock, 0);
    *r.y = static_cast<float>(sum);
  };
}

}  // namespace

std::vector<Run> reduce_all(const Operands& operands, int) {
  const Rows r = rows_of(operands, kBlock);
  return {sum_all<1>(r), sum_all<2>(r), sum_all<4>(r), sum_all<8>(r)};
}

}  // namespace amdahl::hand_written

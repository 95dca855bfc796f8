#include "starter_kernels/cuda/matmul_rows.h"

#include <algorithm>

#include "starter_kernels/cuda/cuda_text.h"
#include "starter_kernels/cuda/product_tile.h"
#include "starter_kernels/cuda/vector_access.h"
#include "starter_kernels/kinds/matmul.h"
#include "starter_kernels/text/index_space.h"

namespace amdahl {
namespace {

constexpr int64_t kMostRows = 8, kWarp = 32;

// Whether a row of B lies in memory order, where a column does not.
bool has_rows(const Access& b) { return b.strides[b.strides.size() - 2] != 1; }
// Along whichever dimension kernels/matmul_rows.cu reads.
int64_t vector_of_b(const Access& b) { return vector_along(b, b.strides.size() - (has_rows(b) ? 1 : 2)); }

}  // namespace

bool has_rows_form(const Problem& problem) {
  const MatmulSizes s = MatmulSizes::of(problem);
  const Access& b = problem.in[1];
  const bool adjacent = !has_rows(b) || b.strides.back() == 1;
  return s.batch == 1 && s.m >= 1 && s.m <= kMostRows && adjacent && declared_algorithm(problem).empty();
}

void add_rows_knobs(SearchSpace& space, const Problem& problem, int64_t warps) {
  const int64_t unroll = MatmulSizes::of(problem).m <= 2 ? 8 : 4;  // which of A's rows are registers too
  space.knobs.push_back({"WARPS", {1, 2, 4, 8, 16}, warps, "warps of a block that has few rows"});
  space.knobs.push_back({"UNROLL", {1, 2, 4, 8}, unroll, "loads of B that a thread has on their way"});
}

// Every multiprocessor has enough loads on their way: of short ones along rows two blocks. A part is worth its way through memory where a thread has some.
int64_t starter_rows_split(const Problem& problem, const DeviceInfo& card) {
  const MatmulSizes s = MatmulSizes::of(problem);
  const Access& b = problem.in[1];
  const int64_t units = std::max(card.units, 1), most_blocks = has_rows(b) ? 2 * units : units;
  const int64_t columns = has_rows(b) ? kWarp * vector_of_b(b) : kStarterRowsWarps;
  const int64_t steps_of_load = has_rows(b) ? kStarterRowsWarps : kWarp * vector_of_b(b);  // of a block
  return starter_split(std::max<int64_t>(1, (s.n + columns - 1) / columns), most_blocks, s.k, 8 * steps_of_load);
}

std::string rows_text(const Problem& problem) {
  const Access& a = problem.in[0];
  return join_text({cuda_sizes({{"A_VECTOR", vector_along(a, a.strides.size() - 1)}, {"B_VECTOR", vector_of_b(problem.in[1])}}),
                    std::string(cuda_text("vector.h")), std::string(cuda_text("matmul_order.h")), std::string(cuda_text("matmul_rows.cu"))});
}

}  // namespace amdahl

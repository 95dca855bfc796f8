// Kernels of blocks: what NumPy calls generalised universal functions. The first `outer` dimensions of all tensors agree (0 strides repeat one that has them
// not), and for every index of them the kernel sees of each tensor the block that the other dimensions make, dense and in the order of its indices.
#ifndef BENCH_SUITES_BB_LIBRARY_BLOCKS_H_
#define BENCH_SUITES_BB_LIBRARY_BLOCKS_H_

#include <map>
#include <string_view>

#include "rows.h"

namespace aten {

template <class C>
struct Block {
  std::vector<C> numbers;
  std::vector<int64_t> size;

  int64_t count() const { return int64_t(numbers.size()); }
  C& operator[](int64_t i) { return numbers[i]; }
  const C& operator[](int64_t i) const { return numbers[i]; }
  auto begin() { return numbers.begin(); }
  auto end() { return numbers.end(); }
};

template <class C>
using Blocks = std::vector<Block<C>>;

struct BlockKernel {
  void (*reals)(Blocks<double>&, const double* parameters);
  void (*integers)(Blocks<int64_t>&, const double* parameters);  // null: it has none
};

// From a lambda over blocks of any type, or of double alone.
template <class F>
constexpr BlockKernel block(F) {
  BlockKernel kernel{[](Blocks<double>& b, const double* p) { F()(b, p); }, nullptr};
  if constexpr (std::is_invocable_v<F, Blocks<int64_t>&, const double*>) kernel.integers = [](Blocks<int64_t>& b, const double* p) { F()(b, p); };
  return kernel;
}

using BlockKernels = std::map<std::string_view, BlockKernel>;

const BlockKernels& reductions();
const BlockKernels& scans();
const BlockKernels& searches();
const BlockKernels& products();
const BlockKernels& factorisations();
const BlockKernels& pools();
const BlockKernels& samplers();
const BlockKernels& norms();
const BlockKernels& indexings();
const BlockKernels& losses();

void runBlocks(const BlockKernel& kernel, const Call& call);

}  // namespace aten

#endif  // BENCH_SUITES_BB_LIBRARY_BLOCKS_H_

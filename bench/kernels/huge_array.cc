#include "bench/kernels/huge_array.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <new>

namespace amdahl {

HugeArray huge_array(size_t count) {
  constexpr size_t kPage = size_t{2} << 20;
  const size_t bytes = (count * sizeof(float) + kPage - 1) / kPage * kPage;
  void* const memory = std::aligned_alloc(kPage, bytes);
  if (!memory) throw std::bad_alloc();
  madvise(memory, bytes, MADV_HUGEPAGE);
  std::memset(memory, 0, bytes);
  return HugeArray(static_cast<float*>(memory), [](float* p) { std::free(p); });
}

}  // namespace amdahl

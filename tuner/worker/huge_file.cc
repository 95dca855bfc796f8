#include "tuner/worker/huge_file.h"

#include <sys/mman.h>

namespace amdahl {

constexpr int kCollapse = 25;  // MADV_COLLAPSE (Linux 6.1), which the C library does not know yet

FileMapping map_on_huge_pages(int file, int64_t at, size_t bytes, int protection) {
  FileMapping m;
  m.span = bytes + kHugePage;
  m.reserved = mmap(nullptr, m.span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (m.reserved == MAP_FAILED) return {};
  auto* first = reinterpret_cast<std::byte*>(up_to_huge_page(reinterpret_cast<uintptr_t>(m.reserved)));
  if (mmap(first, bytes, protection, MAP_SHARED | MAP_FIXED, file, at) == MAP_FAILED) {
    munmap(m.reserved, m.span);
    return {};
  }
  m.first = first;
  return m;
}

// One small page of each huge one has to be there; the join copies those that are, and zeroes the rest.
void join_pages(std::byte* first, size_t bytes) {
  for (size_t at = 0; at < bytes; at += kHugePage)
    if (madvise(first + at, 1, MADV_POPULATE_WRITE) != 0) return;
  madvise(first, bytes, kCollapse);
}

}  // namespace amdahl

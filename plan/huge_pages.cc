#include "plan/huge_pages.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>

#include "base/error.h"

namespace amdahl {
namespace {

constexpr size_t kLine = 64;
constexpr size_t kHuge = size_t{2} << 20;
constexpr size_t kSlab = size_t{16} << 20;  // address space; only what is touched becomes memory

size_t up(size_t n, size_t to) { return (n + to - 1) / to * to; }

}  // namespace

std::byte* HugePages::take(size_t bytes) {
  const size_t wanted = up(std::max<size_t>(bytes, 1), kLine);
  if (static_cast<size_t>(end_ - next_) < wanted) {
    const size_t slab = std::max(kSlab, up(wanted, kHuge)), span = slab + kHuge;
    void* reserved = mmap(nullptr, span, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved == MAP_FAILED) throw Error(ExitCode::kIo, "out of memory: close other programs or take a smaller model");
    slabs_.push_back({static_cast<std::byte*>(reserved), span});
    next_ = reinterpret_cast<std::byte*>(up(reinterpret_cast<uintptr_t>(reserved), kHuge));
    end_ = next_ + slab;
    madvise(next_, slab, MADV_HUGEPAGE);  // advice: refused on some systems, and right without it
  }
  std::byte* taken = next_;
  next_ += wanted;
  return taken;
}

HugePages::~HugePages() {
  for (const Slab& s : slabs_) munmap(s.reserved, s.span);
}

}  // namespace amdahl

#pragma once
// Memory of a running model. A weight of 9 MiB in pages of 4 KiB takes 2,300 entries of a TLB that has 1,536 to 2,048, and which sets of a
// cache it fills is chance. Buffers therefore lie side by side in slabs of whole huge pages: one mapping each would leave the
// part of every buffer that fills no aligned 2 MiB in small pages (BERT-base, weights of 2.25 and 9 MiB: half of them).

#include <cstddef>
#include <vector>

namespace amdahl {

class HugePages {
 public:
  HugePages() = default;
  ~HugePages();
  HugePages(const HugePages&) = delete;

  // Zeroed, on a cache line, until this object ends. Throws Error(kIo) when memory is refused.
  std::byte* take(size_t bytes);

 private:
  struct Slab {
    std::byte* reserved;
    size_t span;  // bytes reserved: the slab's and what its alignment needs
  };
  std::vector<Slab> slabs_;
  std::byte *next_ = nullptr, *end_ = nullptr;  // of the newest slab
};

}  // namespace amdahl

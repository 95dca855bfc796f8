#pragma once
// Files in memory on huge pages: what is shared with workers is read as fast there as a program's own memory.
//
// Most systems give files in memory no huge pages unless they are asked to join pages that are there, and map them only at addresses that are
// as aligned as the place in the file. In pages of 4 KiB a weight of 64 MiB takes 16,384 entries of the TLB; a core has 1,500 to 2,000.

#include <cstddef>
#include <cstdint>

namespace amdahl {

constexpr size_t kHugePage = size_t{2} << 20;
inline size_t up_to_huge_page(size_t bytes) { return (bytes + kHugePage - 1) / kHugePage * kHugePage; }

// A part of a file, and the address space that munmap() is to be given.
struct FileMapping {
  std::byte* first = nullptr;  // null: refused
  void* reserved = nullptr;
  size_t span = 0;
};

// `at` and `first` are multiples of a huge page. `protection`: as mmap's.
FileMapping map_on_huge_pages(int file, int64_t at, size_t bytes, int protection);

// Makes huge pages of a writable mapping that has not been touched; without effect where the system has none to give.
void join_pages(std::byte* first, size_t bytes);

}  // namespace amdahl

#pragma once
// Memory that the supervisor shares with workers: a file in memory, of which the supervisor maps every region writable, and
// a worker those that it is told of (tuner/worker/guarded_memory.h). A worker that is given read_only() can by no means write: the
// kernel refuses writable mappings of a descriptor that was opened for reading, and mprotect() of the ones that exist.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tuner/worker/guarded_memory.h"

namespace amdahl {

// A region as the supervisor sees it.
struct Region {
  int64_t at = -1;            // of its first page in the file; -1: none
  std::byte* data = nullptr;
  size_t bytes = 0;
};

class SharedMemory {
 public:
  explicit SharedMemory(const char* name);  // throws Error(kIo)
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;

  // Zeroed. Throws Error(kIo) when memory is refused.
  Region allocate(size_t bytes, size_t element, Layout layout);
  void clear();  // gives all regions back
  int read_only() const { return read_only_; }
  int writable() const { return writable_; }
  size_t bytes() const { return bytes_; }

 private:
  struct Mapping {
    void* first;
    size_t bytes;
  };
  int writable_ = -1, read_only_ = -1;
  size_t bytes_ = 0;
  std::vector<Mapping> mappings_;
};

}  // namespace amdahl

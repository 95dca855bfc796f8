#pragma once
// Memory that the supervisor shares with workers whose kernels run on the processor: a file in memory, of which the supervisor maps every region
// writable, and a worker those that it is told of (tuner/worker/guarded_memory.h). A worker that is given read_only() can by no means write: the
// kernel refuses writable mappings of a descriptor that was opened for reading, and mprotect() of the ones that exist.

#include <vector>

#include "tuner/worker/arena.h"

namespace amdahl {

class HostArena : public Arena {
 public:
  explicit HostArena(const char* name);  // throws Error(kIo)
  ~HostArena() override;
  HostArena(const HostArena&) = delete;

  Region allocate(size_t bytes, size_t element, Layout layout) override;
  void clear() override;
  void publish(const Region&) override {}
  void fetch(const Region&) override {}
  int read_only() const override { return read_only_; }
  int writable() const override { return writable_; }

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

#pragma once
// Memory of a candidate's buffers on the processor, between two PROT_NONE pages. A kernel that reads or writes past an end is killed by the
// first byte, and the fault report names the buffer.

#include <cstdint>
#include <string>

#include "tuner/worker/worker_device.h"

namespace amdahl {

class GuardedMemory : public GuardedBuffer {
 public:
  // Memory of this process's own. `element` is the element's size: data() is aligned to it in every layout. Throws
  // std::bad_alloc when memory is refused.
  GuardedMemory(std::string name, size_t bytes, size_t element, Layout layout);
  // The pages at `at` of a file that another process has made ready (tuner/worker/host_arena.h).
  GuardedMemory(std::string name, size_t bytes, size_t element, Layout layout, int fd, int64_t at, bool writable);
  ~GuardedMemory() override;
  GuardedMemory(const GuardedMemory&) = delete;

  std::byte* data() const override { return data_; }
  size_t bytes() const override { return bytes_; }
  void allow_writes(bool allowed) override;
  bool intact() const override;

 private:
  void reserve(size_t bytes, const Placement& p);

  std::string name_;
  size_t bytes_, span_ = 0, own_pages_ = 0;
  std::byte *base_ = nullptr, *first_ = nullptr, *data_ = nullptr;
};

}  // namespace amdahl

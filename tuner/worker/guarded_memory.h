#pragma once
// Memory of a candidate's buffers, between two PROT_NONE pages. A kernel that reads or writes past an end is killed by the
// first byte, and the fault report names the buffer.

#include <cstddef>
#include <cstdint>
#include <string>

namespace amdahl {

// Where the bytes lie between the guards.
enum class Layout {
  kModel,  // 64-byte aligned, whole huge pages from 128 KiB on: as the executor has it; for timing
  kEnd,    // the last byte touches the guard page behind: alignment is that of the size, at least the element's
  kStart,  // the first byte touches the guard page in front
  kShift,  // 20 bytes past a 64-byte boundary: no vector width divides it, the element's alignment (4) does
};

// The pages of a buffer and its place in them: the same on both sides of a shared file.
struct Placing {
  size_t pages = 0;   // bytes, a multiple of the page, or of 2 MiB
  size_t offset = 0;  // of the data in the pages
  bool huge = false;  // pages start on a 2 MiB boundary
};
Placing placing(size_t bytes, size_t element, Layout layout);

// Bytes of the data's first and last 4 KiB that are not the data's: filled with a pattern, and whether they still hold it. (The rest of a
// huge page is nobody's: a buffer has one where it is timed, and was judged between guards before.)
void fill_slack(std::byte* data, size_t bytes, std::byte pattern);
bool slack_intact(const std::byte* data, size_t bytes, std::byte pattern);

class GuardedMemory {
 public:
  // Memory of this process's own. `element` is the element's size: data() is aligned to it in every layout. Throws
  // std::bad_alloc when memory is refused.
  GuardedMemory(std::string name, size_t bytes, size_t element, Layout layout);
  // The pages at `at` of a file that another process has made ready (tuner/worker/shared_memory.h).
  GuardedMemory(std::string name, size_t bytes, size_t element, Layout layout, int fd, int64_t at, bool writable);
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory&) = delete;

  std::byte* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  // Of memory of its own: from now on a write is a fault (false) or none. The kernel keeps it until it is told otherwise.
  void allow_writes(bool allowed);
  bool intact() const;  // of memory of its own: nothing was written beside the data

 private:
  void reserve(size_t bytes, const Placing& p);

  std::string name_;
  size_t bytes_, span_ = 0, own_pages_ = 0;
  std::byte *base_ = nullptr, *first_ = nullptr, *data_ = nullptr;
};

// Async-signal-safe: what lies at `address`, as "3 bytes past the end of 'gelu_out'", written to `fd`; nothing when no
// region is near.
void describe_address(const void* address, int fd);

}  // namespace amdahl

#pragma once
// Memory of a candidate's buffers, between two PROT_NONE pages. A kernel that reads or writes past an end is killed by the
// first byte, and the fault report names the buffer.

#include <cstddef>
#include <string>

namespace amdahl {

// Where the bytes lie between the guards.
enum class Layout {
  kModel,  // 64-byte aligned, huge pages when large: as the executor has it; for timing
  kEnd,    // the last byte touches the guard page behind: alignment is that of the size, at least the element's
  kStart,  // the first byte touches the guard page in front
  kShift,  // 20 bytes past a 64-byte boundary: no vector width divides it, the element's alignment (4) does
};

class GuardedMemory {
 public:
  // `element` is the element's size: data() is aligned to it in every layout. Throws Error(kIo) when memory is refused.
  GuardedMemory(std::string name, size_t bytes, size_t element, Layout layout);
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory&) = delete;

  std::byte* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  void set_writable(bool writable);
  // Bytes between the guards that are not the buffer's hold a pattern; false when something wrote there.
  bool slack_intact() const;

 private:
  template <typename Visit>
  void visit_slack(Visit visit) const;

  std::string name_;
  size_t bytes_, span_;
  std::byte *base_, *data_;
};

// Async-signal-safe: what lies at `address`, as "3 bytes past the end of 'gelu_out'", written to `fd`; nothing when no
// region is near.
void describe_address(const void* address, int fd);

}  // namespace amdahl

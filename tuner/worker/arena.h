#pragma once
// Memory of operands, on the side of the supervisor, who owns it. What it sees of a region is on the host: where a worker's device has memory of
// its own that is a copy, which publish() and fetch() bring up to date; where both can share pages it is the memory itself, and neither has
// anything to do.

#include <cstddef>
#include <cstdint>

#include "tuner/worker/layout.h"

namespace amdahl {

// A region as the supervisor sees it.
struct Region {
  int64_t at = -1;            // of its first page in the arena: what a worker is told; -1: none
  std::byte* data = nullptr;  // on the host, in pages that are laid out as the worker's are
  size_t bytes = 0;
};

class Arena {
 public:
  virtual ~Arena() = default;
  // Zeroed, on both sides. Throws Error(kIo) when memory is refused.
  virtual Region allocate(size_t bytes, size_t element, Layout layout) = 0;
  virtual void clear() = 0;  // gives all regions back
  // After publish() a worker sees what `data` and its slack (tuner/worker/layout.h) hold; after fetch() they hold what a worker has left there. It must stand
  // still for both. Both may be called from several threads, for different regions.
  virtual void publish(const Region& region) = 0;
  virtual void fetch(const Region& region) = 0;
  // What a worker is born with: to read what lies here, or to write it too. Nobody who has the first can write, by whatever means.
  virtual int read_only() const = 0;
  virtual int writable() const = 0;
};

}  // namespace amdahl

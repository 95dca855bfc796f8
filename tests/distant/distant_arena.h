#pragma once
// The supervisor's side of the distant device (tests/distant/distant_device.h): what it sees of a region is a copy on the host, and nothing moves
// between the copy and the device's memory but by publish() and fetch().

#include <map>
#include <mutex>
#include <vector>

#include "tuner/worker/host_arena.h"

namespace amdahl::testing {

// What an arena leaves undone, to show that it would be noticed.
enum class Forgets { kNothing, kPublish, kFetch };

class DistantArena : public Arena {
 public:
  DistantArena(const char* name, Forgets forgets) : device_(name), forgets_(forgets) {}

  Region allocate(size_t bytes, size_t element, Layout layout) override;
  void clear() override;
  void publish(const Region& region) override;
  void fetch(const Region& region) override;
  int read_only() const override { return device_.read_only(); }
  int writable() const override { return device_.writable(); }

 private:
  struct Pages {
    std::byte *here, *there;
    size_t bytes;
  };
  Pages pages_of(const Region& region);

  HostArena device_;  // the device's memory, of which workers are given the same pages
  Forgets forgets_;
  std::mutex mutex_;
  std::map<int64_t, Pages> pages_;  // by Region::at
  std::vector<std::vector<std::byte>> copies_;
};

}  // namespace amdahl::testing

#include "tests/distant/distant_arena.h"

#include <algorithm>
#include <cstdint>

namespace amdahl::testing {

constexpr size_t kPage = 4096;

Region DistantArena::allocate(size_t bytes, size_t element, Layout layout) {
  const std::lock_guard lock(mutex_);
  const Placement p = placement(bytes, element, layout);
  const Region there = device_.allocate(bytes, element, layout);
  std::vector<std::byte>& copy = copies_.emplace_back(p.pages + kPage);
  std::byte* first = copy.data() + (kPage - reinterpret_cast<uintptr_t>(copy.data()) % kPage) % kPage;
  pages_[there.at] = {first, there.data - p.offset, p.pages};
  return {there.at, first + p.offset, bytes};
}

void DistantArena::clear() {
  const std::lock_guard lock(mutex_);
  pages_.clear();
  copies_.clear();
  device_.clear();
}

DistantArena::Pages DistantArena::pages_of(const Region& region) {
  const std::lock_guard lock(mutex_);
  return pages_.at(region.at);
}

void DistantArena::publish(const Region& region) {
  if (forgets_ == Forgets::kPublish) return;
  const Pages p = pages_of(region);
  std::copy_n(p.here, p.bytes, p.there);
}

void DistantArena::fetch(const Region& region) {
  if (forgets_ == Forgets::kFetch) return;
  const Pages p = pages_of(region);
  std::copy_n(p.there, p.bytes, p.here);
}

}  // namespace amdahl::testing

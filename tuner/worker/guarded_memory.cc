#include "tuner/worker/guarded_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

#include "tuner/worker/huge_file.h"
#include "tuner/worker/named_addresses.h"
#include "tuner/worker/pages.h"

namespace amdahl {

// Address space for the pages and a guard on either side; sets base_, first_ and data_.
void GuardedMemory::reserve(size_t bytes, const Placement& p) {
  span_ = kPage + (p.huge ? kHugePage : 0) + p.pages + kPage;
  void* reserved = mmap(nullptr, span_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) throw std::bad_alloc();
  base_ = static_cast<std::byte*>(reserved);
  first_ = base_ + kPage;
  if (p.huge) first_ = reinterpret_cast<std::byte*>(up(reinterpret_cast<uintptr_t>(first_), kHugePage));
  data_ = first_ + p.offset;
  name_addresses(data_, bytes, name_);
}

GuardedMemory::GuardedMemory(std::string name, size_t bytes, size_t element, Layout layout) : name_(std::move(name)), bytes_(bytes) {
  const Placement p = placement(bytes, element, layout);
  reserve(bytes, p);
  if (mprotect(first_, p.pages, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
  if (p.huge) madvise(first_, p.pages, MADV_HUGEPAGE);
  std::fill(first_, data_, kSlack);
  std::fill(data_ + bytes_, first_ + p.pages, kSlack);
  own_pages_ = p.pages;
}

GuardedMemory::GuardedMemory(std::string name, size_t bytes, size_t element, Layout layout, int fd, int64_t at, bool writable)
    : name_(std::move(name)), bytes_(bytes) {
  const Placement p = placement(bytes, element, layout);
  reserve(bytes, p);
  if (mmap(first_, p.pages, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED | MAP_FIXED, fd, at) == MAP_FAILED) throw std::bad_alloc();
  if (p.huge) madvise(first_, p.pages, MADV_HUGEPAGE);
}

GuardedMemory::~GuardedMemory() {
  forget_addresses(data_);
  munmap(base_, span_);
}

void GuardedMemory::allow_writes(bool allowed) {
  if (mprotect(first_, own_pages_, allowed ? PROT_READ | PROT_WRITE : PROT_READ) != 0) throw std::bad_alloc();
}

bool GuardedMemory::intact() const {
  const auto is_slack = [](std::byte b) { return b == kSlack; };
  return std::all_of(first_, data_, is_slack) && std::all_of(data_ + bytes_, first_ + own_pages_, is_slack);
}

}  // namespace amdahl

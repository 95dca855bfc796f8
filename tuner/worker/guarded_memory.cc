#include "tuner/worker/guarded_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <new>

#include "tuner/worker/huge_file.h"

namespace amdahl {
namespace {

constexpr size_t kPage = 4096;
// From here on buffers fill huge pages. A model's activations share an arena of them; in 4 KiB pages the same window's operands take 32
// entries and more of a first-level TLB of 64, and lie in the sets of L2 as chance has it, process by process.
constexpr size_t kWorthHuge = size_t{128} << 10;
constexpr std::byte kSlack{0xA5};

// Read by the signal handler, hence a plain array.
struct Region {
  const std::byte* data;
  size_t bytes;
  char name[64];
};
std::array<Region, 2048> regions;

size_t up(size_t n, size_t to) { return (n + to - 1) / to * to; }

void remember(const std::byte* data, size_t bytes, const std::string& name) {
  for (Region& r : regions) {
    if (r.data) continue;
    r.bytes = bytes;
    std::strncpy(r.name, name.c_str(), sizeof r.name - 1);
    r.data = data;
    return;
  }
}

void write_text(int fd, const char* text) {
  [[maybe_unused]] const ssize_t n = write(fd, text, std::strlen(text));
}

void write_number(int fd, size_t n) {
  char digits[24];
  size_t at = sizeof digits;
  do digits[--at] = static_cast<char>('0' + n % 10);
  while ((n /= 10) > 0);
  [[maybe_unused]] const ssize_t w = write(fd, digits + at, sizeof digits - at);
}

// Bytes in front of and behind the data in the data's own pages.
std::pair<size_t, size_t> slack_of(const std::byte* data, size_t bytes) {
  const auto first = reinterpret_cast<uintptr_t>(data), end = first + bytes;
  return {first % kPage, up(std::max(end, first + 1), kPage) - end};
}

}  // namespace

Placing placing(size_t bytes, size_t element, Layout layout) {
  Placing p;
  const size_t shift = layout == Layout::kShift ? up(20, std::max<size_t>(element, 1)) : 0;
  p.huge = layout == Layout::kModel && bytes >= kWorthHuge;
  p.pages = up(std::max<size_t>(bytes + shift, 1), p.huge ? kHugePage : kPage);
  // What is empty lies within its page too: its slack is what is cleared and looked at.
  p.offset = layout == Layout::kEnd ? p.pages - std::max({bytes, element, size_t{1}}) : shift;
  return p;
}

void fill_slack(std::byte* data, size_t bytes, std::byte pattern) {
  const auto [front, behind] = slack_of(data, bytes);
  std::memset(data - front, static_cast<int>(pattern), front);
  std::memset(data + bytes, static_cast<int>(pattern), behind);
}

bool slack_intact(const std::byte* data, size_t bytes, std::byte pattern) {
  const auto [front, behind] = slack_of(data, bytes);
  const auto is_pattern = [&](std::byte b) { return b == pattern; };
  return std::all_of(data - front, data, is_pattern) && std::all_of(data + bytes, data + bytes + behind, is_pattern);
}

// Address space for the pages and a guard on either side; sets base_, first_ and data_.
void GuardedMemory::reserve(size_t bytes, const Placing& p) {
  span_ = kPage + (p.huge ? kHugePage : 0) + p.pages + kPage;
  void* reserved = mmap(nullptr, span_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) throw std::bad_alloc();
  base_ = static_cast<std::byte*>(reserved);
  first_ = base_ + kPage;
  if (p.huge) first_ = reinterpret_cast<std::byte*>(up(reinterpret_cast<uintptr_t>(first_), kHugePage));
  data_ = first_ + p.offset;
  remember(data_, bytes, name_);
}

GuardedMemory::GuardedMemory(std::string name, size_t bytes, size_t element, Layout layout)
    : name_(std::move(name)), bytes_(bytes) {
  const Placing p = placing(bytes, element, layout);
  reserve(bytes, p);
  if (mprotect(first_, p.pages, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
  if (p.huge) madvise(first_, p.pages, MADV_HUGEPAGE);
  std::fill(first_, data_, kSlack);
  std::fill(data_ + bytes_, first_ + p.pages, kSlack);
  own_pages_ = p.pages;
}

GuardedMemory::GuardedMemory(std::string name, size_t bytes, size_t element, Layout layout, int fd, int64_t at, bool writable)
    : name_(std::move(name)), bytes_(bytes) {
  const Placing p = placing(bytes, element, layout);
  reserve(bytes, p);
  if (mmap(first_, p.pages, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED | MAP_FIXED, fd, at) == MAP_FAILED)
    throw std::bad_alloc();
  if (p.huge) madvise(first_, p.pages, MADV_HUGEPAGE);
}

GuardedMemory::~GuardedMemory() {
  for (Region& r : regions)
    if (r.data == data_) r.data = nullptr;
  munmap(base_, span_);
}

void GuardedMemory::allow_writes(bool allowed) {
  if (mprotect(first_, own_pages_, allowed ? PROT_READ | PROT_WRITE : PROT_READ) != 0) throw std::bad_alloc();
}

bool GuardedMemory::intact() const {
  const auto is_slack = [](std::byte b) { return b == kSlack; };
  return std::all_of(first_, data_, is_slack) && std::all_of(data_ + bytes_, first_ + own_pages_, is_slack);
}

void describe_address(const void* address, int fd) {
  const auto a = reinterpret_cast<uintptr_t>(address);
  for (const Region& r : regions) {
    if (!r.data) continue;
    const auto first = reinterpret_cast<uintptr_t>(r.data), end = first + r.bytes;
    const char* where = nullptr;
    size_t distance = 0;
    if (a >= end && a < end + 2 * kPage) where = " bytes past the end of '", distance = a - end;
    else if (a < first && a + 2 * kPage > first) where = " bytes before the start of '", distance = first - a;
    else if (a >= first && a < end) where = " bytes into read-only '", distance = a - first;
    if (!where) continue;
    write_text(fd, ", ");
    write_number(fd, distance);
    write_text(fd, where);
    write_text(fd, r.name);
    write_text(fd, "'");
    return;
  }
}

}  // namespace amdahl

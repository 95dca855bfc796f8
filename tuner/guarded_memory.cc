#include "tuner/guarded_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <new>

#include "base/error.h"

namespace amdahl {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kHuge = size_t{2} << 20;
constexpr std::byte kSlack{0xA5};

// Read by the signal handler, hence a plain array.
struct Region {
  const std::byte* data;
  size_t bytes;
  char name[64];
};
std::array<Region, 512> regions;

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

}  // namespace

GuardedMemory::GuardedMemory(std::string name, size_t bytes, size_t element, Layout layout)
    : name_(std::move(name)), bytes_(bytes) {
  const size_t shift = layout == Layout::kShift ? up(20, std::max<size_t>(element, 1)) : 0;
  // Large model-layout buffers start on a huge page: the guard in front is as large.
  const bool huge = layout == Layout::kModel && bytes >= kHuge;
  const size_t front = huge ? kHuge : kPage;
  const size_t inner = up(std::max<size_t>(bytes + shift, 1), kPage);
  span_ = front + inner + kPage + (huge ? kHuge : 0);
  void* p = mmap(nullptr, span_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) throw std::bad_alloc();
  base_ = static_cast<std::byte*>(p);
  std::byte* first = base_ + front;
  if (huge) first = reinterpret_cast<std::byte*>(up(reinterpret_cast<uintptr_t>(base_) + kPage, kHuge));
  if (mprotect(first, inner, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
  if (huge) madvise(first, inner, MADV_HUGEPAGE);
  // kEnd rounds down to the element so that odd sizes of wide elements stay aligned (bytes is a multiple of it anyway).
  data_ = layout == Layout::kEnd ? first + inner - bytes : first + shift;
  remember(data_, bytes_, name_);
  visit_slack([](std::byte& b) { b = kSlack; return true; });
}

GuardedMemory::~GuardedMemory() {
  for (Region& r : regions)
    if (r.data == data_) r.data = nullptr;
  munmap(base_, span_);
}

template <typename Visit>
void GuardedMemory::visit_slack(Visit visit) const {
  std::byte* page = reinterpret_cast<std::byte*>(reinterpret_cast<uintptr_t>(data_) / kPage * kPage);
  for (std::byte* p = page; p < data_; ++p)
    if (!visit(*p)) return;
  std::byte* end = data_ + bytes_;
  std::byte* last = reinterpret_cast<std::byte*>(up(reinterpret_cast<uintptr_t>(end), kPage));
  for (std::byte* p = end; p < last; ++p)
    if (!visit(*p)) return;
}

bool GuardedMemory::slack_intact() const {
  bool intact = true;
  visit_slack([&](std::byte& b) { return intact = b == kSlack; });
  return intact;
}

void GuardedMemory::set_writable(bool writable) {
  std::byte* page = reinterpret_cast<std::byte*>(reinterpret_cast<uintptr_t>(data_) / kPage * kPage);
  const size_t bytes = up(static_cast<size_t>(data_ + std::max<size_t>(bytes_, 1) - page), kPage);
  mprotect(page, bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ);
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

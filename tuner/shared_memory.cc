#include "tuner/shared_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"

namespace amdahl {
namespace {

constexpr size_t kHuge = size_t{2} << 20;
constexpr int kCollapse = 25;  // MADV_COLLAPSE (Linux 6.1), which the C library does not know yet

// One small page of each huge one has to be there; the join copies those that are, and zeroes the rest.
void join_pages(std::byte* first, size_t bytes) {
  for (size_t at = 0; at < bytes; at += kHuge)
    if (madvise(first + at, 1, MADV_POPULATE_WRITE) != 0) return;
  madvise(first, bytes, kCollapse);
}

[[noreturn]] void refuse() {
  throw Error(ExitCode::kIo, "out of memory for what workers are given: close other programs or take a smaller model");
}

}  // namespace

SharedMemory::SharedMemory(const char* name) : writable_(memfd_create(name, MFD_CLOEXEC)) {
  if (writable_ < 0) throw Error(ExitCode::kIo, "cannot make a file in memory: too many open files?");
  read_only_ = open(fmt::format("/proc/self/fd/{}", writable_).c_str(), O_RDONLY | O_CLOEXEC);
  if (read_only_ < 0) {
    close(writable_);
    throw Error(ExitCode::kIo, "cannot open a file in memory for reading: is /proc mounted?");
  }
}

SharedMemory::~SharedMemory() {
  clear();
  close(read_only_);
  close(writable_);
}

Region SharedMemory::allocate(size_t bytes, size_t element, Layout layout) {
  const Placing p = placing(bytes, element, layout);
  if (p.huge) bytes_ = (bytes_ + kHuge - 1) / kHuge * kHuge;
  const auto at = static_cast<int64_t>(bytes_);
  if (ftruncate(writable_, at + static_cast<int64_t>(p.pages)) != 0) refuse();
  bytes_ += p.pages;
  // Huge pages need an address as aligned as the place in the file.
  const size_t span = p.pages + (p.huge ? kHuge : 0);
  void* reserved = mmap(nullptr, span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) refuse();
  mappings_.push_back({reserved, span});
  auto* first = static_cast<std::byte*>(reserved);
  if (p.huge) first = reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(first) + kHuge - 1) / kHuge * kHuge);
  if (mmap(first, p.pages, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, writable_, at) == MAP_FAILED) refuse();
  // Most systems give files in memory no huge pages unless they are asked to join pages that are there. Without them a window's
  // operands lie in small pages and the model's activations in huge ones: what walks rows pages apart would look slower than it is.
  if (p.huge) join_pages(first, p.pages);
  return {at, first + p.offset, bytes};
}

void SharedMemory::clear() {
  for (const Mapping& m : mappings_) munmap(m.first, m.bytes);
  mappings_.clear();
  bytes_ = 0;
  if (ftruncate(writable_, 0) != 0) refuse();
}

}  // namespace amdahl

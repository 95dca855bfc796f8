#include "tuner/worker/host_arena.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"
#include "base/process_limits.h"
#include "tuner/worker/huge_file.h"

namespace amdahl {
namespace {

[[noreturn]] void refuse() { throw Error(ExitCode::kIo, "out of memory for what workers are given: close other programs or take a smaller model"); }

}  // namespace

HostArena::HostArena(const char* name) : writable_(memfd_create(name, MFD_CLOEXEC)) {
  if (writable_ < 0) throw machine_refuses("make a file in memory", errno);
  read_only_ = open(fmt::format("/proc/self/fd/{}", writable_).c_str(), O_RDONLY | O_CLOEXEC);
  if (read_only_ < 0) {
    const int error = errno;
    close(writable_);
    if (is_refusal(error)) throw machine_refuses("open a file in memory for reading", error);
    throw Error(ExitCode::kIo, "cannot open a file in memory for reading: is /proc mounted?");
  }
}

HostArena::~HostArena() {
  HostArena::clear();
  close(read_only_);
  close(writable_);
}

Region HostArena::allocate(size_t bytes, size_t element, Layout layout) {
  const Placement p = placement(bytes, element, layout);
  if (p.huge) bytes_ = up_to_huge_page(bytes_);
  const auto at = static_cast<int64_t>(bytes_);
  if (ftruncate(writable_, at + static_cast<int64_t>(p.pages)) != 0) refuse();
  bytes_ += p.pages;
  if (!p.huge) {
    void* first = mmap(nullptr, p.pages, PROT_READ | PROT_WRITE, MAP_SHARED, writable_, at);
    if (first == MAP_FAILED) refuse();
    mappings_.push_back({first, p.pages});
    return {at, static_cast<std::byte*>(first) + p.offset, bytes};
  }
  // In small pages a window's operands would be read more slowly than the model's, which has huge ones: what walks rows pages apart would look
  // slower than it is.
  const FileMapping m = map_on_huge_pages(writable_, at, p.pages, PROT_READ | PROT_WRITE);
  if (!m.first) refuse();
  mappings_.push_back({m.reserved, m.span});
  join_pages(m.first, p.pages);
  return {at, m.first + p.offset, bytes};
}

void HostArena::clear() {
  for (const Mapping& m : mappings_) munmap(m.first, m.bytes);
  mappings_.clear();
  bytes_ = 0;
  if (ftruncate(writable_, 0) != 0) refuse();
}

}  // namespace amdahl

#include "tests/emulated_card/shadow.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace amdahl::testing {
namespace {

// In place of a thread's number; kSeveralOf + warp: of one warp.
constexpr uint16_t kSeveral = 0xffff, kAtomics = 0xfffe, kSeveralOf = 0x8000;
constexpr uint16_t kNoWarp = 0xffff;

uint16_t warp_of(uint16_t by) {
  if (by == kSeveral || by == kAtomics) return kNoWarp;
  return static_cast<uint16_t>(by >= kSeveralOf ? by - kSeveralOf : by / 32);
}

constexpr const char* kOutside = "touches memory that is none of its operands'";
constexpr const char* kStillOnItsWay = "touches what a copy in the background has not brought yet";
constexpr const char* kRace = "meets another thread, and nothing orders the two";

}  // namespace

// Memory that nobody touches takes none here, and all zeros is a cell of kNone.
Shadow::Shadow(const std::byte* first, size_t bytes)
    : first_(first),
      bytes_(bytes),
      cells_(static_cast<Cell*>(
          mmap(nullptr, std::max<size_t>(bytes, 1) * sizeof(Cell), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
  if (cells_ == MAP_FAILED) throw std::bad_alloc();
}

Shadow::~Shadow() { munmap(cells_, std::max<size_t>(bytes_, 1) * sizeof(Cell)); }

void Shadow::set(const void* address, size_t bytes, Contents contents) {
  Cell untouched;
  untouched.contents = contents;
  std::fill_n(cells_ + (static_cast<const std::byte*>(address) - first_), bytes, untouched);
}

bool Shadow::ordered(uint32_t then, uint16_t by, uint16_t thread, const Moment& now) {
  if (then < now.launch) return true;
  if (then < now.block) return false;  // another block of this launch
  if (then < now.barrier || by == thread) return true;
  return warp_of(by) == warp_of(thread) && then < now.warps[warp_of(thread)];
}

const char* Shadow::read(Cell& cell, uint16_t thread, const Moment& now) {
  if (cell.contents == Contents::kNothing) return "reads what nobody has written";
  if (!ordered(cell.written, cell.writer, thread, now)) return kRace;
  if (cell.read >= now.launch && cell.read < now.block) return nullptr;  // of another block: who writes it now meets that one anyway
  const bool alone = ordered(cell.read, cell.reader, thread, now);
  cell.reader = alone ? thread : warp_of(cell.reader) == warp_of(thread) ? static_cast<uint16_t>(kSeveralOf + warp_of(thread)) : kSeveral;
  cell.read = now.phase;
  return nullptr;
}

const char* Shadow::write(Cell& cell, Touch touch, uint16_t thread, const Moment& now) {
  const bool is_atomic = touch == Touch::kAtomic;
  if (is_atomic && cell.contents == Contents::kNothing) return "reads what nobody has written";
  if (!(is_atomic && cell.writer == kAtomics) && !ordered(cell.written, cell.writer, thread, now)) return kRace;
  if (!ordered(cell.read, cell.reader, thread, now)) return kRace;
  cell.written = now.phase;
  cell.writer = is_atomic ? kAtomics : thread;
  cell.contents = Contents::kSomething;
  return nullptr;
}

const char* Shadow::touch(const void* address, size_t bytes, Touch touch, uint16_t thread, const Moment& now) {
  const auto at = static_cast<size_t>(static_cast<const std::byte*>(address) - first_);
  if (bytes > bytes_ - at) return kOutside;
  for (size_t i = at; i < at + bytes; ++i) {
    Cell& cell = cells_[i];
    if (cell.contents == Contents::kNone) return kOutside;
    if (cell.contents == Contents::kOnItsWay) return kStillOnItsWay;
    if (const char* wrong = touch == Touch::kRead ? read(cell, thread, now) : write(cell, touch, thread, now)) return wrong;
  }
  return nullptr;
}

}  // namespace amdahl::testing

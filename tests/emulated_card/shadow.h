#pragma once
// What is known of each byte of a range of the card's memory: whether it is a kernel's to touch, whether it holds anything yet, and who touched it last.
// Two threads may touch one byte, one of them to write, only when something orders them: a barrier of their block, __syncwarp() of their warp, or the end of a
// launch.

#include <array>
#include <cstddef>
#include <cstdint>

namespace amdahl::testing {

enum class Touch : uint8_t { kRead, kWrite, kAtomic };

// Phases are numbered over the life of a card: each block begins one, and each of its barriers and of its warps' the next.
struct Moment {
  uint32_t launch = 1, block = 1, barrier = 1;  // their first phases
  uint32_t phase = 1;
  std::array<uint32_t, 32> warps{};  // since each has met

  void begin_launch() { launch = block = barrier = ++phase; }
  void begin_block() { block = barrier = ++phase; }
  void pass_barrier() { barrier = ++phase; }
  void pass_warp(size_t warp) { warps[warp] = ++phase; }
};

enum class Contents : uint8_t {
  kNone,      // no kernel's to touch
  kNothing,   // may be written
  kOnItsWay,  // a copy in the background will write it
  kSomething
};

class Shadow {
 public:
  // Of [first, first + bytes): kNone.
  Shadow(const std::byte* first, size_t bytes);
  ~Shadow();
  Shadow(const Shadow&) = delete;

  bool covers(const void* address) const { return static_cast<size_t>(static_cast<const std::byte*>(address) - first_) < bytes_; }
  // Bytes of the range, as if nobody had touched them.
  void set(const void* address, size_t bytes, Contents contents);
  Contents contents(const void* address) const { return cells_[static_cast<const std::byte*>(address) - first_].contents; }
  // By a thread of the block that runs, of an address of the range. nullptr, or what is wrong with it.
  const char* touch(const void* address, size_t bytes, Touch touch, uint16_t thread, const Moment& now);

 private:
  struct Cell {
    uint32_t written = 0, read = 0;  // phases; 0: never
    uint16_t writer = 0, reader = 0;
    Contents contents = Contents::kNone;
  };
  static bool ordered(uint32_t then, uint16_t by, uint16_t thread, const Moment& now);
  static const char* read(Cell& cell, uint16_t thread, const Moment& now);
  static const char* write(Cell& cell, Touch touch, uint16_t thread, const Moment& now);

  const std::byte* first_;
  size_t bytes_;
  Cell* cells_;
};

}  // namespace amdahl::testing

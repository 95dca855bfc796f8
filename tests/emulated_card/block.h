#pragma once
// A block: its threads in turns, in an order that nobody may count on, from one place where they wait for others to the next.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/random.h"
#include "tests/emulated_card/fibers.h"
#include "tests/emulated_card/shadow.h"

namespace amdahl::testing {

inline constexpr uint32_t kMostThreads = 1024, kWarp = 32;

class Block {
 public:
  // What the lanes of a warp show one another at most.
  static constexpr size_t kSlotBytes = 64;

  explicit Block(Moment& now) : now_(now), fibers_(kMostThreads) {}

  // Returns when all threads have returned. Throws DeviceFault for what a thread does, or waits for in vain. `enter(thread)` before a thread goes on.
  void run(uint32_t threads, std::function<void()> body, const std::function<void(uint32_t thread)>& enter);

  // The rest is asked by the thread that runs.
  uint32_t thread() const { return thread_; }
  uint32_t lane() const { return thread_ % kWarp; }
  // Waits for all threads of the block. Whether any of them said so.
  bool barrier(bool said);
  // Waits for the lanes of the warp that are in the mask, each of which shows `bytes`. What lane l showed is at l * kSlotBytes, until this lane asks again.
  // `orders`: what they touched before, as __syncwarp() does and shuffles do not.
  const std::byte* exchange(uint32_t mask, const void* shown, size_t bytes, bool orders = false);
  [[noreturn]] void fault(const std::string& why);

  // What threads have for themselves, or from one another.
  bool on_a_stack(const void* address) const { return fibers_.on_a_stack(address); }
  bool was_shown(const void* address) const { return address >= warps_.data() && address < warps_.data() + warps_.size(); }

 private:
  struct Warp {
    uint32_t waiting = 0, mask = 0;  // lanes
    int side = 0;                    // of the slots: those of the exchange before are still read
    alignas(16) std::array<std::array<std::byte, kWarp * kSlotBytes>, 2> slots;
  };
  std::string what_they_wait_for() const;

  Moment& now_;
  Fibers fibers_;
  Random order_{1};
  uint32_t threads_ = 0, thread_ = 0, ended_ = 0;
  uint32_t at_barrier_ = 0;
  bool said_ = false, heard_ = false;
  std::vector<uint32_t> ready_;
  std::array<Warp, kMostThreads / kWarp> warps_;
  std::string fault_;
};

}  // namespace amdahl::testing

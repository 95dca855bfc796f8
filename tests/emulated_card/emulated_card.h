#pragma once
// A card in this process: memory, of which every byte is watched (shadow.h), and one multiprocessor that runs blocks one after another, in an order that
// nobody may count on (block.h). Slow, and suspicious: what a card would let pass by luck is a fault here.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/cuda/cubin.h"
#include "base/random.h"
#include "tests/emulated_card/background_copies.h"
#include "tests/emulated_card/block.h"
#include "tests/emulated_card/kernel_library.h"
#include "tests/emulated_card/shadow.h"

namespace amdahl::testing {

class EmulatedCard {
 public:
  EmulatedCard();
  ~EmulatedCard();
  EmulatedCard(const EmulatedCard&) = delete;

  // Zeroed, far from what else was allocated, for as long as the card lives.
  std::byte* allocate(size_t bytes);
  // Of memory that was allocated: from now on it holds something, or nothing.
  void fill(std::byte* to, size_t bytes, Contents contents) { memory_.set(to, bytes, contents); }
  // `operands` as the kernel takes them. Throws DeviceFault for what the kernel does, Error(kInternal) for a launch that no card makes.
  void launch(const KernelLibrary& library, const cuda::Launch& launch, std::span<const void* const> operands);

  // The rest is asked by the thread that runs, of the card that runs it.
  static EmulatedCard& running();
  Block& block() { return block_; }
  void touch(const void* address, size_t bytes, Touch touch);
  void begin_copy(const BackgroundCopy& copy);
  void end_group() { copies_[block_.thread()].end_group(); }
  void wait_for_groups(size_t newest);
  std::byte* dynamic_shared() const { return dynamic_shared_; }

 private:
  void run_block(const KernelLibrary& library, const cuda::Launch& launch, const std::function<void()>& body);
  Shadow* shadow_of(const void* address);
  bool may_read(const void* address) const;

  Moment now_;
  Block block_{now_};
  Random order_{2};
  std::byte* arena_;
  size_t taken_ = 0;
  Shadow memory_;
  std::byte* dynamic_shared_;
  Shadow dynamic_;
  std::unique_ptr<Shadow> static_;  // shared memory of the kernel that runs
  const KernelLibrary* library_ = nullptr;
  std::span<const void* const> operands_;
  std::array<BackgroundCopies, kMostThreads> copies_;
};

}  // namespace amdahl::testing

#include "tests/emulated_card/block.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <utility>

#include "plan/device.h"

namespace amdahl::testing {

void Block::run(uint32_t threads, std::function<void()> body, const std::function<void(uint32_t thread)>& enter) {
  threads_ = threads;
  ended_ = at_barrier_ = 0;
  said_ = false;
  fault_.clear();
  for (uint32_t w = 0; w < threads; w += kWarp) warps_[w / kWarp].waiting = 0;
  ready_.clear();
  for (uint32_t t = 0; t < threads; ++t) ready_.push_back(t);
  fibers_.begin(threads, std::move(body));
  while (!ready_.empty()) {
    std::swap(ready_[order_.below(ready_.size())], ready_.back());
    thread_ = ready_.back();
    ready_.pop_back();
    enter(thread_);
    fibers_.resume(thread_);
    if (!fault_.empty()) throw DeviceFault(fault_);
    ended_ += fibers_.has_ended(thread_);
  }
  if (ended_ < threads_) throw DeviceFault(what_they_wait_for());
}

std::string Block::what_they_wait_for() const {
  if (at_barrier_ + ended_ == threads_) return fmt::format("{} of {} threads wait at a barrier, and the others have returned", at_barrier_, threads_);
  for (uint32_t w = 0; w * kWarp < threads_; ++w)
    if (const Warp& warp = warps_[w]; warp.waiting)
      return fmt::format("warp {} waits in vain for lanes {:#x} of {:#x} at a shuffle", w, warp.mask & ~warp.waiting, warp.mask);
  return "threads wait for one another";
}

bool Block::barrier(bool said) {
  said_ |= said;
  if (++at_barrier_ < threads_) {
    fibers_.pause();
    return heard_;
  }
  heard_ = std::exchange(said_, false);
  at_barrier_ = 0;
  now_.pass_barrier();
  for (uint32_t t = 0; t < threads_; ++t)
    if (t != thread_) ready_.push_back(t);
  return heard_;
}

const std::byte* Block::exchange(uint32_t mask, const void* shown, size_t bytes, bool orders) {
  Warp& warp = warps_[thread_ / kWarp];
  const uint32_t bit = 1u << lane();
  if (!(mask & bit)) fault(fmt::format("lane {} takes part in a shuffle of {:#x}", lane(), mask));
  if (warp.waiting && warp.mask != mask) fault(fmt::format("lanes of a warp shuffle with {:#x} and with {:#x}", warp.mask, mask));
  if (bytes > kSlotBytes) fault(fmt::format("shows {} bytes to its warp", bytes));
  warp.mask = mask;
  warp.waiting |= bit;
  const std::byte* slots = warp.slots[warp.side].data();
  if (bytes > 0) std::memcpy(warp.slots[warp.side].data() + lane() * kSlotBytes, shown, bytes);
  if (warp.waiting != mask) {
    fibers_.pause();
    return slots;
  }
  warp.waiting = 0;
  warp.side = 1 - warp.side;
  if (orders) now_.pass_warp(thread_ / kWarp);
  for (uint32_t l = 0; l < kWarp; ++l)
    if ((mask & ~bit) >> l & 1) ready_.push_back(thread_ / kWarp * kWarp + l);
  return slots;
}

// What the threads have on their stacks needs no end: kernels own nothing.
void Block::fault(const std::string& why) {
  fault_ = fmt::format("thread {}: {}", thread_, why);
  for (;;) fibers_.pause();
}

}  // namespace amdahl::testing

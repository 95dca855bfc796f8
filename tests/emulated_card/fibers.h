#pragma once
// Threads of control that take turns on one thread of the host: each runs until it pauses. Their stacks stay for those that come after them.

#include <setjmp.h>
#include <ucontext.h>

#include <cstddef>
#include <functional>
#include <vector>

namespace amdahl::testing {

class Fibers {
 public:
  explicit Fibers(size_t most);
  ~Fibers();
  Fibers(const Fibers&) = delete;

  // Fibers 0 … count - 1 will run `body`, from when they are resumed first. What those before them had not ended is dropped as it stands.
  void begin(size_t count, std::function<void()> body);
  // Returns when the fiber pauses or its body does. Not for one whose body has returned.
  void resume(size_t fiber);
  bool has_ended(size_t fiber) const { return fibers_[fiber].state == State::kIdle; }
  // Called on a fiber.
  void pause();

  bool on_a_stack(const void* address) const { return address >= stacks_ && address < stacks_ + fibers_.size() * kStack; }

 private:
  static constexpr size_t kStack = size_t{256} << 10;

  enum class State { kNew, kIdle, kToBegin, kInside };
  struct Fiber {
    State state = State::kNew;
    jmp_buf paused;
  };
  static void enter();
  void live();
  void make(size_t fiber);

  std::byte* stacks_;
  std::vector<Fiber> fibers_;
  std::function<void()> body_;
  size_t running_ = 0;
  jmp_buf host_;
};

}  // namespace amdahl::testing

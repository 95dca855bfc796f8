#include "tests/emulated_card/fibers.h"

#include <sys/mman.h>

#include <new>
#include <utility>

namespace amdahl::testing {
namespace {

Fibers* entered = nullptr;  // by enter(), which takes no argument

}  // namespace

Fibers::Fibers(size_t most)
    : stacks_(static_cast<std::byte*>(mmap(nullptr, most * kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))),
      fibers_(most) {
  if (stacks_ == MAP_FAILED) throw std::bad_alloc();
}

Fibers::~Fibers() { munmap(stacks_, fibers_.size() * kStack); }

void Fibers::begin(size_t count, std::function<void()> body) {
  body_ = std::move(body);
  for (Fiber& fiber : fibers_) {
    if (fiber.state == State::kInside) fiber.state = State::kNew;
    if (fiber.state == State::kToBegin) fiber.state = State::kIdle;
  }
  for (size_t f = 0; f < count; ++f)
    if (fibers_[f].state == State::kIdle) fibers_[f].state = State::kToBegin;
}

// Contexts of ucontext.h only begin a fiber: to change between them asks the system for signal masks, ten times as long as a jump takes.
void Fibers::make(size_t fiber) {
  ucontext_t context;
  getcontext(&context);
  context.uc_stack.ss_sp = stacks_ + fiber * kStack;
  context.uc_stack.ss_size = kStack;
  context.uc_link = nullptr;
  makecontext(&context, enter, 0);
  entered = this;
  setcontext(&context);
}

void Fibers::enter() { entered->live(); }

void Fibers::live() {
  for (;;) {
    fibers_[running_].state = State::kInside;
    body_();
    fibers_[running_].state = State::kIdle;
    pause();
  }
}

void Fibers::resume(size_t fiber) {
  running_ = fiber;
  if (_setjmp(host_) != 0) return;
  if (fibers_[fiber].state == State::kNew) make(fiber);
  else _longjmp(fibers_[fiber].paused, 1);
}

void Fibers::pause() {
  if (_setjmp(fibers_[running_].paused) == 0) _longjmp(host_, 1);
}

}  // namespace amdahl::testing

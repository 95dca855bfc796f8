#pragma once
// A worker that somebody else killed (the kernel for want of memory, a person) says nothing about what it ran. A proven win
// must not be rolled back for it, nor a run end.

#include "tuner/worker/worker_process.h"

namespace amdahl {

constexpr int kTriesDespiteKills = 3;  // more than that is no accident: a candidate can send the signal to itself

// Runs `action` again, from its beginning, when its worker was killed.
template <typename Action>
auto despite_kills(Action action) {
  for (int left = kTriesDespiteKills - 1;; --left) {
    try {
      return action();
    } catch (const WorkerDied& died) {
      if (died.death.kind != WorkerExit::Kind::kKilled || left == 0) throw;
    }
  }
}

}  // namespace amdahl

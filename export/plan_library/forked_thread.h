#pragma once
// Where a forked child computes. GCC's OpenMP remembers a thread's team in the thread: after fork() the one thread that is left waits for a team that is not
// there any more, for ever. A thread that began in the child has no such memory.

#include <functional>

namespace amdahl {

// From now on children of fork() are told of: `in_child` is called in them, while no other thread is there.
void watch_forks(void (*in_child)());
// Whether this process is such a child.
bool is_forked();
// Calls `work` on a thread that began in this process, and waits for it. One at a time.
void on_own_thread(const std::function<void()>& work);

}  // namespace amdahl

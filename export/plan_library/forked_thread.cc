#include "export/plan_library/forked_thread.h"

#include <pthread.h>

#include <condition_variable>
#include <mutex>
#include <thread>

namespace amdahl {
namespace {

// Of one child. Never destroyed: its thread waits until the process ends.
struct OwnThread {
  std::mutex one_at_a_time, mutex;
  std::condition_variable changed;
  const std::function<void()>* work = nullptr;

  OwnThread() {
    std::thread([this] {
      std::unique_lock lock(mutex);
      for (;;) {
        changed.wait(lock, [&] { return work != nullptr; });
        (*work)();
        work = nullptr;
        changed.notify_all();
      }
    }).detach();
  }
};

bool forked = false;
void (*tell_child)() = nullptr;
OwnThread* own_thread = nullptr;
std::once_flag* started = new std::once_flag;  // of this process: a child has a new one

void begin_in_child() {
  forked = true;
  own_thread = nullptr;
  started = new std::once_flag;
  tell_child();
}

}  // namespace

void watch_forks(void (*in_child)()) {
  static std::once_flag once;
  std::call_once(once, [&] {
    tell_child = in_child;
    pthread_atfork(nullptr, nullptr, begin_in_child);
  });
}

bool is_forked() { return forked; }

void on_own_thread(const std::function<void()>& work) {
  std::call_once(*started, [] { own_thread = new OwnThread; });
  OwnThread& t = *own_thread;
  const std::lock_guard one(t.one_at_a_time);
  std::unique_lock lock(t.mutex);
  t.work = &work;
  t.changed.notify_all();
  t.changed.wait(lock, [&] { return t.work == nullptr; });
}

}  // namespace amdahl

#include "base/interrupt.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/error.h"

namespace amdahl {
namespace {

std::atomic<bool> flag{false};
static_assert(std::atomic<bool>::is_always_lock_free);  // or a signal handler must not touch it

void on_signal(int) {
  if (flag.exchange(true)) _exit(static_cast<int>(ExitCode::kInterrupted));
}

}  // namespace

void install_interrupt_handler() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

void end_with_parent() { prctl(PR_SET_PDEATHSIG, SIGTERM); }

bool interrupted() { return flag.load(std::memory_order_relaxed); }

const std::atomic<bool>& interrupt_flag() { return flag; }

void stop_if_interrupted() {
  if (interrupted()) throw Error(ExitCode::kInterrupted, "interrupted");
}

}  // namespace amdahl

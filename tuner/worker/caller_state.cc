#include "tuner/worker/caller_state.h"

#include <signal.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace amdahl {

uint64_t float_control_word() {
#if defined(__x86_64__)
  uint16_t x87;
  asm volatile("fnstcw %0" : "=m"(x87));
  return (_mm_getcsr() & ~0x3fu) | uint64_t{x87} << 32;
#else
  return 0;
#endif
}

SignalHandlers signal_handlers() {
  SignalHandlers handlers{};
  for (int n = 1; n < static_cast<int>(handlers.size()); ++n) {
    struct sigaction action {};
    if (sigaction(n, nullptr, &action) == 0) handlers[static_cast<size_t>(n)] = reinterpret_cast<const void*>(action.sa_sigaction);
  }
  return handlers;
}

}  // namespace amdahl

#include <malloc.h>
#include <unistd.h>

#include <cstring>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/process_limits.h"
#include "cli/bound_spinning.h"
#include "cli/commands.h"
#include "graph/models/required_cpu.h"

namespace {

#if defined(__x86_64__)
bool cpu_has(const char* feature) {
#define AMDAHL_ASK(name) \
  if (std::strcmp(feature, name) == 0) return __builtin_cpu_supports(name) != 0
  AMDAHL_ASK("avx2");
  AMDAHL_ASK("fma");
  AMDAHL_ASK("bmi2");
  AMDAHL_ASK("avx512f");
  AMDAHL_ASK("avx512bw");
  AMDAHL_ASK("avx512vl");
#undef AMDAHL_ASK
  return false;
}

// A program that was built for another machine says so instead of dying of an illegal instruction. It may use what that
// machine has from its first constructor on: this one runs before them.
__attribute__((constructor(101))) void require_cpu() {
  __builtin_cpu_init();
  for (const char* const* feature = amdahl::kRequiredCpu; *feature; ++feature) {
    if (cpu_has(*feature)) continue;
    for (const char* text :
         {"amdahl: this program was built for CPUs with ", *feature, ", which this one lacks: build it here, or with -DAMDAHL_MARCH=x86-64\n"})
      [[maybe_unused]] const ssize_t n = write(2, text, std::strlen(text));
    _exit(static_cast<int>(amdahl::ExitCode::kIo));
  }
}
#endif

// References and draws of large windows are vectors of tens of MiB that come and go with every check. Out of the heap, which keeps what is
// freed, they are not mapped and zeroed page by page each time: to validate a candidate for a softmax of 64 MiB takes 2.6 s instead of 3.1. The session of
// that softmax grows from 2.2 GB to 2.9, gpt2's from 1.37 GiB to 1.48.
void keep_freed_memory() {
#ifdef M_MMAP_MAX
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  amdahl::bound_spinning(argv);
  keep_freed_memory();
  amdahl::take_what_limits_allow();
  amdahl::install_interrupt_handler();
  return amdahl::run_amdahl({argv + 1, argv + argc});
}

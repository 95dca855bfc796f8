#include "base/entropy.h"

#include <sys/random.h>

#include "base/error.h"

namespace amdahl {

uint64_t entropy() {
  uint64_t bits;
  if (getrandom(&bits, sizeof bits, 0) != sizeof bits)
    throw Error(ExitCode::kIo, "the system gives no random numbers (getrandom): is the kernel older than 3.17?");
  return bits;
}

}  // namespace amdahl

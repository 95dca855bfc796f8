#pragma once
// Numbers that nobody can know beforehand, from the operating system. What is drawn from them is recorded where it must be possible to draw it again.

#include <cstdint>

namespace amdahl {

uint64_t entropy();  // throws Error(kIo) when the system gives none

}  // namespace amdahl

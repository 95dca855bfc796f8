#pragma once
// Builds with sanitizers (CMakePresets.json) map terabytes of shadow memory: limits on a process's address space do not fit them.

namespace amdahl {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace amdahl

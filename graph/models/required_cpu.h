#pragma once
// What the flags of this folder let the compiler use (AMDAHL_MARCH in CMakeLists.txt): data only, safe to read on any CPU.

namespace amdahl {

extern const char* const kRequiredCpu[];  // names as in __builtin_cpu_supports(); ends with null

}  // namespace amdahl

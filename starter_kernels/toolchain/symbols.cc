#include "starter_kernels/toolchain/symbols.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

namespace amdahl {
namespace {

constexpr std::array<std::string_view, 8> kLibraries = {"libc.so",   "libm.so",      "libmvec.so",  "libgomp.so",
                                                        "libomp.so", "libstdc++.so", "libgcc_s.so", "ld-linux"};

// OpenMP (GNU's and LLVM's), the C++ run-time, and the standard library's own code. omp_get_wtime and omp_set_… are not
// among them: a clock, and state that stays behind.
// clang-format off
constexpr std::array<std::string_view, 19> kPrefixes = {
    "GOMP_",     "__kmpc_",  "omp_get_num_", "omp_get_max_", "omp_get_thread_num", "omp_in_parallel", "omp_init_", "omp_destroy_",
    "omp_unset_", "omp_test_", "__cxa_",     "__gxx_personality_", "_ZSt",      "_ZNSt",       "_ZNKSt",
    "_ZTI", "_ZTV", "_ZGV", "_ZNK10__cxxabiv1"};
// clang-format on

// Inside the standard library's names: files, clocks, entropy, what sleeps, what looks at the surroundings (a locale is named by the environment).
constexpr std::array<std::string_view, 12> kNotEvenThere = {"filebuf",     "basic_file",         "fstream", "filesystem", "random_device", "chrono", "_clock",
                                                            "this_thread", "condition_variable", "futex",   "6locale",    "stacktrace"};

const std::set<std::string_view> kNames = {
    // Every library has these.
    "__gmon_start__", "_ITM_registerTMCloneTable", "_ITM_deregisterTMCloneTable", "__tls_get_addr", "__stack_chk_fail", "omp_set_lock", "omp_set_nest_lock",
    // An exception on its way. Not the rest of _Unwind_…, which tells who called.
    "_Unwind_Resume",
    // Memory.
    "memcpy", "memmove", "memset", "memcmp", "memchr", "bcmp", "strlen", "malloc", "calloc", "realloc", "free", "aligned_alloc", "posix_memalign", "memalign",
    "_Znwm", "_Znam", "_ZnwmSt11align_val_t", "_ZnamSt11align_val_t", "_ZnwmRKSt9nothrow_t", "_ZnamRKSt9nothrow_t", "_ZnwmSt11align_val_tRKSt9nothrow_t",
    "_ZnamSt11align_val_tRKSt9nothrow_t", "_ZdlPv", "_ZdaPv", "_ZdlPvm", "_ZdaPvm", "_ZdlPvSt11align_val_t", "_ZdaPvSt11align_val_t", "_ZdlPvmSt11align_val_t",
    "_ZdaPvmSt11align_val_t",
    // Threads: those that a call starts, it joins (conduct looks). Nothing that yields, sleeps or says on which processor it runs: a pair
    // in which a process was preempted is measured again, and a kernel must not choose which.
    "pthread_create", "pthread_join", "pthread_self", "pthread_mutex_init", "pthread_mutex_lock", "pthread_mutex_trylock", "pthread_mutex_unlock",
    "pthread_mutex_destroy", "pthread_once", "__once_proxy", "__pthread_key_create",
    // Giving up, and prints left in for debugging.
    "abort", "__assert_fail", "printf", "fprintf", "puts", "putchar", "fputs", "fputc", "fwrite", "fflush", "snprintf", "stdout", "stderr",
    // Sorting.
    "qsort", "bsearch"};

// libm by stem: each exists for double, float (f) and long double (l).
const std::set<std::string_view> kMath = {"acos",   "acosh",     "asin",      "asinh", "atan",      "atan2",  "atanh", "cbrt",   "ceil",      "copysign",
                                          "cos",    "cosh",      "erf",       "erfc",  "exp",       "exp10",  "exp2",  "expm1",  "fabs",      "fdim",
                                          "floor",  "fma",       "fmax",      "fmin",  "fmod",      "frexp",  "hypot", "ilogb",  "ldexp",     "lgamma",
                                          "llrint", "llround",   "log",       "log10", "log1p",     "log2",   "logb",  "lrint",  "lround",    "modf",
                                          "nan",    "nearbyint", "nextafter", "pow",   "remainder", "remquo", "rint",  "round",  "roundeven", "scalbln",
                                          "scalbn", "sin",       "sincos",    "sinh",  "sqrt",      "tan",    "tanh",  "tgamma", "trunc"};

bool is_math(std::string_view name) {
  if (kMath.count(name)) return true;
  return (name.ends_with('f') || name.ends_with('l')) && kMath.count(name.substr(0, name.size() - 1)) > 0;
}

bool may_ask_for(std::string_view name) {
  if (kNames.count(name) || is_math(name)) return true;
  const auto starts = [&](std::string_view prefix) { return name.starts_with(prefix); };
  const auto holds = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  return std::any_of(kPrefixes.begin(), kPrefixes.end(), starts) && std::none_of(kNotEvenThere.begin(), kNotEvenThere.end(), holds);
}

// A function of our own process under the same name: the C library's, or one of its friends'. C++ names are templates that
// several libraries may hold, except for those that C++ lets a program replace: operator new and delete.
bool stands_in(std::string_view name) {
  if (name.starts_with("amdahl_")) return false;
  if (name.starts_with("_Z")) return name.starts_with("_Zn") || name.starts_with("_Zd");
  return dlsym(RTLD_DEFAULT, std::string(name).c_str()) != nullptr;
}

}  // namespace

std::string refused_symbols(const ElfFile& library) {
  for (std::string_view needed : library.needed())
    if (std::none_of(kLibraries.begin(), kLibraries.end(), [&](std::string_view l) { return needed.starts_with(l); }))
      return fmt::format(
          "needs the library {}: kernels are linked with the C, C++ and OpenMP run-times alone; write out what "
          "it did",
          needed);
  for (const ElfFile::Symbol& s : library.dynamic_symbols()) {
    if (s.defined && stands_in(s.name)) return fmt::format("defines '{}', a name of the C library: give the function another name", s.name);
    if (!s.defined && !may_ask_for(s.name))
      return fmt::format(
          "calls '{}', which no kernel needs (starter_kernels/toolchain/symbols.cc lists what may be called): compute from the "
          "operands alone",
          s.name);
  }
  return "";
}

}  // namespace amdahl

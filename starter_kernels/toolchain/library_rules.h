#pragma once
// What a kernel's library must keep before anything of it is loaded: loading runs code.

#include <string>

namespace amdahl {

// How much of a kernel is judged before it runs.
enum class KernelRules {
  kAll,
  kSymbolsAlone,  // for tests of the walls behind: neither the text nor the machine code is looked at
};

struct LibraryRefusal {
  std::string code;    // "forbidden-symbol", "forbidden-instruction", "odd-library" (library_layout.h); "" when it keeps the rules
  std::string reason;  // one line
};

// `own`: the text was written by this program (machine_code.h).
LibraryRefusal refused_library(const std::string& path, bool own, KernelRules rules = KernelRules::kAll);

// Whether a refusal of this code says that the library is not to be trusted, rather than that it could not be built.
bool is_conduct(const std::string& code);

}  // namespace amdahl

#include "starter_kernels/toolchain/library_rules.h"

#include "base/elf.h"
#include "starter_kernels/toolchain/library_layout.h"
#include "starter_kernels/toolchain/machine_code.h"
#include "starter_kernels/toolchain/symbols.h"

namespace amdahl {

LibraryRefusal refused_library(const std::string& path, bool own, KernelRules rules) {
  const auto library = ElfFile::read(path);
  if (!library) return {"odd-library", "is no shared library of this machine: build it again"};
  if (std::string why = refused_symbols(*library); !why.empty()) return {"forbidden-symbol", why};
  if (rules == KernelRules::kSymbolsAlone) return {};
  if (std::string why = refused_layout(*library); !why.empty()) return {"odd-library", why};
  if (std::string why = refused_code(*library, own); !why.empty()) return {"forbidden-instruction", why};
  return {};
}

bool is_conduct(const std::string& code) { return code == "forbidden-symbol" || code == "forbidden-instruction" || code == "odd-library"; }

}  // namespace amdahl

#pragma once
// A compiler that works on sources which nobody trusts. What a source can name (#include, .incbin, #embed) the compiler would
// fetch from anywhere, so the compiler itself is closed in: it reads the system's folders and the one folder it works in, writes
// only there, runs only programs of the system, makes no sockets, and has limits on time, memory and files.
//
// This is the wall. source_rules.h is the sign in front of it.

#include <string>
#include <vector>

#include "base/subprocess.h"
#include "starter_kernels/toolchain/cpu_toolchain.h"

namespace amdahl {

class ConfinedCompiler {
 public:
  // `name` as in PATH. A compiler that lives outside the system's folders may use its own, too.
  explicit ConfinedCompiler(const std::string& name);
  // Runs it in `folder`, which must hold the sources. Temporary files go there as well.
  SubprocessResult run(const std::vector<std::string>& arguments, const std::string& folder, const CompileLimits& limits) const;
  // "" or one line: what of the wall this kernel does not have.
  static std::string weakness();

 private:
  std::string name_;
  std::vector<std::string> own_;  // folders
};

}  // namespace amdahl

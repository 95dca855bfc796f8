#pragma once
// The programs that come with amdahl, beside it or in its libexec folder.

#include <string>

namespace amdahl {

// The path of `name`; `variable` in the environment goes before. Throws Error(kIo) that says where it was looked for.
std::string own_program(const std::string& name, const char* variable);

}  // namespace amdahl

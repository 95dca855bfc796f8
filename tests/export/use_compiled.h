#pragma once
// What a user of a compiled plan's folder does, and what must go wrong for him.

#include <functional>
#include <string>

#include "base/subprocess.h"

namespace amdahl::testing {

// In the folder `dir`: a C program is linked with the library and run on the recorded case.
void use_compiled(const std::function<SubprocessResult(const std::string&)>& shell, const std::string& dir);

}  // namespace amdahl::testing

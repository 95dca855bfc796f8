#include "starter_kernels/text/one_word.h"

#include <algorithm>
#include <cctype>

#include "base/error.h"

namespace amdahl {

const std::string& one_word(const std::string& name) {
  if (name.empty() || !std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; }))
    throw Error(ExitCode::kInternal, "a name in the problem is no word");
  return name;
}

}  // namespace amdahl

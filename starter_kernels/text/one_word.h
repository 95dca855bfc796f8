#pragma once

#include <string>

namespace amdahl {

// The name. A problem may come from a file of others: what stands in a text by name must be one word, else Error(kInternal).
const std::string& one_word(const std::string& name);

}  // namespace amdahl

#pragma once
// The text of a kernel without its macros and conditions: token by token what the compiler was given when the kernel was judged. In another place
// other macros are defined (by a build's flags, by what an export puts around a kernel, by another processor), and a condition on one of them would let
// text in that nobody has judged.

#include <string>

namespace amdahl {

// `preprocessed` is what g++ made of `text` as the file `name`. The headers that the text includes are included still, and the text says that it is
// for g++: headers' macros are those of one compiler.
std::string resolved_text(const std::string& text, const std::string& preprocessed, const std::string& name);

}  // namespace amdahl

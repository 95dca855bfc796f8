#pragma once
// The text of a kernel without its macros and conditions: token by token what the compiler was given when the kernel was judged. In another place
// other macros are defined (by a build's flags, by what an export puts around a kernel, by another processor), and a condition on one of them would let
// text in that nobody has judged.

#include <string>

namespace amdahl {

// `preprocessed` is what `compiler` made of `text` as the file `name`. The headers that the text includes are included still, and the text says
// which compiler it is for: headers' macros are those of one.
std::string resolved_text(const std::string& text, const std::string& preprocessed, const std::string& name, const std::string& compiler);

}  // namespace amdahl

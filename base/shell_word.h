#pragma once
// Commands that are printed to be typed again.

#include <string>
#include <string_view>

namespace amdahl {

// `text` as one word of a POSIX shell, as it is where that is plain. What a terminal would act on (line breaks, escapes) is written out in the
// form $'…', which bash, zsh and ksh read. A name that begins with '-' gets "./": else it would be taken for an option.
std::string shell_word(std::string_view text);

}  // namespace amdahl

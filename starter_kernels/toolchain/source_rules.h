#pragma once
// What the text of a kernel may ask of its compiler. A kernel is arithmetic: it needs headers of the standard library and of
// intrinsics, and nothing from files. Attributes, pragmas, directives and what is said to the assembler are lists of what is allowed; words
// that mean something else tomorrow, in another folder, or on the stack of another program, are refused.
//
// Two readings. Of the text itself: what the preprocessor is asked for, and a first look at all else, which names the line. And of what the compiler's
// own preprocessor makes of it: then no macro hides a word any more. The wall behind both is confined_compiler.h, and machine_code.h.

#include <string>
#include <vector>

namespace amdahl {

// "" when the text keeps the rules, else one line: which line breaks which.
std::string refused_source(const std::string& text);

// The same of what `-E` makes of the file `name`, headers apart.
std::string refused_preprocessed(const std::string& text, const std::string& name);

// For that run: dates and times, by whatever macro they come, become words that are refused.
std::vector<std::string> preprocess_arguments();

// "" or why a kernel may not be compiled with one of these flags, which come with a variant.
std::string refused_flags(const std::vector<std::string>& flags);

}  // namespace amdahl

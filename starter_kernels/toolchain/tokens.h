#pragma once
// The text of a kernel as C++ reads it, up to the point where meaning begins: lines are spliced, comments are gone, strings have their escapes
// undone, other spellings (%: for #, <: for [) are as usual.

#include <string>
#include <string_view>
#include <vector>

namespace amdahl {

struct Token {
  enum class Kind { kWord, kNumber, kString, kCharacter, kMark };
  Kind kind = Kind::kMark;
  std::string text;           // of a string: what it holds
  int line = 1;               // of the source
  bool starts_line = false;   // nothing but blanks and comments before it on the line, as spliced
  bool plain = true;          // of a string: "…", without a prefix. Of a mark: spelled as usual
  size_t row = 0;             // lines as spliced: a directive ends where this changes
  size_t begin = 0, end = 0;  // in the text as spliced: whether something stood between two tokens

  bool is(std::string_view mark_or_word) const { return (kind == Kind::kWord || kind == Kind::kMark) && text == mark_or_word; }
};

// What cannot be read (a raw string that does not end) is a token with the text "" and Kind::kMark, and the last one. Marks are single
// characters, but for "##" and "::".
std::vector<Token> tokens_of(const std::string& source);

}  // namespace amdahl

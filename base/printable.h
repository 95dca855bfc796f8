#pragma once
// Words out of a file, made fit to be shown. A model names its parts as it likes: with line breaks, with what moves a terminal's
// cursor, with marks that turn the direction of writing, with bytes that are no text at all, and as long as the file is.

#include <string>
#include <string_view>
#include <vector>

namespace amdahl {

// Valid UTF-8 in one line that only shows: what controls, hides or turns text becomes \n, \x1b, \u202e, a stray byte \xff. All
// else stays as it is, backslashes too, so that a name that can be read is the name to type.
std::string printable(std::string_view text);

// `text` itself, or its two ends with the number of characters between them: at most about `most` in all.
std::string shortened(const std::string& text, size_t most);

// A name or a word inside a message: printable, and short enough that the message stays one.
std::string shown(std::string_view name);

// "a, b, … 7 more …, z": at most `most` of the items.
std::string listed(const std::vector<std::string>& items, std::string_view separator = ", ", size_t most = 8);

// A whole message: every line of it printable and of bounded length, and a bounded number of lines.
std::string shown_message(std::string_view message);

}  // namespace amdahl

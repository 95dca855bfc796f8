#include "base/shell_word.h"

#include <fmt/format.h>

#include <algorithm>

namespace amdahl {
namespace {

bool is_control(char c) { return static_cast<unsigned char>(c) < 32 || c == 127; }

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || std::string_view("_@%+=:,./-").find(c) != std::string_view::npos;
}

// Within '…' only ' itself ends the word.
std::string in_quotes(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string in_dollar_quotes(std::string_view text) {
  std::string out = "$'";
  for (const char c : text) {
    if (is_control(c)) out += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    else if (c == '\'' || c == '\\') out += {'\\', c};
    else out += c;
  }
  return out + "'";
}

}  // namespace

std::string shell_word(std::string_view text) {
  const std::string word = text.substr(0, 1) == "-" ? "./" + std::string(text) : std::string(text);
  if (std::any_of(word.begin(), word.end(), is_control)) return in_dollar_quotes(word);
  return !word.empty() && std::all_of(word.begin(), word.end(), is_plain) ? word : in_quotes(word);
}

}  // namespace amdahl

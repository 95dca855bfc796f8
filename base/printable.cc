#include "base/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace amdahl {
namespace {

constexpr size_t kNameCharacters = 100, kLineCharacters = 2000, kLines = 100;

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

struct Character {
  char32_t code;
  size_t bytes;  // 0: no character begins here
};

// As RFC 3629 has it: no overlong form, no surrogate, nothing past U+10FFFF.
Character first_character(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {0, 0};
  char32_t code = lead & (0xff >> (bytes + 1));
  for (size_t i = 1; i < bytes; ++i) {
    if (!continues(text[i])) return {0, 0};
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[bytes] || (code >= 0xd800 && code < 0xe000) || code > 0x10ffff) return {0, 0};
  return {code, bytes};
}

// Unicode's categories Cc (controls), Cf (formats, among them the marks of direction), Zl and Zp (line breaks), and what is no character.
bool is_shown(char32_t code) {
  struct Range {
    char32_t first, last;
  };
  static constexpr Range kHidden[] = {{0x00, 0x1f},       {0x7f, 0x9f},       {0xad, 0xad},       {0x600, 0x605},    {0x61c, 0x61c},     {0x6dd, 0x6dd},
                                      {0x70f, 0x70f},     {0x890, 0x891},     {0x8e2, 0x8e2},     {0x180e, 0x180e},  {0x200b, 0x200f},   {0x2028, 0x202e},
                                      {0x2060, 0x206f},   {0xfdd0, 0xfdef},   {0xfeff, 0xfeff},   {0xfff0, 0xfffb},  {0x110bd, 0x110bd}, {0x110cd, 0x110cd},
                                      {0x13430, 0x1343f}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}};
  if ((code & 0xfffe) == 0xfffe) return false;
  const Range* range = std::upper_bound(std::begin(kHidden), std::end(kHidden), code, [](char32_t c, const Range& r) { return c < r.first; });
  return range == std::begin(kHidden) || code > (range - 1)->last;
}

std::string escaped(char32_t code) {
  switch (code) {
    case '\n': return "\\n";
    case '\r': return "\\r";
    case '\t': return "\\t";
    default: break;
  }
  const auto number = static_cast<uint32_t>(code);
  return code < 0x80 ? fmt::format("\\x{:02x}", number) : code < 0x10000 ? fmt::format("\\u{:04x}", number) : fmt::format("\\U{:08x}", number);
}

size_t characters(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return !continues(c); }));
}

// Where character `n` begins.
size_t offset_of(std::string_view text, size_t n) {
  size_t at = 0;
  for (++n; at < text.size(); ++at)
    if (!continues(text[at]) && --n == 0) break;
  return at;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character c = first_character(text);
    const size_t bytes = std::max<size_t>(1, c.bytes);
    if (c.bytes == 0) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    else if (is_shown(c.code)) out += text.substr(0, bytes);
    else out += escaped(c.code);
    text.remove_prefix(bytes);
  }
  return out;
}

std::string shortened(const std::string& text, size_t most) {
  const size_t count = text.size() <= most ? 0 : characters(text);
  if (count <= most) return text;
  const size_t head = most * 2 / 3, tail = most - head;
  return fmt::format("{}… {} more …{}", text.substr(0, offset_of(text, head)), count - most, text.substr(offset_of(text, count - tail)));
}

std::string shown(std::string_view name) { return shortened(printable(name), kNameCharacters); }

std::string listed(const std::vector<std::string>& items, std::string_view separator, size_t most) {
  const size_t gap = items.size() > most ? items.size() - most : 0, head = gap ? most - 1 : items.size();
  std::string text;
  for (size_t i = 0; i < items.size(); ++i) {
    if (gap && i == head) text += fmt::format("{}… {} more …", separator, gap), i += gap;
    text.append(i ? separator : "").append(items[i]);
  }
  return text;
}

std::string shown_message(std::string_view message) {
  std::vector<std::string> lines = lines_of(message);
  for (std::string& line : lines) line = shortened(printable(line), kLineCharacters);
  return listed(lines, "\n", kLines);
}

}  // namespace amdahl

#include "cli/output_names.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <string_view>

namespace amdahl {
namespace {

// Bytes of the UTF-8 character that starts here; 0 when there is none.
size_t character_at(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u; };
  const unsigned first = byte(0);
  const size_t length = first < 0x80 ? 1 : first >= 0xc2 && first < 0xe0 ? 2 : first >= 0xe0 && first < 0xf0 ? 3 : first >= 0xf0 && first < 0xf5 ? 4 : 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  return length;
}

// Beyond ASCII, letters cannot be told from signs without tables; what a terminal acts on or does not show can: controls (U+0080 to U+009F), spaces and
// marks of direction (U+00A0, U+2000 to U+206F, U+3000, U+FEFF).
bool may_stay(std::string_view c) {
  if (c.size() == 1) return (c[0] >= '0' && c[0] <= '9') || (c[0] >= 'a' && c[0] <= 'z') || (c[0] >= 'A' && c[0] <= 'Z') || c == "-" || c == "." || c == "_";
  if (c.size() == 2) return !(c[0] == '\xc2' && static_cast<unsigned char>(c[1]) <= 0xa0);
  return c != "\u3000" && c != "\ufeff" && !(c >= "\u2000" && c <= "\u206f" && c.size() == 3);
}

std::string safe(std::string_view name) {
  std::string out;
  for (size_t at = 0; at < name.size();) {
    const size_t length = character_at(name, at);
    const std::string_view c = name.substr(at, std::max<size_t>(length, 1));
    out += length > 0 && may_stay(c) ? std::string(c) : "_";
    at += c.size();
  }
  return out.empty() || out[0] == '.' || out[0] == '-' ? "_" + out : out;
}

// At most `bytes`, whole characters.
std::string cut(const std::string& text, size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xc0) == 0x80) --bytes;
  return text.substr(0, bytes);
}

}  // namespace

std::vector<std::string> file_names(const std::vector<std::string>& tensors, const std::string& ending, size_t longest) {
  std::set<std::string> taken;
  std::vector<std::string> names(tensors.size());
  // Whoever needs no number keeps the name that is plain.
  for (size_t i = 0; i < tensors.size(); ++i)
    if (safe(tensors[i]) == tensors[i] && tensors[i].size() + ending.size() <= longest && taken.insert(tensors[i] + ending).second)
      names[i] = tensors[i] + ending;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const std::string name = safe(tensors[i]);
    for (int number = 1; names[i].empty(); ++number) {
      const std::string mark = number == 1 ? "" : fmt::format("-{}", number);
      const std::string wanted = cut(name, longest - ending.size() - mark.size()) + mark + ending;
      if (taken.insert(wanted).second) names[i] = wanted;
    }
  }
  return names;
}

size_t longest_file_name(const std::string& folder) {
  const long longest = pathconf(folder.c_str(), _PC_NAME_MAX);
  return longest > 32 ? static_cast<size_t>(longest) : 255;
}

}  // namespace amdahl

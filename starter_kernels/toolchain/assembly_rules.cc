#include "starter_kernels/toolchain/assembly_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>

namespace amdahl {
namespace {

const std::set<std::string_view> kDirectives{".p2align", ".align", ".balign", ".intel_syntax", ".att_syntax"};
// The one use of these is GCC's own (machine_code.cc).
const std::set<std::string_view> kNotInText{"cpuid", "xgetbv"};

bool blank(char c) { return c == ' ' || c == '\t'; }
bool letter(char c) { return std::isalpha(static_cast<unsigned char>(c)); }
bool digit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }
bool of_name(char c) { return letter(c) || digit(c) || c == '_' || c == '.'; }

// No quotes, backslashes, assignments, comments of the C kind.
bool may_stand(char c) { return letter(c) || digit(c) || blank(c) || std::string_view("\n;_,%$()*+-:{}|.#[]!").find(c) != std::string_view::npos; }

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

class Statement {
 public:
  explicit Statement(std::string_view text) : text_(text) {}

  std::string refusal() {
    skip_label();
    skip_braces();
    if (text_.empty() || text_.front() == '#') return "";
    size_t end = 0;
    while (end < text_.size() && of_name(text_[end])) ++end;
    const std::string first = lower(text_.substr(0, end));
    if (first.empty()) return fmt::format("'{}' is no instruction", text_.substr(0, 20));
    if (first.front() == '.') return kDirectives.count(first) ? "" : fmt::format("{} is a directive", first);
    if (end < text_.size() && text_[end] == ':') return fmt::format("{} is a name that the linker would see", first);
    if (!letter(first.front()) || first.find('_') != std::string::npos) return fmt::format("{} is no instruction", first);
    return "";
  }

 private:
  void trim() {
    while (!text_.empty() && blank(text_.front())) text_.remove_prefix(1);
  }
  // Of the statement itself: "1:", ".Lloop%=:". Others would be names that the linker sees.
  void skip_label() {
    trim();
    const size_t colon = text_.find(':');
    if (colon == std::string_view::npos) return;
    const std::string_view label = text_.substr(0, colon);
    if (label.empty() || !(std::all_of(label.begin(), label.end(), digit) || label.starts_with(".L"))) return;
    if (!std::all_of(label.begin(), label.end(), [](char c) { return of_name(c) || c == '%' || c == '='; })) return;
    text_.remove_prefix(colon + 1);
    trim();
  }
  // "{evex} vaddps", "%{evex%} vaddps", "{att|intel}".
  void skip_braces() {
    while (!text_.empty() && (text_.front() == '{' || text_.starts_with("%{"))) {
      const size_t close = text_.find('}');
      if (close == std::string_view::npos) return;
      text_.remove_prefix(close + 1);
      trim();
    }
  }

  std::string_view text_;
};

std::string refused_word(const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && of_name(text[end])) ++end;
    if (const std::string word = lower(std::string_view(text).substr(at, end - at)); kNotInText.count(word)) return word + " asks what processor this is";
    at = end + 1;
  }
  return "";
}

}  // namespace

std::string refused_assembly(const std::string& text) {
  for (size_t i = 0; i < text.size(); ++i)
    if (!may_stand(text[i]) && !(text[i] == '=' && i > 0 && text[i - 1] == '%')) return "a character that instructions do not need";
  if (std::string why = refused_word(text); !why.empty()) return why;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find_first_of("\n;", at), text.size());
    if (std::string why = Statement(std::string_view(text).substr(at, end - at)).refusal(); !why.empty()) return why;
    at = end + 1;
  }
  return "";
}

}  // namespace amdahl

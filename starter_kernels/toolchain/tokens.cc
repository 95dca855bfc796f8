#include "starter_kernels/toolchain/tokens.h"

#include <algorithm>
#include <cctype>

namespace amdahl {
namespace {

bool blank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\r'; }
bool digit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }
// Bytes beyond ASCII belong to words, as in a compiler.
bool of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || static_cast<unsigned char>(c) >= 0x80; }

// The text as it is after the first phases of translation (trigraphs, spliced lines), each character with the line it is on.
struct Spliced {
  std::string text;
  std::vector<int> line;

  explicit Spliced(const std::string& source) {
    int at_line = 1;
    const auto put = [&](char c) {
      text += c;
      line.push_back(at_line);
    };
    for (size_t i = 0; i < source.size(); ++i) {
      char c = source[i];
      if (source.compare(i, 3, "\?\?/") == 0) c = '\\', i += 2;
      else if (source.compare(i, 3, "\?\?=") == 0) c = '#', i += 2;
      size_t end = i + 1;  // a compiler also forgives blanks between the backslash and the end of the line
      while (c == '\\' && end < source.size() && blank(source[end])) ++end;
      if (c == '\\' && end < source.size() && source[end] == '\n') {
        i = end;
        ++at_line;
        continue;
      }
      put(c);
      at_line += c == '\n';
    }
  }
};

class Lexer {
 public:
  explicit Lexer(const std::string& source) : spliced_(source), s_(spliced_.text) {}

  std::vector<Token> tokens() {
    while (at_ < s_.size() && !stuck_) step();
    return std::move(tokens_);
  }

 private:
  bool is(std::string_view what) const { return s_.compare(at_, what.size(), what) == 0; }
  bool inside() const { return at_ < s_.size(); }

  void put(Token::Kind kind, std::string text, size_t from, bool plain = true) {
    tokens_.push_back({kind, std::move(text), spliced_.line[std::min(from, s_.size() - 1)], start_of_line_, plain, row_, from, at_});
    start_of_line_ = false;
  }
  void stick(size_t from) {
    put(Token::Kind::kMark, "", from);
    stuck_ = true;
  }

  void step() {
    const char c = s_[at_];
    if (c == '\n') {
      start_of_line_ = true;
      ++row_;
      ++at_;
    } else if (blank(c)) {
      ++at_;
    } else if (!skip_comment()) {
      token();
    }
  }

  bool skip_comment() {
    if (is("//")) {
      at_ = std::min(s_.find('\n', at_), s_.size());
      return true;
    }
    if (!is("/*")) return false;
    const size_t end = s_.find("*/", at_ + 2);
    at_ = end == std::string::npos ? s_.size() : end + 2;
    return true;
  }

  void token() {
    const char c = s_[at_];
    if (c == '"') return string(at_, true);
    if (c == '\'') return character(at_);
    if (digit(c) || (c == '.' && at_ + 1 < s_.size() && digit(s_[at_ + 1]))) return number();
    if (of_word(c)) return word();
    mark();
  }

  void number() {  // 1'000'000 holds no characters
    const size_t start = at_;
    const auto goes_on = [&] {
      const char c = s_[at_];
      if (of_word(c) || c == '.') return true;
      if (c == '\'') return at_ + 1 < s_.size() && of_word(s_[at_ + 1]);
      const char before = static_cast<char>(std::tolower(s_[at_ - 1]));
      return (c == '+' || c == '-') && (before == 'e' || before == 'p') && at_ > start;
    };
    while (inside() && goes_on()) ++at_;
    put(Token::Kind::kNumber, s_.substr(start, at_ - start), start);
  }

  void word() {
    const size_t start = at_;
    while (inside() && of_word(s_[at_])) ++at_;
    const std::string text = s_.substr(start, at_ - start);
    const bool prefix = text == "L" || text == "u" || text == "U" || text == "u8";
    if (inside() && s_[at_] == '"' && (text == "R" || text == "LR" || text == "u8R" || text == "uR" || text == "UR")) return raw_string(start, text == "R");
    if (inside() && s_[at_] == '"' && prefix) return string(start, false);
    if (inside() && s_[at_] == '\'' && prefix) return character(start);
    put(Token::Kind::kWord, text, start);
  }

  void mark() {
    const size_t start = at_;
    // Before a third colon that is not part of :: or :>, <: is a < and a ::.
    const bool scope = is("<::") && at_ + 3 < s_.size() && s_[at_ + 3] != ':' && s_[at_ + 3] != '>';
    static constexpr std::string_view kOther[][2] = {{"%:%:", "##"}, {"%:", "#"}, {"<:", "["}, {":>", "]"}, {"<%", "{"}, {"%>", "}"}};
    for (const auto& [spelled, meant] : kOther) {
      if (!is(spelled) || (scope && spelled == "<:")) continue;
      at_ += spelled.size();
      return put(Token::Kind::kMark, std::string(meant), start, false);
    }
    const size_t size = is("##") || is("::") ? 2 : 1;
    at_ += size;
    put(Token::Kind::kMark, s_.substr(start, size), start);
  }

  // Escapes are undone: ".\x69ncbin" is ".incbin".
  void string(size_t start, bool plain) {
    std::string text;
    for (++at_; inside() && s_[at_] != '"' && s_[at_] != '\n';) text += s_[at_] == '\\' ? escape() : s_[at_++];
    if (inside() && s_[at_] == '"') ++at_;
    put(Token::Kind::kString, std::move(text), start, plain);
  }

  char digits(size_t most, int base) {
    int value = 0;
    for (size_t n = 0; n < most && inside() && std::isxdigit(static_cast<unsigned char>(s_[at_])); ++n, ++at_) {
      const char c = static_cast<char>(std::tolower(s_[at_]));
      const int d = c <= '9' ? c - '0' : c - 'a' + 10;
      if (d >= base) break;
      value = value * base + d;
    }
    return static_cast<char>(value);
  }

  char escape() {
    if (++at_ >= s_.size()) return '\\';
    const char c = s_[at_];
    if (c >= '0' && c <= '7') return digits(3, 8);
    ++at_;
    if (c == 'x') return digits(8, 16);
    if (c == 'u') return digits(4, 16);
    if (c == 'U') return digits(8, 16);
    if (c == 'n' || c == 'r') return '\n';
    if (c == 't') return '\t';
    return c;
  }

  void raw_string(size_t start, bool plain) {
    const size_t open = s_.find('(', at_);
    if (open == std::string::npos || open - at_ > 17) return stick(start);
    const std::string end = ")" + s_.substr(at_ + 1, open - at_ - 1) + "\"";
    const size_t close = s_.find(end, open + 1);
    if (close == std::string::npos) return stick(start);
    at_ = close + end.size();
    put(Token::Kind::kString, s_.substr(open + 1, close - open - 1), start, plain);
  }

  void character(size_t start) {
    const size_t from = at_;
    for (++at_; inside() && s_[at_] != '\'' && s_[at_] != '\n';) at_ += s_[at_] == '\\' ? 2 : 1;
    if (inside() && s_[at_] == '\'') ++at_;
    at_ = std::min(at_, s_.size());
    put(Token::Kind::kCharacter, s_.substr(from, at_ - from), start);
  }

  const Spliced spliced_;
  const std::string& s_;
  size_t at_ = 0, row_ = 0;
  bool start_of_line_ = true, stuck_ = false;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokens_of(const std::string& source) { return Lexer(source).tokens(); }

}  // namespace amdahl

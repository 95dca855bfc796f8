#include "starter_kernels/source_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>
#include <vector>

namespace amdahl {
namespace {

// No input and output, no processes, no threads but OpenMP's.
const std::set<std::string_view> kHeaders{
    "algorithm", "array", "bit", "cassert", "cfenv", "cfloat", "cinttypes", "climits", "cmath", "complex", "concepts", "cstdarg",
    "cstddef", "cstdint", "cstdlib", "cstring", "functional", "initializer_list", "iterator", "limits", "memory", "new", "numbers",
    "numeric", "optional", "ranges", "span", "string", "string_view", "tuple", "type_traits", "utility", "vector", "version",
    "atomic", "assert.h", "fenv.h", "float.h", "inttypes.h", "limits.h", "math.h", "stdalign.h", "stdarg.h", "stdbool.h", "stddef.h",
    "stdint.h", "stdlib.h", "string.h", "omp.h", "immintrin.h", "x86intrin.h", "xmmintrin.h", "emmintrin.h", "pmmintrin.h",
    "tmmintrin.h", "smmintrin.h", "nmmintrin.h", "arm_neon.h", "arm_sve.h", "arm_fp16.h", "arm_bf16.h", "arm_acle.h"};
const std::set<std::string_view> kDirectives{"define", "undef", "if", "ifdef", "ifndef", "elif", "elifdef", "elifndef", "else",
                                             "endif", "error", "warning", "include", "pragma", ""};
// Second words of #pragma GCC. Not here: dependency (reads a file), plugin and their like.
const std::set<std::string_view> kGccPragmas{"unroll", "ivdep", "target", "optimize", "push_options", "pop_options", "reset_options",
                                             "diagnostic"};
const std::set<std::string_view> kClangPragmas{"loop", "fp", "diagnostic"};
// What may follow a dot in the text of assembly.
const std::set<std::string_view> kAssembly{"p2align", "align", "balign", "byte", "short", "long", "quad", "text", "intel_syntax", "att_syntax"};
// Words that ask for files wherever they stand.
const std::set<std::string_view> kWords{"__has_include", "__has_include_next", "__has_embed", "incbin", "__pragma"};

bool blank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\r'; }
bool of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$'; }

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

// Walks the text once: strips comments, reads strings, and hands out what a line, a word or a string breaks.
class Reader {
 public:
  explicit Reader(const Spliced& spliced) : s_(spliced.text), line_(spliced.line) {}

  std::string refusal() {
    while (at_ < s_.size() && refusal_.empty()) step();
    if (refusal_.empty()) check_strings();
    return refusal_;
  }

 private:
  struct Literal {
    std::string text;
    size_t at;
  };

  bool is(std::string_view what) const { return s_.compare(at_, what.size(), what) == 0; }
  void refuse(size_t at, const std::string& what) {
    if (refusal_.empty()) refusal_ = fmt::format("line {}: {}", line_.empty() ? 1 : line_[std::min(at, line_.size() - 1)], what);
  }

  void step() {
    const char c = s_[at_];
    if (c == '\n') {
      start_of_line_ = true;
      ++at_;
    } else if (blank(c)) {
      ++at_;
    } else if (skip_comment()) {
    } else if (start_of_line_ && (c == '#' || is("%:"))) {
      directive();
    } else {
      start_of_line_ = false;
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
    if (c == '"') return string();
    if (c == '\'') return character();
    if (std::isdigit(static_cast<unsigned char>(c))) {  // 1'000'000 holds no characters
      while (at_ < s_.size() && (of_word(s_[at_]) || s_[at_] == '.' || (s_[at_] == '\'' && at_ + 1 < s_.size() && of_word(s_[at_ + 1])))) ++at_;
      return;
    }
    if (!of_word(c)) {
      ++at_;
      return;
    }
    const size_t start = at_;
    while (at_ < s_.size() && of_word(s_[at_])) ++at_;
    const std::string_view word(s_.data() + start, at_ - start);
    if (kWords.count(word)) refuse(start, fmt::format("{} is not allowed in a kernel: it asks for files", word));
    if (word == "_Pragma") return pragma_operator(start);
    if (word == "asm" || word == "__asm" || word == "__asm__" || word.find("attribute") != std::string_view::npos) assembly_ = true;
    if (at_ < s_.size() && s_[at_] == '"' && (word == "R" || word == "LR" || word == "u8R" || word == "uR" || word == "UR")) raw_string();
  }

  // Escapes are undone: ".\x69ncbin" is ".incbin".
  void string() {
    Literal literal{"", at_};
    for (++at_; at_ < s_.size() && s_[at_] != '"' && s_[at_] != '\n';) literal.text += s_[at_] == '\\' ? escape() : s_[at_++];
    if (at_ < s_.size() && s_[at_] == '"') ++at_;
    strings_.push_back(std::move(literal));
  }

  char escape() {
    const auto digits = [&](size_t most, int base) {
      int value = 0;
      for (size_t n = 0; n < most && at_ < s_.size() && std::isxdigit(static_cast<unsigned char>(s_[at_])); ++n, ++at_) {
        const char c = static_cast<char>(std::tolower(s_[at_]));
        const int digit = c <= '9' ? c - '0' : c - 'a' + 10;
        if (digit >= base) break;
        value = value * base + digit;
      }
      return static_cast<char>(value);
    };
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

  void raw_string() {
    const size_t open = s_.find('(', at_);
    if (open == std::string::npos || open - at_ > 17) return refuse(at_, "a raw string that does not begin as one");
    const std::string end = ")" + s_.substr(at_ + 1, open - at_ - 1) + "\"";
    const size_t close = s_.find(end, open + 1);
    if (close == std::string::npos) return refuse(at_, "a raw string that does not end");
    strings_.push_back({s_.substr(open + 1, close - open - 1), at_});
    at_ = close + end.size();
  }

  void character() {
    for (++at_; at_ < s_.size() && s_[at_] != '\'' && s_[at_] != '\n';) {
      if (s_[at_] == '\\') ++at_;
      ++at_;
    }
    if (at_ < s_.size() && s_[at_] == '\'') ++at_;
  }

  void skip_blanks() {
    while (at_ < s_.size() && (blank(s_[at_]) || (s_[at_] == '/' && skip_comment()))) {
      if (at_ < s_.size() && blank(s_[at_])) ++at_;
    }
  }
  std::string_view word() {
    skip_blanks();
    const size_t start = at_;
    while (at_ < s_.size() && of_word(s_[at_])) ++at_;
    return {s_.data() + start, at_ - start};
  }

  // The rest of a #define, an #if or a pragma is read as any other text: strings and words in it count.
  void directive() {
    const size_t start = at_;
    start_of_line_ = false;
    if (s_[at_] == '%') return refuse(start, "%: is not allowed in a kernel: write #");
    ++at_;
    const std::string_view name = word();
    if (!kDirectives.count(name)) return refuse(start, fmt::format("#{} is not allowed in a kernel", name));
    if (name == "include") include(start);
    if (name == "pragma") pragma(start);
    if (name == "error" || name == "warning") at_ = std::min(s_.find('\n', at_), s_.size());  // prose, with apostrophes
  }

  void include(size_t start) {
    skip_blanks();
    const size_t end = std::min(s_.find('\n', at_), s_.size());
    const size_t close = s_.find('>', at_);
    if (at_ >= end || s_[at_] != '<' || close == std::string::npos || close > end)
      return refuse(start, "#include is for <headers> of the standard library and of intrinsics only: put other text into the kernel itself");
    const std::string header = s_.substr(at_ + 1, close - at_ - 1);
    if (!kHeaders.count(header))
      return refuse(start, fmt::format("#include <{}> is not allowed in a kernel: it may use the standard library's arithmetic and "
                                       "containers, omp.h, and intrinsics", header.substr(0, 60)));
    at_ = close + 1;
  }

  void pragma(size_t start) {
    const std::string_view first = word();
    check_pragma(start, first, word());
  }
  // _Pragma("…") of one string that stands there as it is: macros could bring anything.
  void pragma_operator(size_t start) {
    skip_blanks();
    if (at_ >= s_.size() || s_[at_++] != '(') return refuse(start, kPragmaReason);
    skip_blanks();
    if (at_ >= s_.size() || s_[at_] != '"') return refuse(start, kPragmaReason);
    string();
    skip_blanks();
    if (at_ >= s_.size() || s_[at_] != ')') return refuse(start, kPragmaReason);
    const std::string& text = strings_.back().text;
    const size_t space = std::min(text.find(' '), text.size());
    const size_t begin = std::min(space + 1, text.size());
    check_pragma(start, std::string_view(text).substr(0, space), std::string_view(text).substr(begin, text.find_first_of(" (", begin) - begin));
  }
  void check_pragma(size_t start, std::string_view first, std::string_view second) {
    if (first == "omp" || first == "STDC" || first == "once" || first == "unroll") return;
    if ((first == "GCC" && kGccPragmas.count(second)) || (first == "clang" && kClangPragmas.count(second))) return;
    refuse(start, fmt::format("pragma {} {}: {}", first, second, kPragmaReason));
  }

  // Strings next to each other are one, and macros bring them next to each other: all are read as one, too.
  void check_strings() {
    std::string all;
    for (const Literal& l : strings_) {
      all += l.text;
      if (l.text.find("incbin") != std::string::npos || l.text.find(".include") != std::string::npos) return refuse(l.at, kAssemblyReason);
      if (assembly_ && has_other_directive(l.text)) return refuse(l.at, kAssemblyReason);
    }
    if (all.find("incbin") != std::string::npos || (assembly_ && all.find(".include") != std::string::npos))
      refuse(strings_.front().at, kAssemblyReason);
  }

  // A dot at the start of a statement. Not one that comes after a letter (vfmadd.s) or a digit.
  static bool has_other_directive(const std::string& text) {
    for (size_t dot = text.find('.'); dot != std::string::npos; dot = text.find('.', dot + 1)) {
      if (dot > 0 && (of_word(text[dot - 1]) || text[dot - 1] == '}')) continue;
      size_t end = dot + 1;
      while (end < text.size() && of_word(text[end])) ++end;
      if (!kAssembly.count(std::string_view(text).substr(dot + 1, end - dot - 1))) return true;
    }
    return false;
  }

  static constexpr const char* kPragmaReason = "a kernel's pragmas may be omp and those that steer vectorization, written out";
  static constexpr const char* kAssemblyReason = "assembly in a kernel may hold instructions, alignment and data, no other directives";

  const std::string& s_;
  const std::vector<int>& line_;
  size_t at_ = 0;
  bool start_of_line_ = true, assembly_ = false;
  std::vector<Literal> strings_;
  std::string refusal_;
};

}  // namespace

std::string refused_source(const std::string& text) {
  if (text.find('\0') != std::string::npos) return "line 1: a kernel is text, without zero bytes";
  const Spliced spliced(text);
  return Reader(spliced).refusal();
}

}  // namespace amdahl

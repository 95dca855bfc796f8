#include "starter_kernels/toolchain/ptx_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <stdexcept>

namespace amdahl {
namespace {

struct Word {
  std::string text;
  int line;
};

bool is_part_of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%' || c == '.'; }

// Words and marks; comments and what stands in quotes are gone. "shared::cta" is one word.
std::vector<Word> words_of(std::string_view text) {
  std::vector<Word> words;
  int line = 1;
  for (size_t i = 0; i < text.size();) {
    const auto skip_to = [&](std::string_view end, size_t from) {
      const size_t at = text.find(end, from), next = at == text.npos ? text.size() : at + end.size();
      line += static_cast<int>(std::count(text.begin() + static_cast<std::ptrdiff_t>(i), text.begin() + static_cast<std::ptrdiff_t>(next), '\n'));
      i = next;
    };
    if (text.substr(i, 2) == "//") {
      skip_to("\n", i);
    } else if (text.substr(i, 2) == "/*") {
      skip_to("*/", i + 2);
    } else if (text[i] == '"') {
      skip_to("\"", i + 1);
    } else if (is_part_of_word(text[i])) {
      size_t end = i;
      while (end < text.size() && (is_part_of_word(text[end]) || (text.substr(end, 2) == "::" && end + 2 < text.size() && is_part_of_word(text[end + 2]))))
        end += text[end] == ':' ? 2 : 1;
      words.push_back({std::string(text.substr(i, end - i)), line});
      i = end;
    } else {
      line += text[i] == '\n';
      if (!std::isspace(static_cast<unsigned char>(text[i]))) words.push_back({std::string(1, text[i]), line});
      ++i;
    }
  }
  return words;
}

class Reader {
 public:
  explicit Reader(std::string_view text) : words_(words_of(text)) {}

  PtxCode read() {
    while (at_ < words_.size()) {
      PtxStatement statement = next(/*in_function=*/false);
      if (statement.words.empty()) continue;
      if (ended_with_ != '{') {
        code_.declarations.push_back(std::move(statement));
        continue;
      }
      PtxFunction function = header(statement);
      for (int depth = 1; depth > 0;) {
        PtxStatement inside = next(/*in_function=*/true);
        if (!inside.words.empty()) function.body.push_back(std::move(inside));
        depth += (ended_with_ == '{') - (ended_with_ == '}');
      }
      code_.functions.push_back(std::move(function));
    }
    return std::move(code_);
  }

 private:
  // Up to a semicolon, or a brace that begins or ends a block.
  PtxStatement next(bool in_function) {
    PtxStatement s;
    bool of_function = false;
    for (;;) {
      if (at_ == words_.size()) throw std::runtime_error("the kernel's PTX ends in the middle of a statement");
      const Word& w = words_[at_++];
      if (s.words.empty()) s.line = w.line;
      if (w.text == ";") return ended(s, ';');
      if (w.text == "}" && s.words.empty()) return ended(s, '}');
      if (w.text == "{" && (s.words.empty() || (!in_function && of_function))) return ended(s, '{');
      if (s.words.empty() && w.text == "@") {
        s.guarded = true;
        if (at_ < words_.size() && words_[at_].text == "!") ++at_;
        ++at_;
        continue;
      }
      if (s.words.empty() && at_ < words_.size() && words_[at_].text == ":") {
        s.labels.push_back(w.text);
        ++at_;
        continue;
      }
      of_function |= w.text == ".entry" || w.text == ".func";
      s.words.push_back(w.text);
      // These end with their lines.
      const bool is_line = s.first() == ".version" || s.first() == ".target" || s.first() == ".address_size" || s.first() == ".file" || s.first() == ".loc";
      if (is_line && (at_ == words_.size() || words_[at_].line != w.line)) return ended(s, ';');
    }
  }

  // A label before a brace is of what comes next.
  PtxStatement ended(PtxStatement& s, char with) {
    ended_with_ = with;
    if (s.words.empty()) {
      labels_.insert(labels_.end(), s.labels.begin(), s.labels.end());
      return {};
    }
    s.labels.insert(s.labels.begin(), labels_.begin(), labels_.end());
    labels_.clear();
    return std::move(s);
  }

  static PtxFunction header(const PtxStatement& s) {
    PtxFunction f;
    const auto kind = std::find_if(s.words.begin(), s.words.end(), [](const std::string& w) { return w == ".entry" || w == ".func"; });
    if (kind == s.words.end()) throw std::runtime_error(fmt::format("line {} of the kernel's PTX opens a block outside of a function", s.line));
    f.is_kernel = *kind == ".entry";
    auto at = kind + 1;
    if (!f.is_kernel && at != s.words.end() && *at == "(") at = std::find(at, s.words.end(), ")") + 1;  // what it returns
    if (at < s.words.end()) f.name = *at;
    // A parameter's name is the last word of its declaration, but for its size.
    for (; at < s.words.end(); ++at)
      if (*at == "," || *at == ")" || *at == "[")
        if (const std::string& before = *(at - 1); before != "]" && before != "(" && !before.starts_with(".")) f.parameters.push_back(before);
    return f;
  }

  std::vector<Word> words_;
  size_t at_ = 0;
  char ended_with_ = ';';
  std::vector<std::string> labels_;
  PtxCode code_;
};

}  // namespace

PtxCode read_ptx(std::string_view text) { return Reader(text).read(); }

bool has_part(std::string_view opcode, std::string_view part) {
  for (size_t at = opcode.find(part); at != opcode.npos; at = opcode.find(part, at + 1)) {
    const size_t end = at + part.size();
    if (at > 0 && opcode[at - 1] == '.' && (end == opcode.size() || opcode[end] == '.' || opcode[end] == ':')) return true;
  }
  return false;
}

std::string_view operation(std::string_view opcode) { return opcode.substr(0, opcode.find('.')); }

}  // namespace amdahl

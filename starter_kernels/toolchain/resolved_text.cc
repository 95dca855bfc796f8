#include "starter_kernels/toolchain/resolved_text.h"

#include <fmt/format.h>

#include <set>
#include <sstream>
#include <string_view>
#include <vector>

#include "starter_kernels/toolchain/tokens.h"

namespace amdahl {
namespace {

// "stddef.h" of `#include <stddef.h>`, in order. The rules have seen to the form (source_rules.h).
std::vector<std::string> headers_of(const std::string& text) {
  std::vector<std::string> headers;
  const std::vector<Token> t = tokens_of(text);
  for (size_t i = 0; i + 2 < t.size(); ++i) {
    if (!t[i].is("#") || !t[i].starts_line || !t[i + 1].is("include") || !t[i + 2].is("<")) continue;
    std::string header;
    for (size_t at = i + 3; at < t.size() && !t[at].is(">"); ++at) header += t[at].text;
    headers.push_back(header);
  }
  return headers;
}

// "kernel.cpp" of `# 7 "kernel.cpp" 2`, else "".
std::string file_of_marker(const std::string& line) {
  const size_t open = line.find('"'), close = line.rfind('"');
  const bool marker = line.size() > 3 && line[0] == '#' && line[1] == ' ' && line[2] >= '0' && line[2] <= '9';
  return marker && open != std::string::npos && close > open ? line.substr(open + 1, close - open - 1) : "";
}

// What assert() became; <cassert> declares it only where NDEBUG is not defined.
std::string declarations_for(const std::string& own) {
  if (own.find("__assert_fail") == std::string::npos) return "";
  return "extern \"C\" void __assert_fail(const char*, const char*, unsigned, const char*) noexcept __attribute__((noreturn));\n";
}

bool is_blank(const std::string& line) { return line.find_first_not_of(" \t\r") == std::string::npos; }

}  // namespace

std::string resolved_text(const std::string& text, const std::string& preprocessed, const std::string& name) {
  std::set<std::string> files;
  std::string own;
  bool mine = false;
  std::istringstream lines(preprocessed);
  for (std::string line; std::getline(lines, line);) {
    if (const std::string file = file_of_marker(line); !file.empty()) {
      files.insert(file);
      mine = file == name;
    } else if (mine && !is_blank(line)) {
      own += line + "\n";
    }
  }
  std::string includes;
  for (const std::string& header : headers_of(text))
    for (const std::string& file : files)
      if (file.ends_with("/" + header)) {
        includes += fmt::format("#include <{}>\n", header);
        break;
      }
  return fmt::format("{}#if defined(__clang__)\n#error \"this kernel was judged as g++ compiles it: configure with -DCMAKE_CXX_COMPILER=g++\"\n#endif\n{}{}",
                     includes, declarations_for(own), own);
}

}  // namespace amdahl

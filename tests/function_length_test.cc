// Functions are short enough to be seen whole. What is measured: from a line that begins in the first column, has a parenthesis and ends with '{', to
// the next line that begins with '}'. So functions inside of a class, a macro or another function are part of what is around them, or not seen, as are those
// whose signature takes several lines; tables of a namespace are not functions.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "tests/house_files.h"

namespace fs = std::filesystem;

namespace {

constexpr int kMostLines = 100;

// Kernels of a card that are longer: cut, they must be measured on one.
const std::map<std::string, int> kLonger{{"starter_kernels/cuda/kernels/attention.cu", 136}};

struct Function {
  std::string signature;
  int lines;
};

std::vector<Function> functions_of(std::istream& in) {
  static const std::regex other("(namespace|class|struct|enum|union|extern \"C\" \\{|#).*");
  std::vector<Function> found;
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (inside) ++found.back().lines;
    if (inside && line.starts_with('}')) inside = false;
    else if (!inside && line.ends_with('{') && line.front() != ' ' && line.find('(') != std::string::npos && !std::regex_match(line, other)) {
      found.push_back({line, 1});
      inside = true;
    }
  }
  return found;
}

TEST(FunctionLength, EveryFunctionIsShortEnough) {
  size_t count = 0;
  for (const fs::path& path : amdahl::testing::house_files({".cc", ".h", ".cpp", ".cu", ".inc"})) {
    std::ifstream in(path);
    const std::vector<Function> functions = functions_of(in);
    count += functions.size();
    const auto longer = kLonger.find(fs::relative(path, AMDAHL_SOURCE_DIR));
    for (const Function& f : functions)
      EXPECT_LE(f.lines, longer == kLonger.end() ? kMostLines : longer->second)
          << fs::relative(path, AMDAHL_SOURCE_DIR) << ": " << f.signature << " has " << f.lines << " lines";
  }
  EXPECT_GT(count, 4000u);
}

TEST(FunctionLength, IsMeasured) {
  std::string body;
  for (int i = 0; i < kMostLines; ++i) body += "  if (x) {\n  }\n";
  std::istringstream text(
      "namespace {\nextern \"C\" void zero(int x) {\n}\nclass A {\n  int f() { return 0; }\n};\nint one() { return 1; }\nint two(int x) {\n  return x;\n}\nint "
      "long_one(int x) {\n" +
      body + "}\n");
  const std::vector<Function> found = functions_of(text);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[1].lines, 3);
  EXPECT_EQ(found[2].lines, 2 * kMostLines + 2);
}

}  // namespace

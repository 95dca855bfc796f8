// The documents: links lead somewhere, files that are named exist, generated pages are what their figures give, and pages stay as short as they are meant to be.

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace {

const fs::path kRoot = AMDAHL_SOURCE_DIR;

std::string contents_of(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Every file of the tree with one of these extensions; neither builds nor hidden folders.
std::vector<fs::path> files(const std::set<std::string>& extensions) {
  std::vector<fs::path> found;
  for (auto entry = fs::recursive_directory_iterator(kRoot); entry != fs::recursive_directory_iterator(); ++entry) {
    const std::string name = entry->path().filename();
    if (entry->is_directory() && (name.front() == '.' || name.rfind("build", 0) == 0)) entry.disable_recursion_pending();
    if (entry->is_regular_file() && extensions.count(entry->path().extension())) found.push_back(entry->path());
  }
  return found;
}

std::vector<std::string> matches(const std::string& text, const std::regex& what) {
  std::vector<std::string> found;
  for (std::sregex_iterator m(text.begin(), text.end(), what), none; m != none; ++m) found.push_back((*m)[1]);
  return found;
}

// Nothing in code is a link or a heading.
std::string without_code(const std::string& document) {
  std::string text;
  std::istringstream in(document);
  bool fenced = false;
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("```", 0) == 0) fenced = !fenced;
    if (!fenced && line.rfind("```", 0) != 0 && line.rfind("    ", 0) != 0) text += line + '\n';
  }
  return std::regex_replace(text, std::regex("`[^`\n]*`"), "``");
}

// The anchors of a document's headings, as GitHub makes them of ASCII text.
std::set<std::string> anchors(const fs::path& path) {
  std::set<std::string> found;
  for (const std::string& heading : matches(std::regex_replace(contents_of(path), std::regex("```[^`]*```"), ""), std::regex("(?:^|\n)#+ ([^\n]*)"))) {
    std::string anchor;
    for (const char c : heading) {
      if (std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-') anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      if (c == ' ') anchor += '-';
    }
    found.insert(anchor);
  }
  return found;
}

size_t lines_of(const fs::path& path) {
  const std::string text = contents_of(path);
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(Documents, EveryRelativeLinkResolves) {
  int links = 0;
  for (const fs::path& document : files({".md"})) {
    for (const std::string& target : matches(without_code(contents_of(document)), std::regex(R"re((?:\]\(|src=")([^)"\s]+))re"))) {
      if (std::regex_search(target, std::regex("^[a-z]+:"))) continue;
      ++links;
      const std::string file = target.substr(0, target.find('#'));
      const fs::path path = file.empty() ? document : document.parent_path() / file;
      if (!fs::exists(path)) {
        ADD_FAILURE() << fs::relative(document, kRoot) << " links to " << target << ", which is not there";
      } else if (const size_t hash = target.find('#'); hash != std::string::npos) {
        EXPECT_TRUE(anchors(path).count(target.substr(hash + 1))) << fs::relative(document, kRoot) << " links to " << target << ": no such heading";
      }
    }
  }
  EXPECT_GT(links, 100);
}

// Comments point at documents by their path from the root.
TEST(Documents, EveryDocumentThatIsNamedExists) {
  int names = 0;
  for (const fs::path& file : files({".md", ".h", ".cc", ".cpp", ".py", ".inc", ".txt", ".cmake", ""})) {
    for (const std::string& name : matches(contents_of(file), std::regex(R"re((?:^|[^\w/.-])(docs/[\w/-]+\.md))re"))) {
      ++names;
      EXPECT_TRUE(fs::exists(kRoot / name)) << fs::relative(file, kRoot) << " names " << name;
    }
  }
  EXPECT_GT(names, 10);
}

// Files of the house that a text names by their path from the root; the lab and the changelog tell of the past. Of code, comments are looked at.
std::vector<std::string> named_files(const std::string& text, bool is_document) {
  static const std::string house = "(?:base|graph|starter_kernels|plan|profiler|playbook|experiments|tuner|export|cli|tests|bench|docs|scripts)";
  static const std::regex in_backticks("`(" + house + R"re(/[\w./-]*(?:/|\.\w+))`)re");
  static const std::regex in_comments(R"re((?:^|[^\w/.<-])()re" + house + R"re(/(?:[\w-]+/)*\w+\.(?:h|cc|cpp|cu|inc|py|md))\b)re");
  if (is_document) return matches(text, in_backticks);
  std::string comments;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    if (const size_t at = line.find("//"); at != std::string::npos) comments += line.substr(at) + '\n';
  return matches(comments, in_comments);
}

TEST(Documents, EveryFileThatIsNamedExists) {
  int names = 0;
  for (const fs::path& path : files({".md", ".h", ".cc", ".cpp", ".cu", ".inc"})) {
    const std::string file = fs::relative(path, kRoot);
    if (file.starts_with("docs/lab/") || file == "CHANGELOG.md") continue;
    for (const std::string& name : named_files(contents_of(path), path.extension() == ".md")) {
      ++names;
      EXPECT_TRUE(fs::exists(kRoot / name)) << file << " names " << name;
    }
  }
  EXPECT_GT(names, 300);
}

TEST(Documents, NamesAreFound) {
  const std::string gone = std::string("plan/") + "gone.h";
  EXPECT_EQ(named_files("see `" + gone + "`, `tuner/search/` and `a/b.h`", true), (std::vector<std::string>{gone, "tuner/search/"}));
  EXPECT_EQ(named_files("#include \"plan/plan.h\"\nint x;  // as in " + gone + "\n", false), (std::vector<std::string>{gone}));
}

TEST(Documents, EveryLabPageIsInTheIndex) {
  const std::string index = contents_of(kRoot / "docs/lab/README.md");
  for (const auto& page : fs::directory_iterator(kRoot / "docs/lab")) {
    const std::string name = page.path().filename();
    if (name != "README.md") {
      EXPECT_NE(index.find("](" + name + ")"), std::string::npos) << name;
    }
  }
}

TEST(Documents, PagesKeepTheirLength) {
  std::map<fs::path, size_t> most{{kRoot / "README.md", 100}, {kRoot / "docs/results.md", 100}, {kRoot / "docs/trust.md", 200}};
  for (const auto& decision : fs::directory_iterator(kRoot / "docs/decisions")) most[decision.path()] = 60;
  for (const auto& [page, lines] : most) EXPECT_LE(lines_of(page), lines) << fs::relative(page, kRoot) << ": details belong to docs/lab";
}

TEST(Documents, ResultsAreWhatTheFiguresGive) { EXPECT_EQ(std::system(("python3 '" + (kRoot / "bench/results/page").string() + "' --check").c_str()), 0); }

}  // namespace

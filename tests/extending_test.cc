// docs/extending.md, walked: whoever adds something goes by its tables, so that these must name files that exist, and all that it takes.

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/house_files.h"

namespace fs = std::filesystem;

namespace {

const fs::path kRoot = AMDAHL_SOURCE_DIR;

using Files = std::set<std::string>;

struct Row {
  std::vector<std::string> files;
  std::string text;  // what each of them holds
  bool always;       // else where a condition holds
};

struct Section {
  std::string example;
  std::vector<Row> rows;
};

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::string> in_backticks(const std::string& text) {
  static const std::regex words("`([^`]+)`");
  std::vector<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), words), end; it != end; ++it) found.push_back((*it)[1]);
  return found;
}

// By what is added: "operator", "kernel kind" … A heading is "## An operator: `CumSum`", a row of its table "| `file`, `file` | `text` | when |".
std::map<std::string, Section> sections() {
  static const std::regex heading("## An? (.*): `(.*)`"), row(R"(\| (`.*`) \| `(.*)` \| (.*) \|)");
  std::map<std::string, Section> found;
  Section* section = nullptr;
  std::ifstream in(kRoot / "docs/extending.md");
  for (std::string line; std::getline(in, line);) {
    std::smatch m;
    if (std::regex_match(line, m, heading)) section = &(found[m[1]] = {m[2], {}});
    else if (section && std::regex_match(line, m, row)) section->rows.push_back({in_backticks(m[1]), m[2], m[3] == "always"});
  }
  return found;
}

// Every file that may mention what is in the tree, but for documents and what programs wrote.
const std::map<std::string, std::string>& sources() {
  static const std::map<std::string, std::string> all = [] {
    std::map<std::string, std::string> texts;
    for (const fs::path& path : amdahl::testing::house_files({".h", ".cc", ".cpp", ".cu", ".inc", ".in", ".py", ".js"}))
      texts[fs::relative(path, kRoot)] = read(path);
    return texts;
  }();
  return all;
}

bool is_part_of_a_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Whether `text` has the name, in capitals or not, where a word begins: "cross_entropy_kind", but not "eval_cross_entropy" or "cumsum2d".
bool mentions(const std::string& text, const std::string& name) {
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b)); };
  for (auto at = text.begin();; ++at) {
    at = std::search(at, text.end(), name.begin(), name.end(), same);
    if (at == text.end()) return false;
    const auto behind = at + static_cast<std::ptrdiff_t>(name.size());
    if ((at == text.begin() || !is_part_of_a_word(at[-1])) && (behind == text.end() || !std::isalnum(static_cast<unsigned char>(*behind)))) return true;
  }
}

// A kernel's text seldom has its own name in it: "plain_cumsum.cpp" is of CumSum by what it is called.
bool is_called(const fs::path& path, const std::string& name) {
  const std::string stem = path.stem();
  return mentions(stem, name) || (stem.starts_with("plain_") && mentions(stem.substr(6), name));
}

// Operators of PyTorch that a suite of others' asks for are no operators of ours, though some are called alike.
bool is_of_others(const std::string& path) { return path.starts_with("bench/suites/bb/"); }

Files files_that_mention(const std::string& name) {
  Files found;
  for (const auto& [path, text] : sources())
    if (path != "tests/extending_test.cc" && !is_of_others(path) && (is_called(path, name) || mentions(text, name))) found.insert(path);
  return found;
}

TEST(Extending, HasASectionForEachThingThatCanBeAdded) {
  const auto found = sections();
  for (const char* thing : {"operator", "operator that is made of others", "kernel kind", "rewrite", "backend", "export format", "command"}) {
    ASSERT_TRUE(found.count(thing)) << thing;
    EXPECT_GE(found.at(thing).rows.size(), 3u) << thing;
  }
}

TEST(Extending, FilesHoldWhatTheTablesSay) {
  for (const auto& [thing, section] : sections())
    for (const Row& row : section.rows)
      for (const std::string& file : row.files) {
        EXPECT_TRUE(fs::is_regular_file(kRoot / file)) << thing << ": there is no " << file;
        EXPECT_NE(read(kRoot / file).find(row.text), std::string::npos) << thing << ": " << file << " has no '" << row.text << "'";
      }
}

TEST(Extending, FilesNamedInTheTextExist) {
  static const std::regex file(R"([a-z0-9_]+(/[a-z0-9_]+)*\.(cc|h|cpp|inc|py|bin|md)|[a-z0-9_]+(/[a-z0-9_]+)+/)");
  size_t count = 0;
  for (const std::string& word : in_backticks(read(kRoot / "docs/extending.md"))) {
    if (!std::regex_match(word, file)) continue;
    ++count;
    const bool is_short = word.find('/') == std::string::npos;  // of a file that a table names in full
    EXPECT_TRUE(is_short ? std::any_of(sources().begin(), sources().end(), [&](const auto& s) { return fs::path(s.first).filename() == word; })
                         : fs::exists(kRoot / word))
        << "there is no " << word;
  }
  EXPECT_GT(count, 40u);
}

TEST(Extending, TablesNameAllFilesThatMentionTheExample) {
  for (const char* thing : {"operator", "operator that is made of others", "kernel kind", "rewrite"}) {
    const Section section = sections()[thing];
    Files named;
    for (const Row& row : section.rows)
      if (row.always) named.insert(row.files.begin(), row.files.end());
    const Files found = files_that_mention(section.example);
    for (const std::string& file : found)
      EXPECT_TRUE(named.count(file)) << file << " mentions " << section.example << ": whoever adds a " << thing << " must know, or must not have to";
    for (const std::string& file : named) EXPECT_TRUE(found.count(file)) << file << " does not mention " << section.example << ", though the table says always";
  }
}

// Of a backend only what lies outside of its own folders and files; rewrites that know its texts are its own too.
TEST(Extending, TheTableOfABackendNamesAllThatKnowIt) {
  const Section section = sections()["backend"];
  const auto is_asked = [&](const std::string& file) {
    const bool own = file.find(section.example) != std::string::npos || file.starts_with("playbook/tier");
    return !own && !file.starts_with("tests/") && !file.starts_with("bench/");
  };
  Files named, found;
  for (const Row& row : section.rows)
    if (row.always) std::copy_if(row.files.begin(), row.files.end(), std::inserter(named, named.end()), is_asked);
  for (const auto& [file, text] : sources())
    if (is_asked(file) && (text.find("cuda") != std::string::npos || text.find("Cuda") != std::string::npos)) found.insert(file);
  EXPECT_EQ(found, named);
}

}  // namespace

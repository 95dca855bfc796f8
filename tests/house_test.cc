// The shape of the house: which folder may know which. The table is the rule; docs/architecture.md draws it.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <regex>
#include <set>
#include <string>

#include "tests/house_files.h"

namespace fs = std::filesystem;

namespace {

using Folders = std::set<std::string>;

// What a folder's files may include beside their own folder's. `base` is for all. A folder that is not here may not exist.
const std::map<std::string, Folders> kMayInclude{
    {"base", {}},
    {"base/cuda", {"base"}},
    {"graph", {}},
    {"graph/ops", {"graph"}},
    {"graph/clean_up", {"graph"}},
    {"graph/onnx", {"graph", "graph/clean_up"}},
    {"graph/models", {"graph", "graph/clean_up", "graph/onnx"}},
    {"starter_kernels/examples", {"graph"}},
    {"starter_kernels/kinds", {"graph", "graph/ops", "starter_kernels/examples"}},
    {"starter_kernels/text", {"starter_kernels/kinds"}},
    {"starter_kernels/cpu/kernels", {}},
    {"starter_kernels/cpu", {"graph", "starter_kernels/kinds", "starter_kernels/text"}},
    {"starter_kernels/cuda/kernels", {}},
    {"starter_kernels/cuda", {"starter_kernels/kinds", "starter_kernels/text"}},
    {"starter_kernels/toolchain", {"base/cuda", "starter_kernels/cpu", "starter_kernels/kinds"}},
    {"plan", {"base/cuda", "graph", "graph/models", "graph/onnx", "starter_kernels/kinds"}},
    {"profiler", {"base/cuda", "plan"}},
    {"playbook", {"plan", "starter_kernels/cpu", "starter_kernels/kinds"}},
    {"playbook/tiers", {"playbook", "starter_kernels/cpu", "starter_kernels/kinds"}},
    {"experiments", {"graph", "graph/models", "plan", "starter_kernels/kinds"}},
    {"tuner/worker", {"base/cuda", "plan", "starter_kernels/kinds"}},
    {"tuner/validation", {"experiments", "graph", "plan", "starter_kernels/kinds", "tuner/worker"}},
    {"tuner/measurement", {"experiments", "plan", "profiler", "starter_kernels/kinds", "tuner/validation", "tuner/worker"}},
    {"tuner/trials",
     {"base/cuda", "experiments", "graph", "graph/ops", "plan", "profiler", "starter_kernels/cpu", "starter_kernels/cuda", "starter_kernels/examples",
      "starter_kernels/toolchain", "tuner/measurement", "tuner/validation", "tuner/worker"}},
    {"tuner/search", {"experiments", "graph", "graph/models", "plan", "playbook", "profiler", "tuner/measurement", "tuner/trials"}},
    {"export/kernel_templates", {}},
    {"export",
     {"base/cuda", "export/kernel_templates", "graph", "graph/models", "graph/onnx", "plan", "starter_kernels/cpu", "starter_kernels/kinds",
      "starter_kernels/toolchain"}},
    {"export/compiled_templates", {}},
    {"export/plan_library", {"export/compiled_templates", "export/kernel_templates", "plan", "starter_kernels/kinds"}},
    {"cli/peers", {"experiments", "graph/onnx", "tuner/measurement"}},
    {"cli",
     {"base/cuda", "cli/peers", "experiments", "export", "graph", "graph/models", "graph/onnx", "plan", "playbook", "profiler", "starter_kernels/toolchain",
      "tuner/measurement", "tuner/search", "tuner/trials", "tuner/worker"}},
};

// Folders with the same rule have one row.
std::string row_of(const std::string& folder) { return std::regex_replace(folder, std::regex("playbook/tier.*"), "playbook/tiers"); }

bool is_code(const fs::path& file) { return std::set<std::string>{".h", ".hpp", ".cc", ".cpp", ".cu", ".inc"}.count(file.extension()) > 0; }

// Every `#include "folder/file"` of the house, or <folder/file>, as pairs of rows, with a file that has it.
std::map<std::pair<std::string, std::string>, std::string> edges() {
  const fs::path root = AMDAHL_SOURCE_DIR;
  const std::regex include(R"re(^\s*#\s*include\s*(["<])([a-z0-9_/]+)/[^/">]+[">])re");
  std::map<std::pair<std::string, std::string>, std::string> found;
  for (const auto& [row, _] : kMayInclude) {
    const std::string top = row.substr(0, row.find('/'));
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      if (!is_code(entry.path())) continue;
      const fs::path path = fs::relative(entry.path(), root);
      std::ifstream in(entry.path());
      std::smatch m;
      for (std::string line; std::getline(in, line);)
        if (std::regex_search(line, m, include) && (m[1] == "\"" || kMayInclude.count(row_of(m[2]))))  // <sys/…> is the system's
          found.emplace(std::pair(row_of(path.parent_path()), row_of(m[2])), path);
    }
  }
  return found;
}

TEST(House, NoFolderKnowsOneThatItMayNot) {
  const auto found = edges();
  EXPECT_GT(found.size(), 50u);
  for (const auto& [edge, file] : found) {
    const auto& [from, to] = edge;
    if (from == to || to == "base") continue;
    const auto row = kMayInclude.find(from);
    if (row == kMayInclude.end()) {
      ADD_FAILURE() << file << " lies in a folder without a row in this table";
      continue;
    }
    EXPECT_TRUE(row->second.count(to)) << file << " includes from " << to << ", which " << from << " may not";
  }
}

// By another way than its name from the root, an include would pass the table unseen.
TEST(House, FilesAreIncludedByTheirNameFromTheRoot) {
  // Up or to here, a name that a macro makes, another word for #include, a comment in it, or the rest of it on the next line.
  const std::regex odd(
      R"re(^\s*#\s*include\s*(["<]([^">]*/)?\.\.?/|["<][^">]*//|[A-Za-z_/\\])|^\s*#\s*(import|include_next)\b|^\s*(%:|\?\?=)|^\s*/\*.*\*/\s*#|^\s*#\s*(/\*.*\*/.*)?\\?$)re");
  for (const auto& [row, _] : kMayInclude)
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(AMDAHL_SOURCE_DIR) / row.substr(0, row.find('/')))) {
      if (!is_code(entry.path())) continue;
      std::ifstream in(entry.path());
      for (std::string line; std::getline(in, line);) EXPECT_FALSE(std::regex_search(line, odd)) << entry.path() << ": " << line;
    }
}

TEST(House, EveryFolderOfCodeHasARow) {
  const fs::path root = AMDAHL_SOURCE_DIR;
  for (const auto& top : fs::directory_iterator(root)) {
    const std::string name = top.path().filename();
    if (!top.is_directory() || name[0] == '.' || std::set<std::string>{"bench", "build", "cmake", "tests"}.count(name) ||
        fs::exists(top.path() / "CMakeCache.txt"))
      continue;
    for (const auto& entry : fs::recursive_directory_iterator(top)) {
      const std::string folder = row_of(fs::relative(entry.path().parent_path(), root));
      if (is_code(entry.path())) {
        EXPECT_TRUE(kMayInclude.count(folder)) << entry.path() << " lies in a folder without a row in this table";
      }
    }
  }
}

TEST(House, EveryRowIsNeeded) {
  const auto found = edges();
  for (const auto& [from, may] : kMayInclude) {
    EXPECT_TRUE(fs::exists(fs::path(AMDAHL_SOURCE_DIR) / (from == "playbook/tiers" ? "playbook" : from))) << from;
    for (const std::string& to : may) EXPECT_TRUE(found.count({from, to})) << from << " does not include from " << to << " any more: take it out of the table";
  }
}

TEST(House, NoFolderKnowsItselfThroughOthers) {
  std::map<std::string, int> state;  // 1: on the way, 2: done
  const std::function<void(const std::string&)> visit = [&](const std::string& folder) {
    state[folder] = 1;
    for (const std::string& next : kMayInclude.count(folder) ? kMayInclude.at(folder) : Folders{}) {
      EXPECT_NE(state[next], 1) << folder << " and " << next << " know one another";
      if (state[next] == 0) visit(next);
    }
    state[folder] = 2;
  };
  for (const auto& [folder, _] : kMayInclude)
    if (state[folder] == 0) visit(folder);
}

// Who hands on a problem's parameters as they are stored, all of them. Others read and write them as structs, with the kind's own functions.
const std::map<std::string, std::string> kHandOnParameters{
    {"export/plan_json.cc", "prints them"},
    {"playbook/tuned_donor.cc", "asks whether two problems have the same"},
};

// The lines of the files outside of the kinds, by file, that name the stored parameters, or one of them by its key.
std::map<std::string, std::string> lines_with_parameters(const std::regex& what) {
  std::map<std::string, std::string> found;
  for (const fs::path& path : amdahl::testing::house_files({".cc", ".h"})) {
    const std::string file = fs::relative(path, AMDAHL_SOURCE_DIR);
    if (file.starts_with("starter_kernels/kinds/")) continue;
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);)
      if (std::regex_search(line, what)) found.emplace(file, line);
  }
  return found;
}

TEST(House, OnlyKindsNameTheKeysOfParameters) {
  const auto named = lines_with_parameters(std::regex(R"((\.|->)params\b)"));
  for (const auto& [file, line] : named)
    EXPECT_TRUE(kHandOnParameters.count(file)) << file << " reads parameters as they are stored, not as the struct of their kind:\n" << line;
  for (const auto& [file, why] : kHandOnParameters) EXPECT_TRUE(named.count(file)) << file << " no longer " << why << ": take it out of the table";
  const std::regex by_key(R"(\bparams(\[|(\.|->)(at|value|contains|find|count|erase|emplace|insert|items|update)\())");
  for (const auto& [file, line] : lines_with_parameters(by_key)) ADD_FAILURE() << file << " names a key of the parameters:\n" << line;
}

}  // namespace

// The shape of the house: folders form a chain, and no file includes one of a later folder.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace {

const std::vector<std::string> kChain{"base",     "graph",       "starter_kernels", "plan",   "profiler",
                                      "playbook", "experiments", "tuner",           "export", "cli"};

int position(const std::string& folder) {
  const auto it = std::find(kChain.begin(), kChain.end(), folder);
  return it == kChain.end() ? -1 : static_cast<int>(it - kChain.begin());
}

TEST(House, NoBackwardInclude) {
  const fs::path root = AMDAHL_SOURCE_DIR;
  const std::regex include(R"re(^\s*#include "([a-z_]+)/)re");
  int files = 0, includes = 0;
  for (const std::string& folder : kChain) {
    ASSERT_TRUE(fs::exists(root / folder)) << folder;
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const std::string ext = entry.path().extension();
      if (ext != ".h" && ext != ".cc") continue;
      ++files;
      std::ifstream in(entry.path());
      std::smatch m;
      for (std::string line; std::getline(in, line);) {
        if (!std::regex_search(line, m, include)) continue;
        const int target = position(m[1]);
        if (target < 0) continue;
        ++includes;
        EXPECT_LE(target, position(folder)) << entry.path() << " includes a later folder: " << line;
      }
    }
  }
  EXPECT_GT(files, 10);
  EXPECT_GT(includes, 10);
}

}  // namespace

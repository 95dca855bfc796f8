// Every file of C++ is as clang-format writes it (.clang-format). Texts of kernels and hostile cases are laid out by hand: their folders say so.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/subprocess.h"

namespace fs = std::filesystem;

namespace {

std::vector<std::string> sources() {
  std::vector<std::string> files;
  for (const char* top : {"base", "graph", "starter_kernels", "plan", "profiler", "playbook", "experiments", "tuner", "export", "cli", "tests", "bench"})
    for (auto it = fs::recursive_directory_iterator(fs::path(AMDAHL_SOURCE_DIR) / top); it != fs::recursive_directory_iterator(); ++it) {
      const fs::path& path = it->path();
      if (path.filename().string().starts_with('.')) it.disable_recursion_pending();  // a bench's own environment
      if (path.extension() == ".cc" || path.extension() == ".h") files.push_back(path);
    }
  return files;
}

TEST(Format, IsClangFormats) {
  std::vector<std::string> command{"clang-format", "--dry-run", "-Werror"};
  if (amdahl::run_subprocess({"clang-format", "--version"}).output.find("version 14.") == std::string::npos)
    GTEST_SKIP() << "clang-format 14 is not installed: others write some lines another way";
  const std::vector<std::string> files = sources();
  ASSERT_GT(files.size(), 500u);
  command.insert(command.end(), files.begin(), files.end());
  const amdahl::SubprocessResult r = amdahl::run_subprocess(command, {120});
  EXPECT_EQ(r.exit_code, 0) << "clang-format -i on these:\n" << r.output.substr(0, 4000);
}

}  // namespace

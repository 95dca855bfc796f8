// Every file of C++ is as clang-format writes it (.clang-format). Texts of kernels and hostile cases are laid out by hand: their folders say so.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/subprocess.h"
#include "tests/house_files.h"

namespace {

TEST(Format, IsClangFormats) {
  std::vector<std::string> command{"clang-format", "--dry-run", "-Werror"};
  if (amdahl::run_subprocess({"clang-format", "--version"}).output.find("version 14.") == std::string::npos)
    GTEST_SKIP() << "clang-format 14 is not installed: others write some lines another way";
  const std::vector<std::filesystem::path> files = amdahl::testing::house_files({".cc", ".h"});
  ASSERT_GT(files.size(), 500u);
  command.insert(command.end(), files.begin(), files.end());
  const amdahl::SubprocessResult r = amdahl::run_subprocess(command, {120});
  EXPECT_EQ(r.exit_code, 0) << "clang-format -i on these:\n" << r.output.substr(0, 4000);
}

}  // namespace

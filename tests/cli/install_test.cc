// What `cmake --install` puts under a prefix runs from there, in an empty environment, and knows nothing of where it was built.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/subprocess.h"
#include "experiments/session.h"

namespace amdahl {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class Install : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    dir_ = fs::temp_directory_path() / ("amdahl-install-" + std::to_string(getpid()));
    fs::create_directories(dir_);
    const SubprocessResult r = run_subprocess({"cmake", "--install", build(), "--prefix", prefix()}, {120});
    ASSERT_EQ(r.exit_code, 0) << r.output;
  }
  static void TearDownTestSuite() { fs::remove_all(dir_); }

  static fs::path build() { return fs::read_symlink("/proc/self/exe").parent_path().parent_path(); }
  static fs::path prefix() { return dir_ / "prefix"; }
  static fs::path file(const char* name) { return dir_ / name; }

  // No PATH, no HOME, and a folder that is nobody's.
  static SubprocessResult installed(std::vector<std::string> arguments, double seconds = 60) {
    std::vector<std::string> all{"env", "-i", "-C", dir_, prefix() / "bin/amdahl"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    all.insert(all.end(), {"--cache", file("cache")});
    return run_subprocess(all, {seconds});
  }

  inline static fs::path dir_;
};

TEST_F(Install, PutsEverythingInItsPlace) {
  for (const char* name : {"bin/amdahl", "libexec/amdahl/amdahl-worker", "libexec/amdahl/amdahl-nvrtc", "share/man/man1/amdahl.1.gz",
                           "share/bash-completion/completions/amdahl", "share/zsh/vendor-completions/_amdahl", "share/doc/amdahl/README.md"})
    EXPECT_GT(fs::file_size(prefix() / name), 1000u) << name;
  EXPECT_GT(fs::file_size(prefix() / "share/doc/amdahl/copyright"), 500u);
  EXPECT_FALSE(fs::exists(prefix() / "bin/amdahl-manual")) << "belongs to the build";
}

TEST_F(Install, ProgramsDoNotKnowWhereTheyWereBuilt) {
  for (const char* name : {"bin/amdahl", "libexec/amdahl/amdahl-worker", "libexec/amdahl/amdahl-nvrtc"}) {
    const std::string program = read_file(prefix() / name);
    ASSERT_FALSE(program.empty());
    EXPECT_EQ(program.find(build().string()), std::string::npos) << name;
    EXPECT_EQ(program.find(AMDAHL_SOURCE_DIR), std::string::npos) << name;
  }
}

TEST_F(Install, TunesAndReportsFromThere) {
  const SubprocessResult models = installed({"models"});
  EXPECT_EQ(models.exit_code, 0) << models.output;
  EXPECT_NE(models.output.find("gpt2-mini"), std::string::npos);

  const SubprocessResult tune =
      installed({"tune", "builtin:mobilenet-mini", "--experiments", "3", "--session", file("s.amdahl"), "--html", file("live.html")}, 400);
  ASSERT_EQ(tune.exit_code, 0) << tune.output;
  EXPECT_EQ(Session::open(file("s.amdahl"), Session::Access::kRead)->experiments().size(), 3u);
  const std::string page = read_file(file("live.html"));
  EXPECT_NE(page.find("const vega"), std::string::npos);
  EXPECT_NE(page.find("mobilenet-mini"), std::string::npos);
  EXPECT_NE(page.find("<body>"), std::string::npos) << "the last page stands still";

  fs::rename(prefix() / "libexec", prefix() / "elsewhere");
  const SubprocessResult lost = installed({"verify", file("s.amdahl"), "--quiet"});
  fs::rename(prefix() / "elsewhere", prefix() / "libexec");
  EXPECT_EQ(lost.exit_code, 11) << lost.output;
  EXPECT_NE(lost.output.find("amdahl-worker is missing"), std::string::npos) << lost.output;
}

TEST_F(Install, AnExportFromThereBuildsAndTestsItself) {
  ASSERT_TRUE(fs::exists(file("s.amdahl"))) << "made by the test before";
  const SubprocessResult exported = installed({"export", file("s.amdahl"), "-o", file("export"), "--quiet"});
  ASSERT_EQ(exported.exit_code, 0) << exported.output;
  const SubprocessResult r = run_subprocess(
      {"sh", "-c", "cd '" + file("export").string() + "' && cmake -S . -B build >/dev/null && cmake --build build -j2 >/dev/null && ./build/selftest ."},
      {300});
  EXPECT_EQ(r.exit_code, 0) << r.output;
}

}  // namespace
}  // namespace amdahl

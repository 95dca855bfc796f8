// Each case restricts a child and asks it what it can still do.

#include "base/landlock.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

namespace amdahl {
namespace {

namespace fs = std::filesystem;

class Landlock : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const FolderRestriction probe({}); !probe.why_not().empty()) GTEST_SKIP() << probe.why_not();
    dir_ = fs::temp_directory_path() / ("amdahl-landlock-" + std::to_string(getpid()));
    for (const char* folder : {"open", "closed"}) {
      fs::create_directories(dir_ / folder);
      std::ofstream(dir_ / folder / "file") << "text";
    }
  }
  void TearDown() override {
    if (!dir_.empty()) fs::remove_all(dir_);
  }

  // What `deed` answers in a child that lives under the rules.
  static bool can(const FolderRules& rules, const std::function<bool()>& deed) {
    const FolderRestriction restriction(rules);
    EXPECT_EQ(restriction.why_not(), "");
    const pid_t pid = fork();
    if (pid == 0) _exit(restriction.apply() ? deed() : 2);
    int status = 0;
    waitpid(pid, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) < 2) << status;
    return WEXITSTATUS(status) == 1;
  }
  std::function<bool()> opens(const char* name, int flags) const {
    return [path = dir_ / name, flags] { return open(path.c_str(), flags, 0600) >= 0; };
  }

  fs::path dir_;
};

TEST_F(Landlock, ReadsOnlyWhatItMayRead) {
  const FolderRules rules{.read = {dir_ / "open"}};
  EXPECT_TRUE(can(rules, opens("open/file", O_RDONLY)));
  EXPECT_TRUE(can(rules, opens("open", O_RDONLY | O_DIRECTORY)));
  EXPECT_FALSE(can(rules, opens("closed/file", O_RDONLY)));
  EXPECT_FALSE(can(rules, opens("open/../closed/file", O_RDONLY)));
  EXPECT_FALSE(can(rules, opens("closed", O_RDONLY | O_DIRECTORY)));
}

TEST_F(Landlock, LinksDoNotLeadOut) {
  fs::create_symlink(dir_ / "closed" / "file", dir_ / "open" / "link");
  EXPECT_FALSE(can({.read = {dir_ / "open"}}, opens("open/link", O_RDONLY)));
}

TEST_F(Landlock, ReadingIsNotWriting) {
  const FolderRules rules{.read = {dir_ / "open"}};
  EXPECT_FALSE(can(rules, opens("open/file", O_WRONLY)));
  EXPECT_FALSE(can(rules, opens("open/new", O_WRONLY | O_CREAT)));
  EXPECT_FALSE(can(rules, [&] { return unlink((dir_ / "open" / "file").c_str()) == 0; }));
}

TEST_F(Landlock, WritesOnlyWhereItMayWrite) {
  const FolderRules rules{.write = {dir_ / "open"}};
  EXPECT_TRUE(can(rules, opens("open/file", O_RDWR | O_TRUNC)));
  EXPECT_TRUE(can(rules, opens("open/new", O_WRONLY | O_CREAT)));
  EXPECT_TRUE(can(rules, [&] { return mkdir((dir_ / "open" / "folder").c_str(), 0700) == 0; }));
  EXPECT_FALSE(can(rules, opens("closed/file", O_WRONLY)));
  EXPECT_FALSE(can(rules, opens("closed/new", O_WRONLY | O_CREAT)));
  EXPECT_FALSE(can(rules, [&] { return rename((dir_ / "open" / "file").c_str(), (dir_ / "closed" / "moved").c_str()) == 0; }));
  EXPECT_FALSE(can(rules, [&] { return link((dir_ / "closed" / "file").c_str(), (dir_ / "open" / "linked").c_str()) == 0; }));
}

TEST_F(Landlock, ASingleFileMayBeNamed) {
  const FolderRules rules{.read = {dir_ / "closed" / "file"}, .write = {"/dev/null"}};
  EXPECT_TRUE(can(rules, opens("closed/file", O_RDONLY)));
  EXPECT_TRUE(can(rules, [] { return open("/dev/null", O_WRONLY) >= 0; }));
  EXPECT_FALSE(can(rules, opens("open/file", O_RDONLY)));
}

TEST_F(Landlock, RunsOnlyWhatItMayRun) {
  fs::copy_file("/bin/true", dir_ / "open" / "true");
  const auto runs = [](std::string program) {
    return [program] {
      const pid_t pid = fork();
      if (pid == 0) {
        execl(program.c_str(), program.c_str(), nullptr);
        _exit(126);
      }
      int status = 0;
      waitpid(pid, &status, 0);
      return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    };
  };
  const FolderRules rules{.read = {"/etc"}, .write = {dir_ / "open"}, .execute = {"/usr", "/bin", "/lib", "/lib64"}};
  EXPECT_TRUE(can(rules, runs("/bin/true")));
  EXPECT_FALSE(can(rules, runs(dir_ / "open" / "true"))) << "what it wrote itself";
}

TEST_F(Landlock, WhatIsNotThereIsLeftOut) { EXPECT_TRUE(can({.read = {"/no/such/folder", dir_ / "open"}}, opens("open/file", O_RDONLY))); }

TEST_F(Landlock, OpenDescriptorsStay) {
  const int fd = open((dir_ / "closed" / "file").c_str(), O_RDONLY);
  ASSERT_GE(fd, 0);
  char c = 0;
  EXPECT_TRUE(can({}, [&] { return read(fd, &c, 1) == 1; }));
  close(fd);
}

TEST_F(Landlock, RestrictsTheProcessItself) {
  const pid_t pid = fork();
  if (pid == 0) {
    if (!restrict_folders({.read = {dir_ / "open"}}).empty()) _exit(2);
    _exit(opens("open/file", O_RDONLY)() && !opens("closed/file", O_RDONLY)() ? 0 : 1);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

}  // namespace
}  // namespace amdahl

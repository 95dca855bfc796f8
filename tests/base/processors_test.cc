#include "base/processors.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace amdahl {
namespace {

namespace fs = std::filesystem;

// A made-up /sys/fs/cgroup.
class Quota : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("amdahl-cgroup-" + std::to_string(getpid()));
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }
  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  double of(const std::string& groups) const {
    write("own", groups);
    return cpu_quota(root_ / "own", root_);
  }
  fs::path root_;
};

TEST_F(Quota, IsNoneWhereNoneIsSet) {
  EXPECT_EQ(of("0::/\n"), 0);
  write("cpu.max", "max 100000\n");
  EXPECT_EQ(of("0::/\n"), 0);
  EXPECT_EQ(of(""), 0);
  EXPECT_EQ(of("nonsense\n"), 0);
  EXPECT_EQ(cpu_quota("/no/such/file", root_), 0);
}

TEST_F(Quota, OfTheGroupOrOneAboveIt) {
  write("a/b/c/cpu.max", "max 100000\n");
  write("a/b/cpu.max", "150000 100000\n");
  write("a/cpu.max", "400000 100000\n");
  EXPECT_EQ(of("0::/a/b/c\n"), 1.5);
  EXPECT_EQ(of("0::/a\n"), 4);
  EXPECT_EQ(of("0::/elsewhere\n"), 0);
  write("cpu.max", "50000 100000\n");  // as a container sees its own
  EXPECT_EQ(of("0::/\n"), 0.5);
  EXPECT_EQ(of("0::/a/b/c\n"), 0.5);
}

TEST_F(Quota, OfTheFirstVersionToo) {
  write("cpu,cpuacct/x/cpu.cfs_quota_us", "-1\n");
  write("cpu,cpuacct/x/cpu.cfs_period_us", "100000\n");
  const std::string groups = "5:memory:/x\n4:cpu,cpuacct:/x\n3:cpuset:/x\n";
  EXPECT_EQ(of(groups), 0);
  write("cpu,cpuacct/x/cpu.cfs_quota_us", "200000\n");
  EXPECT_EQ(of(groups), 2);
}

TEST(ProcessorsText, NamesThemAndTheirShare) {
  EXPECT_EQ((Processors{4, "0-3", 0}.text()), "0-3");
  EXPECT_EQ((Processors{4, "0-3", 0}.usable()), 4);
  EXPECT_EQ((Processors{4, "0-3", 1.5}.text()), "0-3, 1.50 of their time");
  EXPECT_EQ((Processors{4, "0-3", 1.5}.usable()), 2);
  EXPECT_EQ((Processors{4, "0-3", 0.2}.usable()), 1);
}

// In a process of its own, since what is found is kept.
TEST(ProcessorsText, FollowsTheAffinity) {
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  int first = 0;
  while (!CPU_ISSET(first, &all)) ++first;
  const pid_t pid = fork();
  if (pid == 0) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0) _exit(2);
    _exit(processors().count == 1 && processors().list == std::to_string(first) ? 0 : 1);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace amdahl

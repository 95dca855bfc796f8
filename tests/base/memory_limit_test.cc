#include "base/memory_limit.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace amdahl {
namespace {

namespace fs = std::filesystem;

class CgroupMemoryLimit : public ::testing::Test {
 protected:
  CgroupMemoryLimit() : root_(fs::temp_directory_path() / ("amdahl-cgroup-" + std::to_string(getpid()))) { fs::create_directories(root_); }
  ~CgroupMemoryLimit() override { fs::remove_all(root_); }
  void write(const std::string& file, const std::string& text) const {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text << "\n";
  }
  const fs::path root_;
};

TEST_F(CgroupMemoryLimit, IsTheSmallestOfAGroupAndThoseAboveIt) {
  write("a/b/memory.max", "max");
  EXPECT_EQ(cgroup_memory_limit("0::/a/b\n", root_), INT64_MAX);
  write("a/memory.max", "1000000");
  write("a/other/memory.max", "1");
  EXPECT_EQ(cgroup_memory_limit("0::/a/b\n", root_), 1000000);
  write("a/b/memory.max", "2000");
  EXPECT_EQ(cgroup_memory_limit("0::/a/b\n", root_), 2000);
}

TEST_F(CgroupMemoryLimit, IsTheRootsWhereTheGroupIsTheHosts) {
  write("memory.max", "3000");
  EXPECT_EQ(cgroup_memory_limit("0::/system.slice/docker-0123.scope\n", root_), 3000);
}

TEST_F(CgroupMemoryLimit, OfVersionOne) {
  write("memory/job/memory.limit_in_bytes", "4000");
  write("memory/memory.limit_in_bytes", "9223372036854771712");
  EXPECT_EQ(cgroup_memory_limit("9:cpuset:/\n4:memory:/job\n1:name=systemd:/job\n", root_), 4000);
  EXPECT_EQ(cgroup_memory_limit("4:memory:/\n", root_), 9223372036854771712);
}

TEST_F(CgroupMemoryLimit, OfNothingIsNone) {
  EXPECT_EQ(cgroup_memory_limit("", root_), INT64_MAX);
  EXPECT_EQ(cgroup_memory_limit("no colons\n0::/x\n", root_), INT64_MAX);
}

TEST(UsableMemory, IsWithinTheMachines) {
  EXPECT_GT(usable_memory_bytes(), 0);
  EXPECT_LE(usable_memory_bytes(), static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE));
}

}  // namespace
}  // namespace amdahl

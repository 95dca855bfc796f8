#include "cli/bound_spinning.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/subprocess.h"

namespace amdahl {
namespace {

std::string stat_with(int running) { return "cpu 1 2 3\nprocesses 99\nprocs_running " + std::to_string(running) + "\nprocs_blocked 0\n"; }

TEST(SpinCount, IsShortWhereOthersRun) {
  EXPECT_EQ(spin_count(stat_with(1), 2), 20000) << "nobody but us";
  EXPECT_EQ(spin_count(stat_with(2), 2), 1000);
  EXPECT_EQ(spin_count(stat_with(4), 64), 20000) << "three of 64 are no crowd";
  EXPECT_EQ(spin_count(stat_with(40), 64), 1000);
  EXPECT_EQ(spin_count("", 2), 20000);
}

// What the OpenMP library of the program itself has read.
std::string openmp_of_the_program(std::vector<std::string> environment) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "amdahl";
  environment.push_back("OMP_DISPLAY_ENV=verbose");
  return run_subprocess({program, "models"}, {20}, {}, {.environment = environment}).output;
}

TEST(BoundSpinning, IsInPlaceWhenTheLibraryLooks) {
  const std::string text = openmp_of_the_program({});
  EXPECT_TRUE(text.find("GOMP_SPINCOUNT = '20000'") != std::string::npos || text.find("GOMP_SPINCOUNT = '1000'") != std::string::npos) << text;
}

TEST(BoundSpinning, LeavesWhatTheUserHasChosen) {
  EXPECT_NE(openmp_of_the_program({"GOMP_SPINCOUNT=77"}).find("GOMP_SPINCOUNT = '77'"), std::string::npos);
  EXPECT_NE(openmp_of_the_program({"OMP_WAIT_POLICY=passive"}).find("GOMP_SPINCOUNT = '0'"), std::string::npos);
}

}  // namespace
}  // namespace amdahl

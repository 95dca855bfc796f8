#include "base/process_limits.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>

#include "base/subprocess.h"

namespace amdahl {
namespace {

// Limits cannot be raised again: in a process of its own.
int in_child(const std::function<bool()>& holds) {
  const pid_t pid = fork();
  if (pid == 0) _exit(holds() ? 0 : 1);
  int status = 0;
  waitpid(pid, &status, 0);
  return status;
}

void limit(decltype(RLIMIT_AS) what, rlim_t soft, rlim_t hard) {
  const rlimit r{soft, hard};
  setrlimit(what, &r);
}

TEST(ProcessLimits, TakesAsManyOpenFilesAsItMay) {
  EXPECT_EQ(in_child([] {
              limit(RLIMIT_NOFILE, 50, 200);
              take_what_limits_allow();
              rlimit now{};
              return getrlimit(RLIMIT_NOFILE, &now) == 0 && now.rlim_cur == 200 && now.rlim_max == 200;
            }),
            0);
}

TEST(ProcessLimits, AFileThatMayNotGrowIsAnErrorOfTheWrite) {
  EXPECT_EQ(in_child([] {
              limit(RLIMIT_FSIZE, 10, 10);
              take_what_limits_allow();
              const int fd = open("/tmp", O_TMPFILE | O_RDWR, 0600);
              return fd < 0 || (write(fd, "0123456789", 10) == 10 && write(fd, "x", 1) < 0 && errno == EFBIG);
            }),
            0);
}

TEST(ProcessLimits, AProgramThatCannotBeStartedIsTheMachinesFault) {
  EXPECT_EQ(in_child([] {
              limit(RLIMIT_NOFILE, 5, 5);
              try {
                run_subprocess({"true"});
                return false;
              } catch (const Error& error) {
                const std::string text = error.what();
                return error.code() == ExitCode::kIo && text.find("Too many open files") != std::string::npos &&
                       text.find("which is 5: ulimit -n") != std::string::npos;
              }
            }),
            0);
  EXPECT_EQ(run_subprocess({"no-such-program-anywhere"}).exit_code, 127) << "which one that is not there is not";
}

TEST(ProcessLimits, ThreadsThatCanBeHadAreNoError) { EXPECT_NO_THROW(require_threads(8)); }

TEST(ProcessLimits, KnowsTheWordsOfARefusal) {
  EXPECT_TRUE(tells_of_refusal("g++: fatal error: cannot execute 'cc1plus': vfork: Resource temporarily unavailable"));
  EXPECT_TRUE(tells_of_refusal("as: kernel.s: Too many open files"));
  EXPECT_FALSE(tells_of_refusal("kernel.cpp:3: error: expected ';'"));
  EXPECT_TRUE(is_refusal(EMFILE));
  EXPECT_FALSE(is_refusal(ENOENT));
}

}  // namespace
}  // namespace amdahl

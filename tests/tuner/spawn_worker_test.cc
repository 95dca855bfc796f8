#include "tuner/worker/spawn_worker.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace amdahl {
namespace {

// What a shell that is spawned with these descriptors prints on its third.
std::string said_by(const std::string& script, int* how = nullptr) {
  int out[2];
  EXPECT_EQ(pipe2(out, O_CLOEXEC), 0);
  const pid_t pid = spawn_worker({{"/bin/sh", "-c", script}, {"WORD=here"}, {{out[1], 3}}});
  close(out[1]);
  std::string text;
  for (char c; read(out[0], &c, 1) == 1;) text += c;
  close(out[0]);
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  if (how) *how = status;
  return text;
}

TEST(SpawnWorker, RunsTheProgramWithItsDescriptorsAndEnvironment) { EXPECT_EQ(said_by("echo $WORD >&3"), "here\n"); }

TEST(SpawnWorker, TellsHowItEnded) {
  int how = 0;
  said_by("exit 7", &how);
  ASSERT_TRUE(WIFEXITED(how));
  EXPECT_EQ(WEXITSTATUS(how), 7);
}

TEST(SpawnWorker, HandsOnNothingElseThatIsOpen) {
  const int zero = open("/dev/zero", O_RDONLY), secret = fcntl(zero, F_DUPFD, 7);  // without O_CLOEXEC
  ASSERT_GE(secret, 7);
  EXPECT_EQ(said_by("(exec <&" + std::to_string(secret) + ") 2>/dev/null && echo open >&3; echo done >&3"), "done\n");
  close(zero), close(secret);
}

TEST(SpawnWorker, AProgramThatIsNotThereIsAnError) {
  EXPECT_EQ(spawn_worker({{"/nowhere/to/be/found"}, {}, {}}), -1);
  EXPECT_EQ(errno, ENOENT);
}

TEST(SpawnWorker, HasNumbersOfItsOwnWhereTheKernelAllowsIt) {
  if (pid_wall() == PidWall::kNone) GTEST_SKIP() << "this kernel gives this user no PID namespace";
  EXPECT_EQ(said_by("echo $$ >&3"), "1\n");
}

TEST(SpawnWorker, IsAGroupOfItsOwn) {
  const pid_t pid = spawn_worker({{"/bin/sleep", "60"}, {}, {}});
  ASSERT_GT(pid, 0);
  EXPECT_EQ(getpgid(pid), pid);
  EXPECT_EQ(kill(-pid, SIGKILL), 0);
  int how = 0;
  EXPECT_EQ(waitpid(pid, &how, 0), pid);
  EXPECT_TRUE(WIFSIGNALED(how));
}

}  // namespace
}  // namespace amdahl

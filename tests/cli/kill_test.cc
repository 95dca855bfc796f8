// `kill -9` at random moments of one session, through the real program: resumed each time, nothing that was finished is
// lost, changed or tried again, the database is intact, and no process is left behind.
//
//   AMDAHL_KILLS=50 cli_test --gtest_filter='Kill*'      (8 without it)

#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <thread>

#include "base/error.h"
#include "base/random.h"
#include "base/subprocess.h"
#include "experiments/session.h"
#include "experiments/sqlite.h"

extern char** environ;

namespace amdahl {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class Kill : public ::testing::Test {
 protected:
  void SetUp() override {
    dir_ = fs::temp_directory_path() / ("amdahl-kill-" + std::to_string(getpid()));
    fs::create_directories(dir_);
    session_ = dir_ / "session.amdahl";
    // What a killed program leaves behind becomes our child, so it can be waited for.
    ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  }
  void TearDown() override { fs::remove_all(dir_); }

  std::vector<std::string> tune_or_resume() const {
    std::vector<std::string> a{program()};
    if (fs::exists(session_)) a.insert(a.end(), {"resume", session_});
    else a.insert(a.end(), {"tune", "builtin:gpt2-mini", "--session", session_});
    a.insert(a.end(), {"--cache", dir_ / "cache", "--quiet"});
    return a;
  }
  static std::string program() { return fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "amdahl"; }

  // Starts the program, sends it the signal (it alone: not its workers, not its compilers) and waits until all of them are
  // gone. `status` as of waitpid().
  void run_and_signal(int signal, std::chrono::milliseconds after, int* status) {
    std::vector<std::string> arguments = tune_or_resume();
    std::vector<char*> argv;
    for (std::string& a : arguments) argv.push_back(a.data());
    argv.push_back(nullptr);
    pid_t pid = 0;
    ASSERT_EQ(posix_spawn(&pid, argv[0], nullptr, nullptr, argv.data(), environ), 0);
    std::this_thread::sleep_for(after);
    ASSERT_EQ(waitpid(pid, status, WNOHANG), 0) << "ended by itself with status " << *status;
    kill(pid, signal);
    waitpid(pid, status, 0);
    int other = 0;
    const auto deadline = std::chrono::steady_clock::now() + 20s;
    pid_t left = 0;
    while ((left = waitpid(-1, &other, WNOHANG)) >= 0) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "a process outlives the program";
      if (left == 0) std::this_thread::sleep_for(20ms);
    }
  }

  // A first run measures this machine's ceilings, which later runs find in the cache: they come to their experiments at once.
  void begin() {
    std::vector<std::string> first = tune_or_resume();
    first.insert(first.end(), {"--experiments", "2"});
    const SubprocessResult start = run_subprocess(first, {300});
    ASSERT_EQ(start.exit_code, 0) << start.output;
  }

  // Of the session as it lies there. Experiment number -> what it tried.
  std::map<int64_t, std::string> inspect() {
    std::map<int64_t, std::string> found;
    {
      Database database(session_, SQLITE_OPEN_READWRITE);
      EXPECT_EQ(database.text("PRAGMA integrity_check"), "ok");
    }
    const auto session = Session::open(session_, Session::Access::kRead);
    std::map<std::string, int> times;
    for (const Experiment& e : session->experiments()) {
      EXPECT_EQ(e.id, static_cast<int64_t>(found.size()) + 1);
      EXPECT_FALSE(e.reason.empty());
      found[e.id] = e.signature + e.candidate;
      // A candidate that was rolled back with another may come again.
      if (e.stage == "gate") continue;
      EXPECT_EQ(++times[found[e.id]], 1) << "experiment " << e.id << " was done before";
    }
    return found;
  }

  fs::path dir_, session_;
};

TEST_F(Kill, AtRandomMomentsOfOneSession) {
  const char* asked = std::getenv("AMDAHL_KILLS");
  const int kills = asked ? std::atoi(asked) : 8;
  Random random(static_cast<uint64_t>(getpid()));
  begin();
  std::map<int64_t, std::string> finished = inspect();
  const size_t before = finished.size();
  for (int k = 0; k < kills; ++k) {
    int status = 0;
    run_and_signal(SIGKILL, std::chrono::milliseconds(50 + random.below(4000)), &status);
    ASSERT_FALSE(HasFatalFailure());
    const std::map<int64_t, std::string> now = inspect();
    for (const auto& [id, tried] : finished) {
      ASSERT_TRUE(now.count(id)) << "experiment " << id << " was lost by kill " << k;
      EXPECT_EQ(now.at(id), tried);
    }
    finished = now;
  }
  EXPECT_GT(finished.size(), before) << "no run came to an experiment";
  // And it goes on to a proper end.
  std::vector<std::string> arguments = tune_or_resume();
  arguments.insert(arguments.end(), {"--experiments", std::to_string(finished.size() + 6)});
  const SubprocessResult end = run_subprocess(arguments, {300});
  EXPECT_EQ(end.exit_code, 0) << end.output;
  EXPECT_GE(inspect().size(), finished.size() + 6);
  RecordProperty("experiments", static_cast<int>(finished.size()));
  std::printf("fire: kill -9 of a session that tunes | %d | %d | %zu experiments finished between them, none lost or repeated\n", kills,
              HasFailure() ? 0 : kills, finished.size());
}

TEST_F(Kill, CtrlCEndsWithEverythingKept) {
  begin();
  std::map<int64_t, std::string> finished = inspect();
  for (const int milliseconds : {300, 1100, 1900, 2700}) {
    int status = 0;
    run_and_signal(SIGINT, std::chrono::milliseconds(milliseconds), &status);
    ASSERT_FALSE(HasFatalFailure());
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), static_cast<int>(ExitCode::kInterrupted));
    const std::map<int64_t, std::string> now = inspect();
    for (const auto& [id, tried] : finished) EXPECT_EQ(now.at(id), tried);
    finished = now;
  }
}

}  // namespace
}  // namespace amdahl

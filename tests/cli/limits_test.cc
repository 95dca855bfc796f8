// What the machine refuses (open files, threads, the size of files, code from a folder, processors) is told as that, with exit code 11, and is no
// candidate's fault; where it suffices, all goes on as ever.

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/subprocess.h"
#include "experiments/session.h"
#include "tests/graph/model_maker.h"
#include "tests/graph/temporary_folder.h"

namespace amdahl {
namespace {

namespace fs = std::filesystem;
using testing::ModelMaker;
using testing::TemporaryFolder;

std::string program() { return fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "amdahl"; }

class Limits : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    dir_ = new TemporaryFolder;
    ModelMaker m;
    m.input("x", {"64", "64"}).output("y");
    m.initializer("w", {64}, std::vector<float>(64, 2));
    m.node("Mul", {"x", "w"}, {"t"});
    m.node("Softmax", {"t"}, {"y"});
    dir_->write("m.onnx", m.bytes());
  }
  static void TearDownTestSuite() { delete dir_; }

  static std::string tune(const std::string& session) {
    return program() + " tune " + (*dir_ / "m.onnx") + " --session " + (*dir_ / session) + " --experiments 1 --no-wisdom --quiet --cache " + (*dir_ / "cache");
  }
  static SubprocessResult under(const std::string& limit, const std::string& command) {
    return run_subprocess({"bash", "-c", limit + "; exec " + command}, {200});
  }
  static void expect_refusal(const SubprocessResult& r, const std::vector<std::string>& words) {
    EXPECT_EQ(r.exit_code, static_cast<int>(ExitCode::kIo)) << r.output;
    EXPECT_EQ(r.output.rfind("amdahl: ", 0), 0u) << r.output;
    EXPECT_EQ(std::count(r.output.begin(), r.output.end(), '\n'), 1) << r.output;
    for (const std::string& word : words) EXPECT_NE(r.output.find(word), std::string::npos) << word << " in " << r.output;
  }
  // In a process of its own: 42 where it cannot be prepared.
  static int in_child(const std::function<int()>& deed) {
    const pid_t pid = fork();
    if (pid == 0) _exit(deed());
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
  }
  static bool blamed(const std::string& session) {
    const std::set<std::string> codes{"exited", "load-failed", "crashed", "killed", "memory-limit", "timeout"};
    for (const Experiment& e : Session::open(*dir_ / session, Session::Access::kRead)->experiments())
      if (codes.count(e.code)) return true;
    return false;
  }
  static inline TemporaryFolder* dir_ = nullptr;
};

// Whoever may have more takes it; 100 are enough.
TEST_F(Limits, FewOpenFilesBlameNoCandidate) {
  for (const char* limit : {"ulimit -S -n 30", "ulimit -n 100"}) {
    const std::string session = std::string("files") + limit[8] + ".amdahl";
    const SubprocessResult r = under(limit, tune(session));
    EXPECT_EQ(r.exit_code, 0) << limit << r.output;
    EXPECT_FALSE(blamed(session)) << limit;
  }
}

TEST_F(Limits, TooFewOpenFilesAreNamed) {
  for (const char* limit : {"ulimit -n 16", "ulimit -n 24", "ulimit -n 40", "ulimit -n 64"})
    expect_refusal(under(limit, tune(std::string("few") + limit[10] + ".amdahl")), {"ulimit -n"});
}

TEST_F(Limits, TooFewThreadsAreNamed) {
  if (geteuid() != 0 || !run_subprocess({"setpriv", "--version"}).ok())
    GTEST_SKIP() << "needs root and setpriv: root is not held to this limit, so another user is";
  const std::string nobody = "setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all ";
  fs::create_directories(*dir_ / "nobody");
  fs::permissions(dir_->str(), fs::perms::all);
  fs::permissions(*dir_ / "nobody", fs::perms::all);
  if (!run_subprocess({"bash", "-c", nobody + program() + " models >/dev/null"}).ok()) GTEST_SKIP() << "another user cannot reach the program";
  const std::string command = nobody + program() + " profile " + (*dir_ / "m.onnx") + " --quiet --threads 8 --cache " + (*dir_ / "nobody/cache");
  expect_refusal(under("ulimit -u 8", command), {"ulimit -u"});
}

TEST_F(Limits, FilesThatMayNotGrowAreNamed) { expect_refusal(under("ulimit -f 100", tune("small.amdahl")), {"102400 bytes", "ulimit -f"}); }

// A soft limit that is met in the middle of a write must not end the program without a word.
TEST_F(Limits, AnOutputThatMayNotGrowIsNamed) {
  const std::string model = *dir_ / "out.onnx";
  expect_refusal(under("ulimit -f 4", program() + " models gpt2-mini -o " + model + " --quiet"), {"out.onnx"});
}

TEST_F(Limits, ACacheThatNothingRunsFromIsNamed) {
  const std::string cache = *dir_ / "noexec", log = *dir_ / "noexec.log";
  fs::create_directories(cache);
  const int code = in_child([&] {
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return 42;
    if (mount("amdahl", cache.c_str(), "tmpfs", MS_NOEXEC, "size=32m") != 0) return 42;
    const SubprocessResult r = run_subprocess({program(), "profile", *dir_ / "m.onnx", "--quiet", "--cache", cache}, {120});
    std::ofstream(log) << r.output;
    return r.exit_code;
  });
  if (code == 42) GTEST_SKIP() << "cannot mount a file system here: needs root, or name spaces for all";
  SubprocessResult r;
  r.exit_code = code;
  std::ifstream in(log);
  r.output.assign(std::istreambuf_iterator<char>(in), {});
  expect_refusal(r, {"noexec", "XDG_CACHE_HOME", "--cache"});
}

// Measured on one processor, then asked for on all.
TEST_F(Limits, CeilingsBelongToTheProcessors) {
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  if (CPU_COUNT(&all) < 2) GTEST_SKIP() << "needs two processors";
  int first = 0;
  while (!CPU_ISSET(first, &all)) ++first;
  const auto threads_of = [&](bool one) {
    const std::string out = *dir_ / "profile.json";
    const int code = in_child([&] {
      cpu_set_t set;
      CPU_ZERO(&set);
      CPU_SET(first, &set);
      if (one && sched_setaffinity(0, sizeof set, &set) != 0) return 1;
      const SubprocessResult r =
          run_subprocess({"bash", "-c", program() + " profile " + (*dir_ / "m.onnx") + " --json --cache " + (*dir_ / "cache") + " > " + out}, {120});
      return r.exit_code;
    });
    EXPECT_EQ(code, 0);
    std::set<int> threads;
    const auto profile = nlohmann::json::parse(std::ifstream(out));
    for (const auto& row : profile.at("ceilings").at("arithmetic")) threads.insert(row.at("threads").get<int>());
    return threads;
  };
  EXPECT_EQ(threads_of(true), std::set<int>{1});
  EXPECT_EQ(threads_of(false), (std::set<int>{1, CPU_COUNT(&all)}));
  EXPECT_EQ(threads_of(true), std::set<int>{1});
}

}  // namespace
}  // namespace amdahl

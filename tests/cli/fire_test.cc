// One session of the real program under what a machine can do to it: workers and compilers killed, a compiler that goes away
// or hangs, memory and disks that run out, clocks that jump, a second tuner. What was finished before is there afterwards,
// unchanged, and the session goes on. kill_test.cc does the same for the program itself.
//
// AMDAHL_FIRE=10 multiplies the counts; each test prints a line for bench/trust/fire.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <thread>

#include "base/clock.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/random.h"
#include "base/subprocess.h"
#include "experiments/session.h"

namespace amdahl {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

int many(int n) {
  const char* times = std::getenv("AMDAHL_FIRE");
  return n * std::max(1, times ? std::atoi(times) : 1);
}

void tell(const std::string& fault, int tried, int survived, const std::string& how) {
  if (::testing::Test::HasFailure()) survived = std::min(survived, tried - 1);
  std::printf("fire: %s | %d | %d | %s\n", fault.c_str(), tried, survived, how.c_str());
}

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// Name and parent of every process.
struct Process {
  pid_t pid = 0, parent = 0;
  std::string name;
};
std::vector<Process> processes() {
  std::vector<Process> all;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string pid = entry.path().filename();
    if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string stat = read_file(entry.path() / "stat");
    const size_t open = stat.find('('), close = stat.rfind(')');
    if (close == std::string::npos) continue;
    Process p;
    p.pid = std::atoi(pid.c_str());
    p.name = stat.substr(open + 1, close - open - 1);
    p.parent = std::atoi(stat.c_str() + close + 4);
    all.push_back(std::move(p));
  }
  return all;
}
// Those of these names that `ancestor` started, or what it started did.
std::vector<Process> below(pid_t ancestor, const std::vector<std::string>& names) {
  const std::vector<Process> all = processes();
  std::map<pid_t, pid_t> parent;
  for (const Process& p : all) parent[p.pid] = p.parent;
  std::vector<Process> found;
  for (const Process& p : all) {
    if (std::find(names.begin(), names.end(), p.name) == names.end()) continue;
    pid_t up = p.pid;
    for (int depth = 0; depth < 8 && up > 1 && up != ancestor; ++depth) up = parent.count(up) ? parent[up] : 0;
    if (up == ancestor) found.push_back(p);
  }
  return found;
}

// The program while it runs; its output goes to a file.
struct Running {
  pid_t pid = -1;
  fs::path output;
};

class Fire : public ::testing::Test {
 protected:
  // One session that has begun, and a cache that holds its first kernels and this machine's ceilings.
  static void SetUpTestSuite() {
    base_ = fs::temp_directory_path() / ("amdahl-fire-" + std::to_string(getpid()));
    fs::create_directories(base_);
    const SubprocessResult r = run_subprocess(
        {program(), "tune", "builtin:gpt2-mini", "--session", base_ / "begun.amdahl", "--experiments", "2", "--cache", base_ / "cache", "--quiet"}, {300});
    ASSERT_EQ(r.exit_code, 0) << r.output;
  }
  static void TearDownTestSuite() { fs::remove_all(base_); }

  void SetUp() override {
    dir_ = base_ / ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::create_directories(dir_);
    session_ = dir_ / "s.amdahl";
    fs::copy_file(base_ / "begun.amdahl", session_);
    ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);  // what a program leaves behind becomes our child
    finished_ = inspect();
  }

  static std::string program() { return fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "amdahl"; }
  std::vector<std::string> resume(size_t experiments) const {
    return {program(), "resume", session_, "--experiments", std::to_string(experiments), "--cache", base_ / "cache", "--quiet"};
  }

  // `prepare` runs in the child before it becomes the program.
  Running start(
      const std::vector<std::string>& arguments, const std::function<void()>& prepare = [] {}) {
    Running r;
    r.output = dir_ / "output";
    std::vector<char*> argv;
    for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
    argv.push_back(nullptr);
    r.pid = fork();
    if (r.pid == 0) {
      const int out = open(r.output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      dup2(out, 1);
      dup2(out, 2);
      prepare();
      execv(argv[0], argv.data());
      _exit(126);
    }
    return r;
  }
  static bool ended(const Running& r, int* status) { return waitpid(r.pid, status, WNOHANG) == r.pid; }
  // Its exit code, or 1000 + signal. Fails when a process outlives it.
  int wait_for(const Running& r, double seconds) {
    const auto begin = Clock::now();
    int status = 0;
    while (!ended(r, &status)) {
      if (since(begin) > seconds) {
        ADD_FAILURE() << "still running after " << seconds << " s";
        kill(r.pid, SIGKILL);
        waitpid(r.pid, &status, 0);
        break;
      }
      std::this_thread::sleep_for(10ms);
    }
    const auto deadline = Clock::now() + 10s;
    int other = 0;
    for (pid_t left; (left = waitpid(-1, &other, WNOHANG)) >= 0;) {
      if (Clock::now() > deadline) {
        ADD_FAILURE() << "a process outlives the program";
        break;
      }
      if (left == 0) std::this_thread::sleep_for(10ms);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }
  // Until the session has this many experiments, or the program has ended.
  void wait_for_experiments(const Running& r, size_t count) const {
    while (kill(r.pid, 0) == 0 && Session::open(session_, Session::Access::kRead)->experiments().size() < count) {
      siginfo_t info{};
      if (waitid(P_PID, static_cast<id_t>(r.pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == r.pid) return;
      std::this_thread::sleep_for(50ms);
    }
  }

  // Experiment number -> what it tried. Opening looks at every checksum.
  std::map<int64_t, std::string> inspect() const {
    std::map<int64_t, std::string> found;
    const auto session = Session::open(session_, Session::Access::kRead);
    for (const Experiment& e : session->experiments()) {
      EXPECT_EQ(e.id, static_cast<int64_t>(found.size()) + 1);
      EXPECT_FALSE(e.reason.empty());
      found[e.id] = e.signature + e.candidate;
    }
    return found;
  }
  void expect_nothing_lost() {
    const std::map<int64_t, std::string> now = inspect();
    for (const auto& [id, tried] : finished_) {
      ASSERT_TRUE(now.count(id)) << "experiment " << id << " was lost";
      EXPECT_EQ(hash_hex(now.at(id)), hash_hex(tried));
    }
    finished_ = now;
  }
  int with_code(const std::string& code) const {
    int n = 0;
    const auto session = Session::open(session_, Session::Access::kRead);
    for (const Experiment& e : session->experiments()) n += e.code == code;
    return n;
  }
  void expect_one_line(const Running& r) {
    const std::string output = read_file(r.output);
    EXPECT_EQ(output.rfind("amdahl: ", 0), 0u) << output;
    EXPECT_EQ(std::count(output.begin(), output.end(), '\n'), 1) << output;
  }
  void expect_it_goes_on() {
    const Running r = start(resume(finished_.size() + 2));
    EXPECT_EQ(wait_for(r, 120), 0) << read_file(r.output);
    EXPECT_GE(inspect().size(), finished_.size() + 2);
    expect_nothing_lost();
  }

  // A g++ of ours, the only one in PATH. The real one finds its parts by the PATH that it is given.
  void install_compiler(const std::string& first) const {
    fs::create_directories(dir_ / "bin");
    const fs::path half = dir_ / "bin" / "half";
    std::ofstream(half) << "#!/bin/sh\nPATH=/usr/bin:/bin\n" << first << "\nexec /usr/bin/g++ \"$@\"\n";
    fs::permissions(half, fs::perms::owner_all | fs::perms::others_exec | fs::perms::others_read);
    fs::rename(half, dir_ / "bin" / "g++");
  }
  void use_it() const { setenv("PATH", (dir_ / "bin").c_str(), 1); }
  // With the compiler of TheCompilerHangsHalfWay: returns when a compilation hangs; those after it do not.
  void hang_the_next(const Running& r) const {
    std::ofstream(dir_ / "bin" / "hang") << "";
    const auto begin = Clock::now();
    while (below(r.pid, {"sleep"}).empty() && since(begin) < 60) std::this_thread::sleep_for(20ms);
    EXPECT_FALSE(below(r.pid, {"sleep"}).empty()) << "it compiled nothing";
    fs::remove(dir_ / "bin" / "hang");
  }

  static inline fs::path base_;
  fs::path dir_, session_;
  std::map<int64_t, std::string> finished_;
};

TEST_F(Fire, WorkersAndCompilersAreKilledFromOutside) {
  const int kills = many(6);
  Random random(static_cast<uint64_t>(getpid()));
  int workers = 0, compilers = 0, ends = 0;
  while (workers + compilers < kills) {
    const Running r = start(resume(finished_.size() + 1000));
    int status = 0;
    bool over = false;
    while (!(over = ended(r, &status)) && workers + compilers < kills) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100 + random.below(900)));
      const std::vector<Process> victims = below(r.pid, {"amdahl-worker", "cc1plus"});
      if (victims.empty()) continue;
      const Process& victim = victims[random.below(victims.size())];
      kill(victim.pid, SIGKILL);
      ++(victim.name == "cc1plus" ? compilers : workers);
    }
    if (over) {
      // Killed again and again where nothing goes on without it: a machine without memory.
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == static_cast<int>(ExitCode::kIo)) << status << read_file(r.output);
      ++ends;
    } else {
      const size_t before = inspect().size();
      wait_for_experiments(r, before + 1);  // it goes on
      kill(r.pid, SIGINT);
      EXPECT_EQ(wait_for(r, 30), static_cast<int>(ExitCode::kInterrupted)) << read_file(r.output);
    }
    expect_nothing_lost();
    if (HasFailure()) break;
  }
  tell("worker or compiler killed from outside", kills, kills,
       std::to_string(workers) + " workers, " + std::to_string(compilers) + " compilers; " + std::to_string(with_code("killed")) +
           " experiments ended as killed, " + std::to_string(with_code("build-limit")) + " as build-limit, the program ended " + std::to_string(ends) +
           " times (exit code 11) and went on");
  expect_it_goes_on();
}

TEST_F(Fire, TheCompilerGoesAway) {
  install_compiler("");
  const Running r = start(resume(finished_.size() + 1000), [&] { use_it(); });
  wait_for_experiments(r, finished_.size() + 1);
  fs::remove(dir_ / "bin" / "g++");
  EXPECT_EQ(wait_for(r, 60), static_cast<int>(ExitCode::kNoCompiler)) << read_file(r.output);
  expect_one_line(r);
  expect_nothing_lost();
  EXPECT_EQ(with_code("compile-error"), 0) << "no candidate is blamed for it";
  tell("compiler goes away while it tunes", 1, 1, "exit code 10; no experiment is blamed, resume goes on");
  expect_it_goes_on();
}

TEST_F(Fire, TheCompilerHangsHalfWay) {
  // On what it is given while a file is there. The name of the process says that it hangs.
  install_compiler("[ -e '" + (dir_ / "bin" / "hang").string() + "' ] && [ -e kernel.cpp ] && exec sleep 1000");
  const Running r = start(resume(finished_.size() + 1000), [&] { use_it(); });
  wait_for_experiments(r, finished_.size() + 1);
  // What hangs may be a placebo that a proof needs: its experiment is build-failed (docs/trust.md). Then the next one hangs.
  for (int tries = 0; tries < 5 && with_code("build-limit") == 0; ++tries) {
    hang_the_next(r);
    const auto begin = Clock::now();
    while (!below(r.pid, {"sleep"}).empty() && since(begin) < 60) std::this_thread::sleep_for(20ms);
    const auto killed = Clock::now();
    while (with_code("build-limit") == 0 && since(killed) < 10) std::this_thread::sleep_for(100ms);
  }
  const int limited = with_code("build-limit");
  EXPECT_GE(limited, 1);
  EXPECT_LE(limited, 4) << "only what hung";
  wait_for_experiments(r, inspect().size() + 1);
  // Ctrl-C while it hangs again.
  hang_the_next(r);
  kill(r.pid, SIGINT);
  EXPECT_EQ(wait_for(r, 10), static_cast<int>(ExitCode::kInterrupted)) << read_file(r.output);
  expect_nothing_lost();
  tell("compiler hangs half-way", limited + 1, limited + 1,
       std::to_string(limited) + " experiments build-failed (build-limit), the run goes on; Ctrl-C while it hangs ends in 10 s");
  expect_it_goes_on();
}

TEST_F(Fire, MemoryIsShort) {
  std::map<int, int> ends;
  const std::vector<int> sizes =
      many(1) == 1 ? std::vector<int>{40, 100} : std::vector<int>{25, 30, 40, 50, 60, 80, 100, 150, 200, 300, 450, 600, 900, 1500, 2500, 3500};
  for (const int mib : sizes) {
    const Running r = start(resume(finished_.size() + 2), [mib] {
      const rlimit limit{static_cast<rlim_t>(mib) << 20, static_cast<rlim_t>(mib) << 20};
      setrlimit(RLIMIT_AS, &limit);
    });
    const int code = wait_for(r, 120);
    // 127: not enough to start any program at all.
    EXPECT_TRUE(code == 0 || code == static_cast<int>(ExitCode::kIo) || code == static_cast<int>(ExitCode::kNoCompiler) || code == 127)
        << mib << " MiB: " << code << " " << read_file(r.output);
    ++ends[code];
    expect_nothing_lost();
  }
  std::string how;
  for (const auto& [code, n] : ends) how += (how.empty() ? "" : ", ") + std::to_string(n) + " with exit code " + std::to_string(code);
  tell("memory runs out (RLIMIT_AS)", static_cast<int>(sizes.size()), static_cast<int>(sizes.size()), how);
}

// The time of day jumps by years at every look at it, back and forth.
TEST_F(Fire, ClocksJump) {
  std::ofstream(dir_ / "clock.cc") << R"(
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static long jump() { static unsigned n; return (__sync_fetch_and_add(&n, 1) % 2 ? 1 : -1) * 500000000L; }
extern "C" int clock_gettime(clockid_t id, timespec* t) {
  const long r = syscall(SYS_clock_gettime, id, t);
  if (id == CLOCK_REALTIME) t->tv_sec += jump();
  return (int)r;
}
extern "C" time_t time(time_t* t) {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (t) *t = now.tv_sec;
  return now.tv_sec;
}
extern "C" int gettimeofday(timeval* t, void*) {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  *t = {now.tv_sec, 0};
  return 0;
}
)";
  const std::string shim = dir_ / "clock.so";
  ASSERT_TRUE(run_subprocess({"g++", "-shared", "-fPIC", "-O1", "-o", shim, dir_ / "clock.cc"}, {60}).ok());
  const SubprocessResult date = run_subprocess({"date", "+%Y"}, {10}, {}, {.environment = {"LD_PRELOAD=" + shim}});
  ASSERT_GT(std::abs(std::atoi(date.output.c_str()) - 2026), 5) << "the clock does not jump: " << date.output;

  const double before = Session::open(session_, Session::Access::kRead)->state().at("seconds");
  const auto begin = Clock::now();
  std::vector<std::string> arguments = resume(10000);
  arguments.insert(arguments.end(), {"--minutes", std::to_string((before + many(6)) / 60)});
  const Running r = start(arguments, [&] { setenv("LD_PRELOAD", shim.c_str(), 1); });
  EXPECT_EQ(wait_for(r, 60 + many(6)), 0) << read_file(r.output);
  const double wall = since(begin), spent = Session::open(session_, Session::Access::kRead)->state().at("seconds").get<double>() - before;
  EXPECT_GE(spent, 0.5);
  EXPECT_LE(spent, wall + 0.1);
  EXPECT_GT(inspect().size(), finished_.size());
  expect_nothing_lost();
  tell("time of day jumps by years at every look", 1, 1, "budget kept: " + std::to_string(spent) + " s spent of " + std::to_string(wall) + " s");
}

// Session, then cache, on a file system that fills up. In a name space of the child's own.
TEST_F(Fire, DisksFillUp) {
  const pid_t pid = fork();
  if (pid == 0) {
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) _exit(42);
    const fs::path small = dir_ / "small";
    fs::create_directories(small);
    const auto size = [](uintmax_t bytes) { return "size=" + std::to_string(bytes); };
    const auto run = [](const fs::path& session, const fs::path& cache, size_t experiments) {
      return run_subprocess({program(), "resume", session, "--experiments", std::to_string(experiments), "--cache", cache, "--quiet"}, {120});
    };
    const auto count = [](const fs::path& session) { return Session::open(session, Session::Access::kRead)->experiments().size(); };
    try {
      // The session's disk.
      if (mount("small", small.c_str(), "tmpfs", 0, size(fs::file_size(session_) + (160 << 10)).c_str()) != 0) _exit(42);
      fs::copy_file(session_, small / "s.amdahl");
      SubprocessResult r = run(small / "s.amdahl", base_ / "cache", 1000);
      std::fprintf(stderr, "session's disk: %d %s", r.exit_code, r.output.c_str());
      if (r.exit_code != static_cast<int>(ExitCode::kIo)) _exit(1);
      if (mount("small", small.c_str(), "tmpfs", MS_REMOUNT, "size=64m") != 0) _exit(2);
      size_t there = count(small / "s.amdahl");
      if (there < finished_.size()) _exit(3);
      r = run(small / "s.amdahl", base_ / "cache", there + 1);
      if (r.exit_code != 0 || count(small / "s.amdahl") < there + 1) _exit(4);
      // The cache's.
      fs::copy(base_ / "cache", small / "cache", fs::copy_options::recursive);
      const uintmax_t used = fs::space(small).capacity - fs::space(small).free;
      if (mount("small", small.c_str(), "tmpfs", MS_REMOUNT, size(used + (256 << 10)).c_str()) != 0) _exit(5);
      r = run(session_, small / "cache", 1000);
      std::fprintf(stderr, "cache's disk: %d %s", r.exit_code, r.output.c_str());
      if (r.exit_code != static_cast<int>(ExitCode::kIo)) _exit(6);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      _exit(7);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 42) GTEST_SKIP() << "cannot mount a file system here: needs root, or name spaces for all";
  EXPECT_EQ(status, 0);
  expect_nothing_lost();
  tell("disk of the session, of the cache full", 2, 2, "exit code 11; goes on when there is space again");
}

TEST_F(Fire, TheSessionIsRemoved) {
  const Running r = start(resume(finished_.size() + 1000));
  wait_for_experiments(r, finished_.size() + 1);
  for (const char* suffix : {"", "-wal", "-shm", "-lock"}) fs::remove(session_.string() + suffix);
  EXPECT_EQ(wait_for(r, 60), static_cast<int>(ExitCode::kIo)) << read_file(r.output);
  expect_one_line(r);
  EXPECT_NE(read_file(r.output).find("was removed, moved or replaced"), std::string::npos) << read_file(r.output);
  EXPECT_FALSE(fs::exists(session_)) << "nothing comes back";
  tell("session removed while it tunes", 1, 1, "exit code 11, no advice to go on with it");
}

TEST_F(Fire, TheLockIsRemoved) {
  const Running first = start(resume(finished_.size() + 1000));
  wait_for_experiments(first, finished_.size() + 1);
  fs::remove(session_.string() + "-lock");
  const SubprocessResult second = run_subprocess(resume(finished_.size() + 1000), {60});
  EXPECT_EQ(second.exit_code, static_cast<int>(ExitCode::kSessionBusy)) << second.output;
  wait_for_experiments(first, inspect().size() + 1);
  kill(first.pid, SIGINT);
  EXPECT_EQ(wait_for(first, 30), static_cast<int>(ExitCode::kInterrupted)) << read_file(first.output);
  expect_nothing_lost();
  tell("lock file removed while it tunes", 1, 1, "exit code 8 for the second, the first goes on");
}

TEST_F(Fire, TwoTunersAtOnce) {
  const int rounds = many(2);
  for (int i = 0; i < rounds; ++i) {
    const Running first = start(resume(finished_.size() + 1000));
    while (!fs::exists(session_.string() + "-lock")) std::this_thread::sleep_for(5ms);
    std::this_thread::sleep_for(200ms);
    const SubprocessResult second = run_subprocess(resume(finished_.size() + 1000), {60});
    EXPECT_EQ(second.exit_code, static_cast<int>(ExitCode::kSessionBusy)) << second.output;
    EXPECT_NE(second.output.find(std::to_string(first.pid)), std::string::npos) << second.output;
    if (i % 2 == 0) wait_for_experiments(first, finished_.size() + 1);
    kill(first.pid, SIGKILL);
    EXPECT_EQ(wait_for(first, 10), 1000 + SIGKILL);
    expect_nothing_lost();
  }
  tell("two tuners at once", rounds, rounds, "exit code 8 names the first; its lock dies with it");
}

}  // namespace
}  // namespace amdahl

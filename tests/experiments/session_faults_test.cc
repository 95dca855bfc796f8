// What can happen to a session: killed writers, full disks, files that were cut off or changed. After each, everything that
// was committed is read back, or the damage is named. Never less, never something else, in silence.
//
// The counts are small; AMDAHL_FIRE=10 multiplies them. Each test prints a line "fire: FAULT | TRIED | SURVIVED | HOW", which
// bench/trust/fire gathers.

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>

#include "base/error.h"
#include "base/hash.h"
#include "base/random.h"
#include "experiments/session.h"
#include "experiments/sqlite.h"

namespace amdahl {
namespace {

namespace fs = std::filesystem;

int many(int n) {
  const char* times = std::getenv("AMDAHL_FIRE");
  return n * std::max(1, times ? std::atoi(times) : 1);
}

void tell(const std::string& fault, int tried, int survived, const std::string& how) {
  if (::testing::Test::HasFailure()) survived = std::min(survived, tried - 1);
  std::printf("fire: %s | %d | %d | %s\n", fault.c_str(), tried, survived, how.c_str());
}

SessionIdentity identity() {
  SessionIdentity s;
  s.model = "builtin:gpt2-mini";
  s.model_fingerprint = "m1";
  s.machine = "a machine, 2 cores";
  s.machine_fingerprint = "c1";
  s.created_at = 1700000000;
  return s;
}

Experiment experiment(int64_t id) {
  Experiment e;
  e.id = id;
  e.rewrite = "choose_register_tile";
  e.tier = 1;
  e.window = "matmul 4x4 · 4x4";
  e.candidate = "candidate " + std::to_string(id);
  e.outcome = id % 7 == 0 ? Outcome::kKept : Outcome::kReverted;
  e.stage = "race";
  e.reason = "slower by " + std::to_string(id) + "%";
  e.seed = static_cast<uint64_t>(id) * 0x9e3779b97f4a7c15ull;
  e.prove_log_ratios = {0.1, 0.1 * static_cast<double>(id)};
  Variant variant;
  variant.problem.kind = "pointwise";
  variant.source_override = "/* kernel " + std::to_string(id) + " " + std::string(static_cast<size_t>(id * 37 % 900), 'k') + " */";
  Json step = Json::object();
  step["variant"] = variant;
  e.replacement = Json::array({step});
  return e;
}

// Commit number n of a run.
Commit commit_of(int64_t n) {
  Commit c;
  c.experiments = {experiment(n)};
  c.state = Json{{"head", n}};
  if (n == 1) c.options = Json{{"seconds", 60}};
  if (n % 7 == 0) {
    PlanRecord plan;
    plan.id = n;
    plan.plan = Json{{"steps", std::string(3000, static_cast<char>('a' + n % 26))}};
    c.plans = {plan};
    c.profiles = {{n, n, 0.5, {0.25, 0.25}, {0.1, 0.1}}};
    LedgerEntry entry;
    entry.id = n;
    entry.experiments = {n};
    entry.kept = true;
    c.ledger = {entry};
    c.headline = Headline{n, {0.1, 0.05, 0.15, 7}, 2, 1};
  }
  return c;
}

// All that a session gives its readers, in a word.
std::string content(const Session& s) {
  Json all{{"identity", s.identity()}, {"experiments", s.experiments()}, {"ledger", s.ledger()}, {"plans", s.plans()},
           {"profiles", s.profiles()}, {"options", s.options()},         {"state", s.state()}};
  if (s.headline()) all["headline"] = *s.headline();
  for (const Experiment& e : s.experiments())
    for (const Json& step : e.replacement) all["sources"].push_back(s.source(step.at("variant").get<Variant>().id()));
  return hash_hex(all.dump());
}

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}
void write_file(const fs::path& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

// A session's files as they lie on the disk, by suffix.
using Files = std::map<std::string, std::string>;
constexpr const char* kSuffixes[] = {"", "-wal", "-lock"};

class SessionFaults : public ::testing::Test {
 protected:
  void SetUp() override {
    // In memory where there is room: a commit waits for the disk, which is not what is tested.
    const fs::path shm = "/dev/shm";
    std::error_code error;
    const bool room = fs::space(shm, error).available > (64u << 20) && !error && access(shm.c_str(), W_OK) == 0;
    dir_ = (room ? shm : fs::temp_directory_path()) / ("amdahl-faults-" + std::to_string(getpid()));
    fs::create_directories(dir_);
    path_ = dir_ / "s.amdahl";
  }
  void TearDown() override {
    fs::permissions(dir_, fs::perms::owner_all);
    fs::remove_all(dir_);
  }

  // Runs `deed` in a process of its own and returns its status. Destructors of what it owns run; nothing else of ours does.
  static int in_child(const std::function<int()>& deed) {
    const pid_t pid = fork();
    if (pid == 0) {
      int code = 99;
      try {
        code = deed();
      } catch (const std::exception& e) {
        std::fprintf(stderr, "child: %s\n", e.what());
      }
      _exit(code);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }

  // A session of some commits. `closed`: by a program that ended; else by one that was killed, and left its log.
  Files make(int commits, bool closed) {
    clear();
    EXPECT_EQ(in_child([&] {
                auto session = Session::create(path_, identity());
                for (int n = 1; n <= commits; ++n) session->commit(commit_of(n));
                if (!closed) kill(getpid(), SIGKILL);
                return 0;
              }),
              closed ? 0 : 1000 + SIGKILL);
    Files files;
    for (const char* suffix : kSuffixes)
      if (fs::exists(path_ + suffix)) files[suffix] = read_file(path_ + suffix);
    EXPECT_EQ(files.size(), closed ? 1u : 3u);
    return files;
  }
  void clear() const {
    for (const char* suffix : {"", "-wal", "-shm", "-lock"}) fs::remove(path_ + suffix);
  }
  void put(const Files& files) const {
    clear();
    for (const auto& [suffix, bytes] : files) write_file(path_ + suffix, bytes);
  }

  // "whole", "named" (an exit code of docs/exit-codes.md and a line), or what is wrong.
  std::string outcome(Session::Access access, const std::string& wanted) {
    try {
      return content(*Session::open(path_, access)) == wanted ? "whole" : "different in silence";
    } catch (const Error& error) {
      message_ = error.what();
      if (error.code() != ExitCode::kSessionDamaged && error.code() != ExitCode::kSessionMismatch && error.code() != ExitCode::kIo)
        return "exit code " + std::to_string(static_cast<int>(error.code())) + ": " + message_;
      if (message_.find('\n') != std::string::npos || message_.find("s.amdahl") == std::string::npos) return "bad message: " + message_;
      return "named";
    } catch (const std::exception& error) {
      return std::string("exception: ") + error.what();
    }
  }

  // Reads the damaged files, reads again, and opens for writing: damage that was named once stays named, until somebody does
  // something about it. Counts the wholes and the named.
  void expect_whole_or_named(const Files& files, const std::string& wanted, const std::string& what, int* whole, int* named) {
    put(files);
    const std::string first = outcome(Session::Access::kRead, wanted);
    const std::string message = message_;
    const std::string second = outcome(Session::Access::kRead, wanted);
    const std::string third = outcome(Session::Access::kWrite, wanted);
    EXPECT_TRUE(first == "whole" || first == "named") << what << ": " << first;
    EXPECT_EQ(first, second) << what << ": " << message;
    EXPECT_EQ(first, third) << what << ": " << message;
    *whole += first == "whole";
    *named += first == "named";
  }
  std::string content_of(const Files& files) {
    put(files);
    return content(*Session::open(path_, Session::Access::kRead));
  }
  static std::string so_many(int whole, int named) { return std::to_string(whole) + " read in full, " + std::to_string(named) + " named"; }

  void flip(const char* suffix, const Files& files, int times) {
    const std::string wanted = content_of(files);
    Random random(7);
    int whole = 0, named = 0;
    for (int i = 0; i < times; ++i) {
      Files changed = files;
      std::string& bytes = changed.at(suffix);
      const size_t at = random.below(bytes.size());
      const int bit = static_cast<int>(random.below(8));
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
      expect_whole_or_named(changed, wanted, "bit " + std::to_string(bit) + " of byte " + std::to_string(at) + " of s.amdahl" + suffix, &whole, &named);
    }
    EXPECT_GT(named, 0);
    tell(std::string("bit flipped in ") + (*suffix ? "the log of a killed program" : "the database"), times, whole + named, so_many(whole, named));
  }
  void cut(const char* suffix, const Files& files, const std::vector<size_t>& sizes) {
    const std::string wanted = content_of(files);
    int whole = 0, named = 0, tried = 0;
    for (const size_t size : sizes) {
      Files changed = files;
      if (size >= changed.at(suffix).size()) continue;
      changed.at(suffix).resize(size);
      ++tried;
      expect_whole_or_named(changed, wanted, "cut off after " + std::to_string(size), &whole, &named);
    }
    EXPECT_GT(named, 0);
    tell(std::string("cut off: ") + (*suffix ? "the log of a killed program" : "the database"), tried, whole + named, so_many(whole, named));
  }

  fs::path dir_;
  std::string path_, message_;
};

TEST_F(SessionFaults, BitsFlipInTheDatabase) { flip("", make(40, true), many(300)); }
TEST_F(SessionFaults, BitsFlipInTheLog) { flip("-wal", make(40, false), many(200)); }

// What is known of the log is lost with it; what is in the log is not.
TEST_F(SessionFaults, BitsFlipInTheLockFile) {
  const Files files = make(10, false);
  const std::string wanted = content_of(files);
  for (size_t at = 0; at < files.at("-lock").size(); ++at) {
    Files changed = files;
    changed.at("-lock")[at] ^= 1;
    put(changed);
    EXPECT_EQ(outcome(Session::Access::kRead, wanted), "whole") << at << message_;
  }
}

TEST_F(SessionFaults, TheDatabaseIsCutOff) {
  const Files files = make(40, true);
  const size_t size = files.at("").size();
  std::vector<size_t> sizes{0, 1, 15, 16, 17, 99, 100, 101, size - 1, size - 2};
  for (size_t page = 4096; page < size; page += 4096) sizes.insert(sizes.end(), {page - 1, page, page + 1});
  Random random(3);
  for (int i = 0; i < many(20); ++i) sizes.push_back(random.below(size));
  cut("", files, sizes);
}

TEST_F(SessionFaults, TheLogIsCutOff) {
  const Files files = make(30, false);
  const size_t size = files.at("-wal").size(), frame = 24 + 4096;
  std::vector<size_t> sizes{0, 1, 31, 32, 33, size - 1, size - 4096, size - 4097};
  for (size_t at = 32 + frame; at < size; at += 7 * frame) sizes.insert(sizes.end(), {at - 1, at, at + 1, at + 23, at + 24});
  Random random(4);
  for (int i = 0; i < many(20); ++i) sizes.push_back(random.below(size));
  cut("-wal", files, sizes);
}

TEST_F(SessionFaults, TheLogIsGone) {
  Files files = make(30, false);
  const std::string wanted = content_of(files);
  files.erase("-wal");
  int whole = 0, named = 0;
  expect_whole_or_named(files, wanted, "no log", &whole, &named);
  EXPECT_EQ(named, 1);
  // Somebody decides to go on with what is there, or starts over.
  files.erase("-lock");
  put(files);
  EXPECT_NE(outcome(Session::Access::kWrite, wanted), "whole");
}

// A write that the disk acknowledged and lost: zeros, or what was there before.
TEST_F(SessionFaults, PagesAreLost) {
  const Files before = make(30, true), after = make(40, true);
  const std::string wanted = content_of(after);
  int whole = 0, named = 0;
  const size_t pages = after.at("").size() / 4096;
  for (size_t page = 0; page < pages; ++page) {
    Files changed = after;
    changed.at("").replace(page * 4096, 4096, std::string(4096, '\0'));
    expect_whole_or_named(changed, wanted, "zeros in page " + std::to_string(page), &whole, &named);
    if ((page + 1) * 4096 > before.at("").size()) continue;
    changed = after;
    changed.at("").replace(page * 4096, 4096, before.at(""), page * 4096, 4096);
    expect_whole_or_named(changed, wanted, "an old page " + std::to_string(page), &whole, &named);
  }
  EXPECT_GT(named, 0);
  tell("page of the database lost or old", whole + named, whole + named, so_many(whole, named));
}

// Rows that SQLite finds nothing wrong with.
TEST_F(SessionFaults, RowsThatAreEditedOrRemovedAreNamed) {
  const Files files = make(20, true);
  for (const auto& [sql, named] : std::vector<std::pair<std::string, std::string>>{
           {"UPDATE experiments SET document = replace(document, '12%', '13%') WHERE id = 12", "experiments 12"},
           {"UPDATE experiments SET gain_log = 1 WHERE id = 3", "experiments 3"},
           {"UPDATE experiments SET id = 99 WHERE id = 20", "experiments 99"},
           {"UPDATE plans SET checksum = checksum + 1 WHERE id = 7", "plans 7"},
           {"UPDATE meta SET value = json_set(value, '$.head', 1) WHERE key = 'state'", "meta state"},
           {"DELETE FROM experiments WHERE id = 20", "rows were written"},
           {"DELETE FROM variants", "rows were written"},
           {"DELETE FROM tally", "tally"},
           {"UPDATE tally SET sum = sum + 1", "rows"},
           {"ALTER TABLE plans ADD COLUMN more", "tables"},
           {"DROP TABLE ledger", "tables"},
       }) {
    put(files);
    Database(path_, SQLITE_OPEN_READWRITE).execute(sql);
    EXPECT_EQ(outcome(Session::Access::kWrite, ""), "named") << sql;
    EXPECT_NE(message_.find(named), std::string::npos) << sql << ": " << message_;
  }
}

// A child that only commits, killed at random moments, which mostly lie inside of commits.
TEST_F(SessionFaults, WritersAreKilledInsideCommits) {
  const int kills = many(60);
  Random random(static_cast<uint64_t>(getpid()));
  int64_t committed = 0, half = 0;
  for (int k = 0; k < kills; ++k) {
    if (k % 50 == 0) {
      clear();
      Session::create(path_, identity());
      committed = 0;
    }
    int acknowledged[2];
    ASSERT_EQ(pipe(acknowledged), 0);
    const pid_t pid = fork();
    if (pid == 0) {
      const auto session = Session::open(path_, Session::Access::kWrite);
      for (int64_t n = committed + 1;; ++n) {
        session->commit(commit_of(n));
        if (write(acknowledged[1], &n, sizeof n) < 0) _exit(1);
      }
    }
    close(acknowledged[1]);
    int64_t last = 0, n = 0;
    ASSERT_EQ(read(acknowledged[0], &last, sizeof last), static_cast<ssize_t>(sizeof last)) << "the writer did not come to a commit";
    usleep(static_cast<useconds_t>(random.below(4000)));
    kill(pid, SIGKILL);
    int status = 0;
    waitpid(pid, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the writer ended by itself";
    while (read(acknowledged[0], &n, sizeof n) == static_cast<ssize_t>(sizeof n)) last = n;
    close(acknowledged[0]);

    const auto session = Session::open(path_, k % 2 ? Session::Access::kRead : Session::Access::kWrite);
    const std::vector<Experiment> experiments = session->experiments();
    const auto there = static_cast<int64_t>(experiments.size());
    ASSERT_GE(there, last) << "commits were lost by kill " << k;
    ASSERT_LE(there, last + 1) << "more than was begun";
    for (int64_t i = 1; i <= there; ++i) ASSERT_EQ(hash_hex(Json(experiments[static_cast<size_t>(i - 1)]).dump()), hash_hex(Json(experiment(i)).dump())) << i;
    EXPECT_EQ(session->state().at("head"), there) << "half of a commit";
    EXPECT_EQ(static_cast<int64_t>(session->plans().size()), there / 7);
    half += there > last;
    committed = there;
  }
  tell("kill -9 of a writer that only commits", kills, kills, "nothing lost; " + std::to_string(half) + " had written the commit, but not said so");
}

TEST_F(SessionFaults, ProgramsAreKilledWhileTheyCreateASession) {
  const int kills = many(40);
  Random random(static_cast<uint64_t>(getpid()));
  int none = 0, named = 0, whole = 0;
  for (int k = 0; k < kills; ++k) {
    clear();
    const pid_t pid = fork();
    if (pid == 0) {
      Session::create(path_, identity())->commit(commit_of(1));
      _exit(0);
    }
    usleep(static_cast<useconds_t>(random.below(2500)));
    kill(pid, SIGKILL);
    int status = 0;
    waitpid(pid, &status, 0);
    if (!fs::exists(path_)) {
      ++none;
      continue;
    }
    try {
      const auto session = Session::open(path_, Session::Access::kWrite);
      EXPECT_LE(session->experiments().size(), 1u);
      ++whole;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kSessionDamaged) << error.what();
      EXPECT_FALSE(WIFEXITED(status)) << "it had finished";
      ++named;
    }
  }
  tell("kill -9 while a session is created", kills, none + named + whole, std::to_string(none) + " before there was a file, " + so_many(whole, named));
}

// Files of this process can grow to so many bytes and no further.
TEST_F(SessionFaults, FilesThatMayNotGrow) {
  int tried = 0;
  for (rlim_t bytes = 2048; bytes < 600000; bytes = bytes * 5 / 4 + 512) {
    clear();
    const fs::path said = dir_ / "said";
    fs::remove(said);
    const int code = in_child([&] {
      signal(SIGXFSZ, SIG_IGN);
      const int log = ::open(said.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
      const rlimit limit{bytes, bytes};
      setrlimit(RLIMIT_FSIZE, &limit);
      try {
        const auto session = Session::create(path_, identity());
        for (int64_t n = 1;; ++n) {
          session->commit(commit_of(n));
          if (write(log, "x", 1) != 1) return 2;
        }
      } catch (const Error& error) {
        if (error.code() != ExitCode::kIo) std::fprintf(stderr, "%s\n", error.what());
        return error.code() == ExitCode::kIo ? 0 : 3;
      }
    });
    ASSERT_EQ(code, 0) << bytes << ": a full disk is to be named as one";
    ++tried;
    const size_t acknowledged = read_file(said).size();
    if (!fs::exists(path_)) {
      EXPECT_EQ(acknowledged, 0u);
      continue;
    }
    try {
      const auto session = Session::open(path_, Session::Access::kWrite);
      EXPECT_GE(session->experiments().size(), acknowledged) << bytes;
      session->commit(commit_of(static_cast<int64_t>(session->experiments().size()) + 1));  // and on it goes
    } catch (const Error& error) {
      ADD_FAILURE() << bytes << ": " << error.what();
    }
  }
  tell("a file may grow no further (RLIMIT_FSIZE)", tried, tried, "exit code 11, all commits kept");
}

// A real full disk: a file system of some pages, in a name space of the child's own.
TEST_F(SessionFaults, TheDiskIsFull) {
  int tried = 0;
  for (const int kib : {40, 64, 100, 200, 400, 900}) {
    const int code = in_child([&] {
      if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return 42;
      const std::string size = "size=" + std::to_string(kib) + "k";
      if (mount("amdahl", dir_.c_str(), "tmpfs", 0, size.c_str()) != 0) return 42;
      const fs::path ballast = dir_ / "ballast";
      write_file(ballast, std::string(24 << 10, 'b'));
      int64_t acknowledged = 0;
      try {
        const auto session = Session::create(path_, identity());
        for (int64_t n = 1;; acknowledged = n++) session->commit(commit_of(n));
      } catch (const Error& error) {
        if (error.code() != ExitCode::kIo) {
          std::fprintf(stderr, "%d KiB: %s\n", kib, error.what());
          return 3;
        }
      }
      fs::remove(ballast);                                       // somebody makes space
      if (!fs::exists(path_)) return acknowledged == 0 ? 0 : 6;  // it did not come to a session, and left nothing
      try {
        const auto session = Session::open(path_, Session::Access::kWrite);
        if (static_cast<int64_t>(session->experiments().size()) < acknowledged) return 4;
        session->commit(commit_of(static_cast<int64_t>(session->experiments().size()) + 1));
      } catch (const Error& error) {
        std::fprintf(stderr, "%d KiB, %d commits: %s\n", kib, static_cast<int>(acknowledged), error.what());
        return 5;
      }
      return 0;
    });
    if (code == 42) GTEST_SKIP() << "cannot mount a file system here: needs root, or name spaces for all";
    EXPECT_EQ(code, 0) << kib << " KiB";
    ++tried;
  }
  tell("full disk (a small tmpfs)", tried, tried, "exit code 11; goes on when there is space again");
}

TEST_F(SessionFaults, AFolderThatCannotBeWritten) {
  make(10, true);
  const std::string wanted = content(*Session::open(path_, Session::Access::kRead));
  const std::string before = read_file(path_);
  fs::permissions(path_, fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read);
  fs::permissions(
      dir_, fs::perms::owner_read | fs::perms::owner_exec | fs::perms::group_read | fs::perms::group_exec | fs::perms::others_read | fs::perms::others_exec);
  const int code = in_child([&] {
    if (getuid() == 0 && setuid(65534) != 0) return 42;  // root may write everywhere
    if (access(dir_.c_str(), W_OK) == 0) return 42;
    if (outcome(Session::Access::kRead, wanted) != "whole") return 1;
    if (outcome(Session::Access::kWrite, wanted) != "named") return 2;
    try {
      Session::create(path_ + "2", identity());
      return 3;
    } catch (const Error& error) {
      return error.code() == ExitCode::kIo ? 0 : 4;
    }
  });
  if (code == 42) GTEST_SKIP() << "every folder can be written here";
  EXPECT_EQ(code, 0);
  EXPECT_EQ(hash_hex(read_file(path_)), hash_hex(before));
  tell("read-only folder", 3, 3, "readers read, writers end with exit code 11");
}

// Several at once, each for one commit at a time: the lock file comes and goes all the while.
TEST_F(SessionFaults, ManyWantToWrite) {
  constexpr int kWriters = 4;
  const int commits = many(15);
  Session::create(path_, identity());
  std::vector<pid_t> writers;
  for (int w = 0; w < kWriters; ++w) {
    const pid_t pid = fork();
    if (pid == 0) {
      int code = 0;
      for (int done = 0; done < commits && code == 0;) {
        try {
          const auto session = Session::open(path_, Session::Access::kWrite);
          session->commit(commit_of(static_cast<int64_t>(session->experiments().size()) + 1));
          ++done;
        } catch (const Error& error) {
          if (error.code() != ExitCode::kSessionBusy) {
            std::fprintf(stderr, "writer: %s\n", error.what());
            code = 1;
          }
          usleep(200);
        }
      }
      _exit(code);
    }
    writers.push_back(pid);
  }
  for (pid_t pid : writers) {
    int status = 0;
    waitpid(pid, &status, 0);
    EXPECT_EQ(status, 0);
  }
  const auto session = Session::open(path_, Session::Access::kRead);
  const std::vector<Experiment> experiments = session->experiments();
  ASSERT_EQ(experiments.size(), static_cast<size_t>(kWriters * commits));
  for (size_t i = 0; i < experiments.size(); ++i) EXPECT_EQ(experiments[i].id, static_cast<int64_t>(i) + 1);
  EXPECT_FALSE(fs::exists(path_ + "-lock"));
  tell("several programs want to write one session", kWriters * commits, kWriters * commits, "one at a time, exit code 8 for the others");
}

// Somebody tidies up: the lock file goes while its writer works. A second writer is refused all the same, and the file comes back.
TEST_F(SessionFaults, TheLockFileIsRemovedWhileAWriterWrites) {
  const auto first = Session::create(path_, identity());
  first->commit(commit_of(1));
  for (int64_t n = 2; n <= 4; ++n) {
    fs::remove(path_ + "-lock");
    const int second = in_child([&] {
      try {
        Session::open(path_, Session::Access::kWrite);
        return 0;
      } catch (const Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return static_cast<int>(error.code());
      }
    });
    EXPECT_EQ(second, static_cast<int>(ExitCode::kSessionBusy));
    EXPECT_FALSE(fs::exists(path_ + "-lock")) << "who is refused leaves no lock";
    first->commit(commit_of(n));
    EXPECT_TRUE(fs::exists(path_ + "-lock"));
  }
  const std::string wanted = content(*first);
  EXPECT_EQ(in_child([&] { return content(*Session::open(path_, Session::Access::kRead)) == wanted ? 0 : 1; }), 0);
  tell("lock file removed while a writer writes", 3, 3, "the second is refused with exit code 8, the session stays whole");
}

// A writer whose session has gone says so at its next commit, and leaves alone what came in its place.
TEST_F(SessionFaults, TheSessionGoesAwayWhileAWriterWrites) {
  const std::vector<std::pair<std::string, std::function<void()>>> ways{
      {"removed", [&] { fs::remove(path_); }},
      {"removed with all that is beside it", [&] { clear(); }},
      {"moved", [&] { fs::rename(path_, path_ + ".away"); }},
      {"replaced by a copy",
       [&] {
         fs::copy_file(path_, path_ + ".copy");
         fs::rename(path_ + ".copy", path_);
       }},
      {"begun again by another",
       [&] {
         clear();
         EXPECT_EQ(in_child([&] {
                     Session::create(path_, identity())->commit(commit_of(1));
                     return 0;
                   }),
                   0);
       }},
  };
  for (const auto& [how, go_away] : ways) {
    clear();
    auto session = Session::create(path_, identity());
    session->commit(commit_of(1));
    EXPECT_NO_THROW(session->require_in_place());
    go_away();
    for (int again = 0; again < 2; ++again) try {
        session->commit(commit_of(2 + again));
        ADD_FAILURE() << how << ": committed to a file that nobody finds";
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::kIo) << how;
        EXPECT_NE(std::string(error.what()).find("s.amdahl was removed, moved or replaced"), std::string::npos) << error.what();
      }
    EXPECT_THROW(session->require_in_place(), Error) << how;
    session.reset();
    if (how == "begun again by another") {
      EXPECT_EQ(Session::open(path_, Session::Access::kRead)->experiments().size(), 1u);
    }
  }
  tell("session removed, moved or replaced while a writer writes", static_cast<int>(ways.size()), static_cast<int>(ways.size()),
       "exit code 11 at the next commit");
}

// Every byte of the header in three ways: what is opened for writing can also be written.
TEST_F(SessionFaults, EveryByteOfTheHeaderChanges) {
  const Files files = make(5, true);
  const std::string wanted = content_of(files);
  int whole = 0, named = 0;
  for (size_t at = 0; at < 100; ++at)
    for (const int change : {0x01, 0x80, 0xff}) {
      Files changed = files;
      changed.at("")[at] = static_cast<char>(changed.at("")[at] ^ change);
      expect_whole_or_named(changed, wanted, "byte " + std::to_string(at) + " ^ " + std::to_string(change), &whole, &named);
      put(changed);
      if (outcome(Session::Access::kRead, wanted) == "whole") {
        EXPECT_NO_THROW(Session::open(path_, Session::Access::kWrite)->commit(commit_of(6))) << "byte " << at << " ^ " << change;
      }
    }
  EXPECT_GT(named, 50);
  tell("byte of the database's header changed", whole + named, whole + named, so_many(whole, named));
}

// Readers who come while a writer writes see whole commits, and never take its work for damage.
TEST_F(SessionFaults, ReadersComeWhileAWriterWrites) {
  Session::create(path_, identity());
  const pid_t pid = fork();
  if (pid == 0) {
    const auto session = Session::open(path_, Session::Access::kWrite);
    for (int64_t n = 1;; ++n, usleep(10000)) session->commit(commit_of(n));
  }
  size_t last = 0;
  const int reads = many(40);
  for (int i = 0; i < reads; ++i) {
    try {
      const auto session = Session::open(path_, Session::Access::kRead);
      EXPECT_GE(session->experiments().size(), last);
      last = session->experiments().size();
      if (last > 0) {
        EXPECT_EQ(session->state().at("head"), last);
      }
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
    usleep(1000);
  }
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  EXPECT_GT(last, 0u);
  tell("reader while a writer writes", reads, reads, "whole commits only");
}

}  // namespace
}  // namespace amdahl

#include "experiments/session.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "experiments/report.h"
#include "experiments/sqlite.h"

namespace amdahl {
namespace {

namespace fs = std::filesystem;

SessionIdentity identity() {
  SessionIdentity s;
  s.model = "builtin:gpt2-mini";
  s.model_fingerprint = "m1";
  s.machine = "a machine, 2 cores";
  s.machine_fingerprint = "c1";
  s.created_at = 1700000000;
  return s;
}

Experiment experiment(int64_t id, Outcome outcome = Outcome::kReverted) {
  Experiment e;
  e.id = id;
  e.rewrite = "choose_register_tile";
  e.tier = 1;
  e.window = "matmul 4x4 · 4x4";
  e.outcome = outcome;
  e.stage = "race";
  e.reason = "slower by 3%";
  e.seed = ~uint64_t{0} - 5;  // does not fit a signed integer or a double
  e.prove_log_ratios = {0.1, 0.1234567890123456};
  e.gain = {0.1, 0.08, 0.12, 9};
  return e;
}

class SessionFile : public ::testing::Test {
 protected:
  void SetUp() override {
    dir_ = fs::temp_directory_path() / ("amdahl-session-" + std::to_string(getpid()));
    fs::create_directories(dir_);
    path_ = dir_ / "s.amdahl";
  }
  void TearDown() override {
    fs::permissions(dir_, fs::perms::owner_all);
    fs::remove_all(dir_);
  }
  // The exit code of opening, 0 when it opens; the message is kept.
  int open_code(Session::Access access = Session::Access::kWrite) {
    try {
      Session::open(path_, access);
      return 0;
    } catch (const Error& error) {
      message_ = error.what();
      EXPECT_EQ(message_.find('\n'), std::string::npos) << message_;
      return static_cast<int>(error.code());
    }
  }
  void make(int experiments) {
    const auto session = Session::create(path_, identity());
    for (int i = 1; i <= experiments; ++i) {
      Commit c;
      c.experiments = {experiment(i)};
      c.state = Json{{"head", i}};
      session->commit(c);
    }
  }
  fs::path dir_;
  std::string path_, message_;
};

TEST_F(SessionFile, KeepsEverythingExactly) {
  {
    const auto session = Session::create(path_, identity());
    Commit c;
    c.experiments = {experiment(1), experiment(2, Outcome::kKept)};
    c.options = Json{{"seconds", 60}};
    c.state = Json{{"head", 7}};
    LedgerEntry entry;
    entry.id = 1;
    entry.experiments = {2};
    entry.predicted = 0.1;
    entry.measured = {0.09, 0.07, 0.11, 12};
    entry.kept = true;
    c.ledger = {entry};
    PlanRecord plan;
    plan.id = 1;
    plan.plan = Json{{"steps", Json::array()}, {"threads", 2}};
    c.plans = {plan};
    c.profiles = {{1, 1, 0.5, {0.25, 0.25}, {0.1, 0.1}}};
    session->commit(c);
  }
  const auto session = Session::open(path_, Session::Access::kWrite);
  ASSERT_EQ(session->experiments().size(), 2u);
  EXPECT_EQ(Json(session->experiments()[0]), Json(experiment(1)));
  EXPECT_EQ(session->experiments()[0].seed, ~uint64_t{0} - 5);
  EXPECT_EQ(session->experiments()[1].outcome, Outcome::kKept);
  EXPECT_EQ(session->ledger().at(0).measured.lo, 0.07);
  EXPECT_EQ(session->plans().at(0).plan.at("threads"), 2);
  EXPECT_EQ(session->profiles().at(0).model_seconds, 0.5);
  EXPECT_EQ(session->options().at("seconds"), 60);
  EXPECT_EQ(session->state().at("head"), 7);
  EXPECT_EQ(session->identity().model, "builtin:gpt2-mini");
}

TEST_F(SessionFile, ARowIsReplacedByItsId) {
  const auto session = Session::create(path_, identity());
  Commit c;
  c.experiments = {experiment(1)};
  session->commit(c);
  c.experiments[0].outcome = Outcome::kKept;
  session->commit(c);
  EXPECT_EQ(session->experiments().size(), 1u);
  EXPECT_EQ(Session::open(path_, Session::Access::kRead)->experiments().at(0).outcome, Outcome::kKept);
}

TEST_F(SessionFile, BytesThatAreNoTextDoNotBreakIt) {
  {
    const auto session = Session::create(path_, identity());
    Commit c;
    c.experiments = {experiment(1)};
    c.experiments[0].reason = "error: \xff\xfe";
    session->commit(c);
  }
  EXPECT_EQ(open_code(), 0) << message_;
}

TEST_F(SessionFile, KilledBetweenCommitsOrInsideOneKeepsWholeCommits) {
  make(3);
  for (int delay_us : {0, 300, 1000, 3000, 9000, 20000}) {
    const size_t before = Session::open(path_, Session::Access::kRead)->experiments().size();
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
      const auto session = Session::open(path_, Session::Access::kWrite);
      if (write(ready[1], "x", 1) != 1) _exit(1);
      for (int64_t id = static_cast<int64_t>(before) + 1;; id += 2) {
        Commit c;  // two rows and the state: all or nothing
        c.experiments = {experiment(id), experiment(id + 1)};
        c.state = Json{{"head", id + 1}};
        session->commit(c);
      }
    }
    char x;
    ASSERT_EQ(read(ready[0], &x, 1), 1);
    usleep(static_cast<useconds_t>(delay_us));
    kill(child, SIGKILL);
    int status;
    waitpid(child, &status, 0);
    close(ready[0]);
    close(ready[1]);
    EXPECT_TRUE(WIFSIGNALED(status));

    ASSERT_EQ(open_code(), 0) << message_;  // also: the dead writer's lock is gone
    const auto session = Session::open(path_, Session::Access::kWrite);
    const std::vector<Experiment> rows = session->experiments();
    EXPECT_GE(rows.size(), before);
    EXPECT_EQ((rows.size() - before) % 2, 0u) << "half a commit";
    EXPECT_EQ(session->state().at("head").get<size_t>(), rows.size());
  }
}

TEST_F(SessionFile, ASecondWriterIsTurnedAwayAndAReaderIsNot) {
  make(1);
  const auto writer = Session::open(path_, Session::Access::kWrite);
  EXPECT_EQ(open_code(), 8);
  EXPECT_NE(message_.find(std::to_string(getpid())), std::string::npos) << message_;
  EXPECT_EQ(Session::open(path_, Session::Access::kRead)->experiments().size(), 1u);
  Commit c;
  c.experiments = {experiment(2)};
  writer->commit(c);
  EXPECT_EQ(Session::open(path_, Session::Access::kRead)->experiments().size(), 2u);
}

TEST_F(SessionFile, TheLockFileGoesWithTheWriter) {
  make(1);
  EXPECT_FALSE(fs::exists(path_ + "-lock"));
}

TEST_F(SessionFile, MissingFileSaysHowToStartOne) {
  EXPECT_EQ(open_code(), 11);
  EXPECT_NE(message_.find("amdahl tune"), std::string::npos) << message_;
}

TEST_F(SessionFile, AnExistingFileIsNotOverwritten) {
  make(2);
  EXPECT_THROW(Session::create(path_, identity()), Error);
  EXPECT_EQ(Session::open(path_, Session::Access::kRead)->experiments().size(), 2u);
}

TEST_F(SessionFile, OtherFilesAreNotSessions) {
  std::ofstream(path_) << "hello, this is not a database at all, whatever its name says\n";
  EXPECT_EQ(open_code(), 9) << message_;
  std::ofstream(path_, std::ios::trunc).flush();
  EXPECT_EQ(open_code(), 9) << message_;
  fs::remove(path_);
  Database(path_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE).execute("CREATE TABLE other(x)");
  EXPECT_EQ(open_code(), 9) << message_;
}

TEST_F(SessionFile, TruncatedFileIsDamaged) {
  make(40);
  fs::resize_file(path_, fs::file_size(path_) / 2);
  EXPECT_EQ(open_code(), 9) << message_;
}

TEST_F(SessionFile, OverwrittenPagesAreDamaged) {
  make(40);
  {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4096);
    file << std::string(3 * 4096, '\x5a');
  }
  EXPECT_EQ(open_code(), 9) << message_;
}

TEST_F(SessionFile, OtherSchemaVersionIsNamed) {
  make(1);
  Database(path_, SQLITE_OPEN_READWRITE).execute("PRAGMA user_version = 99");
  EXPECT_EQ(open_code(), 7);
  EXPECT_NE(message_.find("99"), std::string::npos) << message_;
}

// As programs before `amdahl compare` wrote them.
TEST_F(SessionFile, OneOfTheOlderSchemaOpensAndGetsItsNewTableWithTheFirstRow) {
  make(3);
  Database(path_, SQLITE_OPEN_READWRITE).execute("DROP TABLE compared; PRAGMA user_version = 2");
  const auto version = [&] { return Database(path_, SQLITE_OPEN_READONLY).integer("PRAGMA user_version"); };
  {
    const auto session = Session::open(path_, Session::Access::kWrite);
    EXPECT_TRUE(session->compared().empty());
    Commit c;
    c.experiments = {experiment(4)};
    session->commit(c);
    EXPECT_EQ(version(), 2) << "the program that made it can still read it";
    ComparedArm row;
    row.id = row.comparison = 1;
    row.arm = "tuned";
    c = {};
    c.compared = {row};
    session->commit(c);
  }
  EXPECT_EQ(version(), 3);
  const auto session = Session::open(path_, Session::Access::kWrite);
  ASSERT_EQ(session->compared().size(), 1u);
  EXPECT_EQ(session->compared()[0].arm, "tuned");
  EXPECT_EQ(session->experiments().size(), 4u);
}

TEST_F(SessionFile, OneThatSaysItIsOlderThanItIsIsDamaged) {
  make(1);
  Database(path_, SQLITE_OPEN_READWRITE).execute("PRAGMA user_version = 2");
  EXPECT_EQ(open_code(), 9) << message_;
}

TEST_F(SessionFile, OtherModelOrMachineIsNamed) {
  make(1);
  const auto session = Session::open(path_, Session::Access::kWrite);
  EXPECT_NO_THROW(session->require_same("m1", "c1"));
  for (const auto& [model, machine, named] : {std::tuple{"m2", "c1", "builtin:gpt2-mini"}, std::tuple{"m1", "c2", "a machine, 2 cores"}}) {
    try {
      session->require_same(model, machine);
      ADD_FAILURE() << model << machine;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kSessionMismatch);
      EXPECT_NE(std::string(error.what()).find(named), std::string::npos) << error.what();
    }
  }
}

TEST_F(SessionFile, AFolderThatIsNotThereIsAnIoError) {
  try {
    Session::create(dir_ / "none" / "s.amdahl", identity());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kIo) << error.what();
  }
}

// 40 MiB of address space ended in "a bug of ours" where SQLite was what ran out.
TEST_F(SessionFile, OutOfMemoryIsAnIoErrorAndKeepsWhatWasThere) {
  make(2);
  Database database(path_, SQLITE_OPEN_READWRITE);
  const int64_t limit = sqlite3_hard_heap_limit64(sqlite3_memory_used() + 1);
  try {
    database.text("SELECT hex(zeroblob(1000000))");
    ADD_FAILURE() << "there was memory";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kIo) << error.what();
    EXPECT_NE(std::string(error.what()).find("out of memory"), std::string::npos) << error.what();
  }
  sqlite3_hard_heap_limit64(limit);
  EXPECT_EQ(database.text("PRAGMA integrity_check"), "ok");
}

TEST_F(SessionFile, AFullDiskIsAnIoErrorAndKeepsWhatWasThere) {
  make(2);
  {
    Database limited(path_, SQLITE_OPEN_READWRITE);
    const int64_t pages = limited.integer("PRAGMA page_count");
    limited.execute("PRAGMA max_page_count = " + std::to_string(pages));
    try {
      Transaction transaction(limited);
      for (int i = 0; i < 1000; ++i) Statement(limited, "INSERT INTO plans VALUES(?, ?, 0)").bind(1, int64_t{i}).bind(2, std::string(5000, 'x')).run();
      transaction.commit();
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kIo) << error.what();
      EXPECT_NE(std::string(error.what()).find("INSERT INTO plans"), std::string::npos) << "the SQL is quoted";
    }
  }
  ASSERT_EQ(open_code(), 0) << message_;
  EXPECT_EQ(Session::open(path_, Session::Access::kRead)->experiments().size(), 2u);
}

TEST_F(SessionFile, ThrowingThroughATransactionRollsBack) {
  make(1);
  Database database(path_, SQLITE_OPEN_READWRITE);
  try {
    Transaction transaction(database);
    database.execute("DELETE FROM experiments");
    throw std::runtime_error("on the way");
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(database.integer("SELECT count(*) FROM experiments"), 1);
}

TEST_F(SessionFile, UnfinishedStatementsDoNotKeepTheDatabaseOpen) {
  make(1);
  {
    Database database(path_, SQLITE_OPEN_READWRITE);
    Statement select(database, "SELECT id FROM experiments");
    EXPECT_TRUE(select.step());
  }
  EXPECT_EQ(open_code(), 0) << message_;
}

TEST_F(SessionFile, SourcesOfTriedKernelsAreKept) {
  Variant variant;
  variant.problem.kind = "pointwise";
  variant.source_override = "/* an edited kernel */";
  Json step = Json::object();
  step["variant"] = variant;
  const auto session = Session::create(path_, identity());
  Commit c;
  c.experiments = {experiment(1)};
  c.experiments[0].replacement = Json::array({step});
  session->commit(c);
  EXPECT_EQ(session->source(variant.id()), "/* an edited kernel */");
  EXPECT_EQ(session->source("no such kernel"), "");
}

}  // namespace
}  // namespace amdahl

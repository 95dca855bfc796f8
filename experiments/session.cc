#include "experiments/session.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <fstream>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "experiments/sqlite.h"
#include "starter_kernels/kernel_kind.h"

namespace amdahl {
namespace {

constexpr int64_t kApplicationId = 0x416d646c;  // "Amdl", in the file's header: says whose database it is

constexpr const char* kSchema = R"(
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE plans(id INTEGER PRIMARY KEY, document TEXT NOT NULL);
CREATE TABLE experiments(
  id INTEGER PRIMARY KEY, rewrite TEXT NOT NULL, tier INTEGER NOT NULL, window TEXT NOT NULL, outcome TEXT NOT NULL,
  stage TEXT NOT NULL, reason TEXT NOT NULL, gain_log REAL NOT NULL, seconds REAL NOT NULL, candidate TEXT NOT NULL,
  document TEXT NOT NULL);
CREATE TABLE ledger(id INTEGER PRIMARY KEY, document TEXT NOT NULL);
CREATE TABLE profiles(id INTEGER PRIMARY KEY, document TEXT NOT NULL);
CREATE TABLE variants(id TEXT PRIMARY KEY, kind TEXT NOT NULL, source TEXT NOT NULL) WITHOUT ROWID;
)";

// A source that its own kind refuses to write has nothing to keep: the experiment says so as its outcome.
std::string source_of(const Variant& variant) {
  if (!variant.source_override.empty()) return variant.source_override;
  try {
    return kernel_kind(variant.problem.kind).source(variant);
  } catch (const std::exception&) {
    return "";
  }
}

// A compiler's message may hold bytes that are not UTF-8: replaced, not refused.
std::string text_of(const Json& document) { return document.dump(-1, ' ', false, Json::error_handler_t::replace); }

template <typename Row>
std::vector<Row> read_documents(Database& database, const char* table) {
  std::vector<Row> rows;
  Statement select(database, fmt::format("SELECT document FROM {} ORDER BY id", table));
  while (select.step()) rows.push_back(Json::parse(select.text(0)).get<Row>());
  return rows;
}

}  // namespace

void to_json(Json& j, const SessionIdentity& s) {
  j = Json{{"model", s.model}, {"model_fingerprint", s.model_fingerprint}, {"machine", s.machine},
           {"machine_fingerprint", s.machine_fingerprint}, {"load", s.load}, {"toolchain", s.toolchain},
           {"created_at", s.created_at}};
}
void from_json(const Json& j, SessionIdentity& s) {
  s.model = j.at("model");
  s.model_fingerprint = j.at("model_fingerprint");
  s.machine = j.at("machine");
  s.machine_fingerprint = j.at("machine_fingerprint");
  s.load = j.at("load");
  s.toolchain = j.at("toolchain");
  s.created_at = j.at("created_at");
}

// The right to write. The lock is on a file of its own: SQLite's locks on the database are lost when the process closes any
// other descriptor of it.
class Session::Lock {
 public:
  explicit Lock(const std::string& session) : path_(session + "-lock") {
    for (;;) {
      fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
      if (fd_ < 0)
        throw Error(ExitCode::kIo, fmt::format("cannot write {}: {}; check that the folder exists and is writable", path_,
                                               std::strerror(errno)));
      if (flock(fd_, LOCK_EX | LOCK_NB) != 0) {
        char pid[32] = {};
        if (pread(fd_, pid, sizeof pid - 1, 0) <= 0) std::strcpy(pid, "?");
        ::close(fd_);
        throw Error(ExitCode::kSessionBusy,
                    fmt::format("process {} is writing {}: wait for it, or stop it with kill {}", pid, session, pid));
      }
      // Whoever held it before may have removed the file between our open and our lock.
      struct stat ours {}, there {};
      if (fstat(fd_, &ours) == 0 && stat(path_.c_str(), &there) == 0 && ours.st_ino == there.st_ino) break;
      ::close(fd_);
    }
    const std::string pid = std::to_string(getpid());
    if (ftruncate(fd_, 0) != 0 || pwrite(fd_, pid.data(), pid.size(), 0) < 0) {
      // Only the message for a second writer gets poorer.
    }
  }
  ~Lock() {
    unlink(path_.c_str());
    ::close(fd_);
  }
  Lock(const Lock&) = delete;

 private:
  std::string path_;
  int fd_;
};

class Session::Tables {
 public:
  Tables(const std::string& path, int flags) : database(path, flags) {}

  void write(const Commit& commit) {
    Transaction transaction(database);
    for (const Experiment& e : commit.experiments) write(e);
    for (const LedgerEntry& row : commit.ledger) write("ledger", row.id, row);
    for (const PlanRecord& row : commit.plans) write("plans", row.id, row);
    for (const ProfileRecord& row : commit.profiles) write("profiles", row.id, row);
    if (commit.options) write_meta("options", text_of(*commit.options));
    if (commit.state) write_meta("state", text_of(*commit.state));
    if (commit.headline) write_meta("headline", text_of(*commit.headline));
    transaction.commit();
  }

  void write_meta(std::string_view key, std::string_view value) {
    Statement(database, "INSERT OR REPLACE INTO meta VALUES(?, ?)").bind(1, key).bind(2, value).run();
  }
  std::string meta(std::string_view key) {
    Statement select(database, "SELECT value FROM meta WHERE key = ?");
    return select.bind(1, key).step() ? select.text(0) : "";
  }

  Database database;

 private:
  void write(const char* table, int64_t id, const Json& document) {
    Statement(database, fmt::format("INSERT OR REPLACE INTO {} VALUES(?, ?)", table)).bind(1, id).bind(2, text_of(document)).run();
  }

  void write(const Experiment& e) {
    Statement(database, "INSERT OR REPLACE INTO experiments VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        .bind(1, e.id).bind(2, e.rewrite).bind(3, int64_t{e.tier}).bind(4, e.window).bind(5, name_of(e.outcome))
        .bind(6, e.stage).bind(7, e.reason).bind(8, e.gain.log).bind(9, e.seconds.total()).bind(10, e.candidate)
        .bind(11, text_of(e))
        .run();
    if (!e.replacement.is_array()) return;
    Statement known(database, "SELECT 1 FROM variants WHERE id = ?");
    for (const Json& step : e.replacement) {
      const Variant variant = step.at("variant").get<Variant>();
      const std::string id = variant.id();
      const bool there = known.bind(1, id).step();
      known.run();
      if (there) continue;
      Statement(database, "INSERT OR IGNORE INTO variants VALUES(?, ?, ?)")
          .bind(1, id).bind(2, variant.problem.kind).bind(3, source_of(variant)).run();
    }
  }
};

Session::Session() = default;
Session::~Session() = default;

std::unique_ptr<Session> Session::create(const std::string& path, const SessionIdentity& identity) {
  std::unique_ptr<Session> session(new Session);
  session->path_ = path;
  session->identity_ = identity;
  session->lock_ = std::make_unique<Lock>(path);
  if (std::filesystem::exists(path))
    throw Error(ExitCode::kUsage, fmt::format("{} exists: go on with `amdahl resume {}`, or name another --session", path, path));
  session->tables_ = std::make_unique<Tables>(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  Database& database = session->tables_->database;
  database.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
  // One transaction: a kill leaves an empty file (which `open` names as such) or a whole session.
  Transaction transaction(database);
  database.execute(kSchema);
  database.execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {};", kApplicationId, kSchemaVersion));
  session->tables_->write_meta("identity", Json(identity).dump());
  transaction.commit();
  return session;
}

std::unique_ptr<Session> Session::open(const std::string& path, Access access) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    throw Error(ExitCode::kIo, fmt::format("no session {}: `amdahl tune MODEL --session {}` starts one", path, path));
  if (::access(path.c_str(), R_OK) != 0)
    throw Error(ExitCode::kIo, fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  if (access == Access::kWrite && ::access(path.c_str(), W_OK) != 0)
    throw Error(ExitCode::kIo, fmt::format("cannot write {}: {}", path, std::strerror(errno)));

  std::unique_ptr<Session> session(new Session);
  session->path_ = path;
  if (access == Access::kWrite) session->lock_ = std::make_unique<Lock>(path);
  // A reader, too, may have to recover the log that a killed writer left, and so opens for writing where it can.
  session->tables_ = std::make_unique<Tables>(path, ::access(path.c_str(), W_OK) == 0 ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY);
  Database& database = session->tables_->database;
  if (database.integer("PRAGMA application_id") != kApplicationId)
    throw Error(ExitCode::kSessionDamaged, fmt::format("{} is not an Amdahl session (or was cut off while it was created): "
                                                       "`amdahl tune MODEL --session FILE` starts one", path));
  const int64_t version = database.integer("PRAGMA user_version");
  if (version != kSchemaVersion)
    throw Error(ExitCode::kSessionMismatch,
                fmt::format("{} has schema version {}, this program reads {}: use the program that wrote it, or start a new session",
                            path, version, kSchemaVersion));
  std::string check = database.text("PRAGMA quick_check(1)");
  std::replace(check.begin(), check.end(), '\n', ' ');
  if (check != "ok")
    throw Error(ExitCode::kSessionDamaged,
                fmt::format("{} is damaged ({}): restore a copy, or start a new session with tune", path, check));
  database.execute("PRAGMA synchronous = FULL");
  try {
    session->identity_ = Json::parse(session->tables_->meta("identity")).get<SessionIdentity>();
    Commit all;
    all.experiments = read_documents<Experiment>(database, "experiments");
    all.ledger = read_documents<LedgerEntry>(database, "ledger");
    all.plans = read_documents<PlanRecord>(database, "plans");
    all.profiles = read_documents<ProfileRecord>(database, "profiles");
    if (const std::string options = session->tables_->meta("options"); !options.empty()) all.options = Json::parse(options);
    if (const std::string state = session->tables_->meta("state"); !state.empty()) all.state = Json::parse(state);
    if (const std::string headline = session->tables_->meta("headline"); !headline.empty())
      all.headline = Json::parse(headline).get<Headline>();
    session->rows_.commit(all);
  } catch (const nlohmann::json::exception& error) {
    throw Error(ExitCode::kSessionDamaged, fmt::format("{} is damaged ({}): restore a copy, or start a new session with tune",
                                                       path, error.what()));
  }
  return session;
}

void Session::require_same(const std::string& model_fingerprint, const std::string& machine_fingerprint) const {
  if (model_fingerprint != identity_.model_fingerprint)
    throw Error(ExitCode::kSessionMismatch,
                fmt::format("{} was made for another version of {} (or other shapes): give it that model, or start a new session",
                            path_, identity_.model));
  if (machine_fingerprint != identity_.machine_fingerprint)
    throw Error(ExitCode::kSessionMismatch,
                fmt::format("{} was made on another machine ({}): its timings do not hold here; start a new session", path_,
                            identity_.machine));
}

void Session::commit(const Commit& commit) {
  if (!lock_) throw Error(ExitCode::kInternal, "a session opened for reading cannot be written");
  tables_->write(commit);
  rows_.commit(commit);
}

std::string Session::source(const std::string& variant_id) const {
  Statement select(tables_->database, "SELECT source FROM variants WHERE id = ?");
  return select.bind(1, variant_id).step() ? select.text(0) : "";
}

bool Session::is_session(const std::string& path) {
  static constexpr char kMagic[] = "SQLite format 3";  // 16 bytes with the terminating zero
  char head[sizeof kMagic] = {};
  std::ifstream in(path, std::ios::binary);
  return in.read(head, sizeof head) && std::memcmp(head, kMagic, sizeof kMagic) == 0;
}

}  // namespace amdahl

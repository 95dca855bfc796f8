#include "experiments/session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/counted.h"
#include "base/error.h"
#include "base/shell_word.h"
#include "experiments/sqlite.h"
#include "starter_kernels/kinds/kernel_kind.h"

namespace amdahl {
namespace {

constexpr int64_t kApplicationId = 0x416d646c;  // "Amdl", in the file's header: says whose database it is

// The first column is the key, the last one a checksum of the name of the table and the others.
struct Table {
  const char* name;
  std::vector<std::string> columns;
  const char* definition;
  int64_t since = Session::kOldestSchemaVersion;  // of the schema
};
const std::vector<Table> kTables{
    {"meta", {"key", "value"}, "key TEXT PRIMARY KEY, value TEXT NOT NULL, checksum INTEGER NOT NULL) WITHOUT ROWID"},
    {"plans", {"id", "document"}, "id INTEGER PRIMARY KEY, document TEXT NOT NULL, checksum INTEGER NOT NULL)"},
    {"experiments",
     {"id", "rewrite", "tier", "window", "outcome", "stage", "reason", "gain_log", "seconds", "candidate", "document"},
     "id INTEGER PRIMARY KEY, rewrite TEXT NOT NULL, tier INTEGER NOT NULL, window TEXT NOT NULL, outcome TEXT NOT NULL, "
     "stage TEXT NOT NULL, reason TEXT NOT NULL, gain_log REAL NOT NULL, seconds REAL NOT NULL, candidate TEXT NOT NULL, "
     "document TEXT NOT NULL, checksum INTEGER NOT NULL)"},
    {"ledger", {"id", "document"}, "id INTEGER PRIMARY KEY, document TEXT NOT NULL, checksum INTEGER NOT NULL)"},
    {"profiles", {"id", "document"}, "id INTEGER PRIMARY KEY, document TEXT NOT NULL, checksum INTEGER NOT NULL)"},
    {"variants", {"id", "kind", "source"}, "id TEXT PRIMARY KEY, kind TEXT NOT NULL, source TEXT NOT NULL, checksum INTEGER NOT NULL) WITHOUT ROWID"},
    {"compared", {"id", "document"}, "id INTEGER PRIMARY KEY, document TEXT NOT NULL, checksum INTEGER NOT NULL)", 3},
};
constexpr const char* kTallyTable = "CREATE TABLE tally(id INTEGER PRIMARY KEY, commits INTEGER NOT NULL, rows INTEGER NOT NULL, sum INTEGER NOT NULL)";

std::string create_table(const Table& table) { return fmt::format("CREATE TABLE {}({}", table.name, table.definition); }
const Table& table_of(std::string_view name) {
  return *std::find_if(kTables.begin(), kTables.end(), [&](const Table& t) { return name == t.name; });
}

Error damaged(const std::string& path, const std::string& what) {
  return Error(ExitCode::kSessionDamaged, fmt::format("{} is damaged ({}): restore a copy, or start a new session with tune", path, what));
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
  j = Json{{"model", s.model},
           {"model_from_session", s.model_from_session},
           {"model_fingerprint", s.model_fingerprint},
           {"backend", s.backend},
           {"machine", s.machine},
           {"machine_fingerprint", s.machine_fingerprint},
           {"load", s.load},
           {"toolchain", s.toolchain},
           {"created_at", s.created_at}};
  for (const Bucket& b : s.buckets) j["buckets"].push_back({{"name", b.name}, {"first_value", b.first_value}});
}
void from_json(const Json& j, SessionIdentity& s) {
  s.model = j.at("model");
  s.model_from_session = j.value("model_from_session", "");
  s.model_fingerprint = j.at("model_fingerprint");
  s.backend = j.value("backend", "cpu");
  s.machine = j.at("machine");
  s.machine_fingerprint = j.at("machine_fingerprint");
  s.load = j.at("load");
  s.toolchain = j.at("toolchain");
  s.created_at = j.at("created_at");
  for (const Json& b : j.value("buckets", Json::array())) s.buckets.push_back({b.at("name"), b.at("first_value")});
}

class Session::Tables {
 public:
  Tables(const std::string& path, int flags) : database(path, flags) {}

  void create(const SessionIdentity& identity) {
    for (const Table& table : kTables) database.execute(create_table(table));
    database.execute(kTallyTable);
    database.execute(fmt::format("PRAGMA application_id = {};", kApplicationId));
    set_version(kSchemaVersion);
    put("meta", "identity", Json(identity).dump());
    write_tally();
  }

  void write(const Commit& commit) {
    write_whole([&] {
      for (const Experiment& e : commit.experiments) write(e, commit.texts);
      for (const LedgerEntry& row : commit.ledger) put("ledger", row.id, text_of(row));
      for (const PlanRecord& row : commit.plans) put("plans", row.id, text_of(row));
      for (const ProfileRecord& row : commit.profiles) put("profiles", row.id, text_of(row));
      if (!commit.compared.empty() && version() < kSchemaVersion) add_tables();
      for (const ComparedArm& row : commit.compared) put("compared", row.id, text_of(row));
      if (commit.options) put("meta", "options", text_of(*commit.options));
      if (commit.state) put("meta", "state", text_of(*commit.state));
      if (commit.headline) put("meta", "headline", text_of(*commit.headline));
    });
  }
  void write(const SessionIdentity& identity) {
    write_whole([&] { put("meta", "identity", Json(identity).dump()); });
  }

  // All that `rows` puts, or nothing.
  template <typename Rows>
  void write_whole(const Rows& rows) {
    const SessionTally before = tally;
    try {
      Transaction transaction(database);
      rows();
      write_tally();
      transaction.commit();
    } catch (...) {
      tally = before;
      throw;
    }
  }

  int64_t version() { return database.integer("PRAGMA user_version"); }

  std::string meta(std::string_view key) {
    Statement select(database, "SELECT value FROM meta WHERE key = ?");
    return select.bind(1, key).step() ? select.text(0) : "";
  }

  // Throws Error(kSessionDamaged) that names the first row which is not what was written.
  void verify() {
    const auto is_there = [&](const char* name, const std::string& definition) {
      return database.text(fmt::format("SELECT sql FROM sqlite_schema WHERE name = '{}'", name)) == definition;
    };
    if (!is_there("tally", kTallyTable)) throw damaged(database.path(), "its tables are not those of a session");
    const int64_t schema = version();
    for (const Table& table : kTables)
      if (!is_there(table.name, table.since <= schema ? create_table(table) : "")) throw damaged(database.path(), "its tables are not those of a session");
    SessionTally found;
    for (const Table& table : kTables) {
      if (table.since > schema) continue;
      Statement select(database, fmt::format("SELECT {}, checksum, {} FROM {}", table.columns[0], checksum_of(table), table.name));
      while (select.step()) {
        if (select.integer(1) != select.integer(2))
          throw damaged(database.path(), fmt::format("the checksum of {} {} is wrong", table.name, printable(select.text(0))));
        ++found.rows;
        found.sum += static_cast<uint64_t>(select.integer(1));
      }
    }
    Statement select(database, "SELECT commits, rows, sum FROM tally");
    if (!select.step()) throw damaged(database.path(), "its tally is gone");
    tally = {select.integer(0), select.integer(1), static_cast<uint64_t>(select.integer(2))};
    if (found.rows != tally.rows) throw damaged(database.path(), fmt::format("{} written, {} there", counted(tally.rows, "row was", "rows were"), found.rows));
    found.commits = tally.commits;
    if (!(found == tally)) throw damaged(database.path(), "its rows are not those that were written");
  }

  Database database;
  SessionTally tally;

 private:
  static std::string checksum_of(const Table& table) { return fmt::format("checksum('{}', {})", table.name, fmt::join(table.columns, ", ")); }
  static std::string printable(std::string text) {
    for (char& c : text)
      if (static_cast<unsigned char>(c) < 32 || static_cast<unsigned char>(c) > 126) c = '?';
    return text.substr(0, 40);
  }

  void set_version(int64_t version) { database.execute(fmt::format("PRAGMA user_version = {};", version)); }
  // Of an older schema: what it lacks.
  void add_tables() {
    for (const Table& table : kTables)
      if (table.since > version()) database.execute(create_table(table));
    set_version(kSchemaVersion);
  }

  // Inserts or replaces the row of this key, with its checksum, and counts it.
  template <typename Key, typename... Values>
  void put(const char* name, const Key& key, const Values&... values) {
    const Table& table = table_of(name);
    Statement old(database, fmt::format("SELECT checksum FROM {} WHERE {} = ?", name, table.columns[0]));
    old.bind(1, key);
    if (old.step()) {
      tally.sum -= static_cast<uint64_t>(old.integer(0));
      --tally.rows;
      old.run();
    }
    std::vector<std::string> places;
    for (size_t i = 1; i <= table.columns.size(); ++i) places.push_back(fmt::format("?{}", i));
    const std::string all = fmt::format("{}", fmt::join(places, ", "));
    Statement insert(database, fmt::format("INSERT OR REPLACE INTO {0} VALUES({1}, checksum('{0}', {1})) RETURNING checksum", name, all));
    insert.bind(1, key);
    int number = 1;
    (insert.bind(++number, values), ...);
    insert.step();
    tally.sum += static_cast<uint64_t>(insert.integer(0));
    ++tally.rows;
    insert.run();
  }

  void write_tally() {
    ++tally.commits;
    Statement(database, "INSERT OR REPLACE INTO tally VALUES(1, ?, ?, ?)")
        .bind(1, tally.commits)
        .bind(2, tally.rows)
        .bind(3, static_cast<int64_t>(tally.sum))
        .run();
  }

  void write(const Experiment& e, const std::map<std::string, std::string>& texts) {
    put("experiments", e.id, e.rewrite, int64_t{e.tier}, e.window, name_of(e.outcome), e.stage, e.reason, e.gain.log, e.seconds.total(), e.candidate,
        text_of(e));
    if (!e.replacement.is_array()) return;
    Statement known(database, "SELECT 1 FROM variants WHERE id = ?");
    for (const Json& step : e.replacement) {
      const Variant variant = step.at("variant").get<Variant>();
      const std::string id = variant.id();
      const bool there = known.bind(1, id).step();
      known.run();
      const auto text = texts.find(id);
      if (!there) put("variants", id, variant.problem.kind, text == texts.end() ? variant.source_override : text->second);
    }
  }
};

Session::Session() = default;
Session::~Session() = default;

namespace {

// What a user may name instead of a session, and what to type then. `path` itself may be what is to be made.
void require_file(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status what = fs::status(path, error);
  if (fs::is_regular_file(what)) return;
  if (fs::is_directory(what)) {
    const std::string inside = (fs::path(path) / "NAME.amdahl").string();
    throw Error(ExitCode::kIo,
                fmt::format("{} is a folder, and a session is one file: give its name too, as in {}; `amdahl tune MODEL --session {}` starts one there", path,
                            inside, shell_word(inside)));
  }
  if (fs::exists(what))
    throw Error(ExitCode::kIo,
                fmt::format("{} is a device or the like, and a session is a file: give the name of one; `amdahl tune MODEL --session FILE` starts one", path));
  throw Error(ExitCode::kIo, fmt::format("no session {}: `amdahl tune MODEL --session {}` starts one", path, shell_word(path)));
}

// False also where the file is no database at all.
bool bears_our_mark(Database& database) {
  try {
    return database.integer("PRAGMA application_id") == kApplicationId;
  } catch (const Error& error) {
    if (error.code() != ExitCode::kSessionDamaged) throw;
    return false;
  }
}

// A reader, too, may have to recover the log that a killed writer left, and so opens for writing where it can.
int open_flags(const std::string& path) { return ::access(path.c_str(), W_OK) == 0 ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY; }

}  // namespace

std::unique_ptr<Session> Session::create(const std::string& path, const SessionIdentity& identity) {
  std::unique_ptr<Session> session(new Session);
  session->path_ = path;
  session->identity_ = identity;
  session->lock_ = std::make_unique<SessionLock>(path);
  if (std::filesystem::exists(path))
    throw Error(ExitCode::kUsage, fmt::format("{} exists: go on with `amdahl resume {}`, or name another --session", path, shell_word(path)));
  try {
    session->tables_ = std::make_unique<Tables>(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    Database& database = session->tables_->database;
    database.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
    // One transaction: a kill leaves an empty file (which `open` names as such) or a whole session.
    Transaction transaction(database);
    session->tables_->create(identity);
    transaction.commit();
    session->lock_->take_session();
  } catch (const Error&) {  // half a session would be in the way of the next try
    session->tables_.reset();
    for (const char* suffix : {"", "-wal", "-shm"}) unlink((path + suffix).c_str());
    throw;
  }
  session->lock_->write(session->tables_->tally);
  session->lock_->session_is_whole();
  return session;
}

std::unique_ptr<Session> Session::open(const std::string& path, Access access) {
  require_file(path);
  if (::access(path.c_str(), R_OK) != 0) throw Error(ExitCode::kIo, fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  if (access == Access::kWrite && ::access(path.c_str(), W_OK) != 0) throw Error(ExitCode::kIo, fmt::format("cannot write {}: {}", path, std::strerror(errno)));

  std::unique_ptr<Session> session(new Session);
  session->path_ = path;
  // Before the rows are read: a writer that is at work only ever adds to what its receipt says.
  const std::optional<SessionTally> receipt = SessionLock::receipt(path);
  if (access == Access::kWrite) session->lock_ = std::make_unique<SessionLock>(path);
  session->tables_ = std::make_unique<Tables>(path, open_flags(path));
  Database& database = session->tables_->database;
  database.keep_log(true);  // what is damaged is left as it lies
  if (!bears_our_mark(database))
    throw Error(ExitCode::kSessionDamaged,
                fmt::format("{} is not a session (or one whose beginning is damaged, or that was cut off while it was created): give a file that "
                            "`amdahl tune` wrote, or start one with `amdahl tune MODEL --session FILE`, FILE being a new name",
                            path));
  const int64_t version = session->tables_->version();
  if (version < kOldestSchemaVersion || version > kSchemaVersion)
    throw Error(ExitCode::kSessionMismatch,
                fmt::format("{} has schema version {}, this program reads {} to {}: use the program that wrote it, or start a new session", path, version,
                            kOldestSchemaVersion, kSchemaVersion));
  try {
    session->read();
  } catch (const nlohmann::json::exception& error) {
    throw damaged(path, error.what());
  } catch (const Error& error) {
    if (error.code() != ExitCode::kInternal) throw;
    throw damaged(path, error.what());  // our own SQL does not fit its tables
  }
  const SessionTally& tally = session->tables_->tally;
  if (receipt && (tally.commits < receipt->commits || (tally.commits == receipt->commits && !(tally == *receipt))))
    throw Error(ExitCode::kSessionDamaged,
                fmt::format("{0} is damaged ({1} commits were made, {2} can be read: its log {0}-wal is cut off, changed or gone): restore a "
                            "copy of all of {0}*, or remove {3} to go on with what can be read",
                            path, receipt->commits, tally.commits, SessionLock::file(path)));
  if (database.header_forbids_writing()) throw damaged(path, "its header names a format that cannot be written");
  if (access == Access::kWrite) database.execute("PRAGMA synchronous = FULL");
  if (session->lock_) {
    session->lock_->write(tally);
    session->lock_->session_is_whole();
  }
  database.keep_log(false);
  return session;
}

void Session::read() {
  Database& database = tables_->database;
  database.execute("PRAGMA cell_size_check = ON");
  Transaction moment(database, Transaction::Kind::kRead);
  std::string check = database.text("PRAGMA quick_check(1)");
  std::replace(check.begin(), check.end(), '\n', ' ');
  if (check != "ok") throw damaged(path_, check);
  tables_->verify();
  identity_ = Json::parse(tables_->meta("identity")).get<SessionIdentity>();
  Commit all;
  all.experiments = read_documents<Experiment>(database, "experiments");
  all.ledger = read_documents<LedgerEntry>(database, "ledger");
  all.plans = read_documents<PlanRecord>(database, "plans");
  all.profiles = read_documents<ProfileRecord>(database, "profiles");
  if (tables_->version() >= kSchemaVersion) all.compared = read_documents<ComparedArm>(database, "compared");
  if (const std::string options = tables_->meta("options"); !options.empty()) all.options = Json::parse(options);
  if (const std::string state = tables_->meta("state"); !state.empty()) all.state = Json::parse(state);
  if (const std::string headline = tables_->meta("headline"); !headline.empty()) all.headline = Json::parse(headline).get<Headline>();
  rows_.commit(all);
}

void Session::require_same(const std::string& model_fingerprint, const std::string& machine_fingerprint) const {
  if (model_fingerprint != identity_.model_fingerprint)
    throw Error(ExitCode::kSessionMismatch,
                fmt::format("{} was made for another version of {} (or other shapes): give it that model, or start a new session", path_, identity_.model));
  if (machine_fingerprint != identity_.machine_fingerprint)
    throw Error(ExitCode::kSessionMismatch,
                fmt::format("{} was made on another machine ({}): its timings do not hold here; start a new session", path_, identity_.machine));
}

template <typename What>
void Session::write(const What& what) {
  if (!lock_) throw Error(ExitCode::kInternal, "a session opened for reading cannot be written");
  tables_->write(what);
  lock_->write(tables_->tally);
  lock_->require_in_place();
}

void Session::commit(const Commit& commit) {
  write(commit);
  rows_.commit(commit);
}

void Session::set_identity(const SessionIdentity& identity) {
  write(identity);
  identity_ = identity;
}

void Session::require_in_place() const {
  if (lock_) lock_->require_in_place();
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

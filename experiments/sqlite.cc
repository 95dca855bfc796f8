#include "experiments/sqlite.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "base/hash.h"

namespace amdahl {
namespace {

std::string shortened(std::string_view sql) { return sql.size() <= 120 ? std::string(sql) : std::string(sql.substr(0, 117)) + "..."; }

void checksum(sqlite3_context* context, int count, sqlite3_value** values) {
  std::string bytes;
  const auto add = [&bytes](const void* data, size_t size) { bytes.append(static_cast<const char*>(data), size); };
  for (int i = 0; i < count; ++i) {
    const int type = sqlite3_value_type(values[i]);
    bytes += static_cast<char>(type);
    if (type == SQLITE_INTEGER) {
      const int64_t value = sqlite3_value_int64(values[i]);
      add(&value, sizeof value);
    } else if (type == SQLITE_FLOAT) {
      const double value = sqlite3_value_double(values[i]);
      add(&value, sizeof value);
    } else if (type != SQLITE_NULL) {
      const void* data = sqlite3_value_blob(values[i]);  // of a text: its bytes as stored
      const auto size = static_cast<int64_t>(sqlite3_value_bytes(values[i]));
      add(&size, sizeof size);
      if (size > 0) add(data, static_cast<size_t>(size));
    }
  }
  sqlite3_result_int64(context, static_cast<int64_t>(hash64(bytes)));
}

}  // namespace

void throw_sqlite(const Database& database, std::string_view sql) {
  const int code = sqlite3_errcode(database.handle());
  const std::string what = fmt::format("{}: {} (in: {})", database.path(), sqlite3_errmsg(database.handle()), shortened(sql));
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED: throw Error(ExitCode::kSessionBusy, what + "; another process uses this session: wait for it or stop it");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: throw Error(ExitCode::kSessionDamaged, what + "; the session is damaged: restore a copy, or start a new one with tune");
    case SQLITE_FULL: throw Error(ExitCode::kIo, what + "; free some space, then go on with resume: all finished experiments are kept");
    case SQLITE_NOMEM: throw Error(ExitCode::kIo, what + "; close other programs, then go on with resume: all finished experiments are kept");
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH: throw Error(ExitCode::kIo, what + "; check that the folder exists, is writable and has space");
    default: throw Error(ExitCode::kInternal, what);
  }
}

// Where nothing can be written, and no log waits to be read, the file is all there is: SQLite would else want to make its log.
std::string name_to_open(const std::string& path, int& flags) {
  const std::string slash = path.find('/') == std::string::npos ? "./" : path.substr(0, path.rfind('/') + 1);
  if (!(flags & SQLITE_OPEN_READONLY) || access(slash.c_str(), W_OK) == 0 || access((path + "-wal").c_str(), F_OK) == 0) return path;
  std::string uri = "file:";
  for (const char c : path) uri += c == '?' || c == '#' || c == '%' ? fmt::format("%{:02x}", static_cast<unsigned char>(c)) : std::string(1, c);
  flags |= SQLITE_OPEN_URI;
  return uri + "?immutable=1";
}

Database::Database(const std::string& path, int flags) : path_(path) {
  const std::string name = name_to_open(path, flags);
  if (sqlite3_open_v2(name.c_str(), &handle_, flags, nullptr) != SQLITE_OK) {
    const std::string why = handle_ ? sqlite3_errmsg(handle_) : "out of memory";
    sqlite3_close_v2(handle_);
    throw Error(ExitCode::kIo, fmt::format("cannot open {}: {}; check that the folder exists and is writable", path, why));
  }
  sqlite3_busy_timeout(handle_, 5000);  // a reader may hold up a checkpoint for a moment
  sqlite3_create_function_v2(handle_, "checksum", -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, nullptr, checksum, nullptr, nullptr, nullptr);
}

Database::~Database() { sqlite3_close_v2(handle_); }

void Database::execute(const std::string& sql) {
  if (sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) throw_sqlite(*this, sql);
}

void Database::keep_log(bool keep) { sqlite3_db_config(handle_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keep ? 1 : 0, nullptr); }

bool Database::header_forbids_writing() const { return access(path_.c_str(), W_OK) == 0 && sqlite3_db_readonly(handle_, "main") == 1; }

int64_t Database::integer(const std::string& sql) {
  Statement statement(*this, sql);
  return statement.step() ? statement.integer(0) : 0;
}

std::string Database::text(const std::string& sql) {
  Statement statement(*this, sql);
  return statement.step() ? statement.text(0) : "";
}

Statement::Statement(Database& database, std::string_view sql) : database_(database), sql_(sql) {
  if (sqlite3_prepare_v2(database.handle(), sql_.c_str(), -1, &handle_, nullptr) != SQLITE_OK) throw_sqlite(database, sql);
}

Statement::~Statement() { sqlite3_finalize(handle_); }

Statement& Statement::bind(int number, int64_t value) {
  if (sqlite3_bind_int64(handle_, number, value) != SQLITE_OK) throw_sqlite(database_, sql_);
  return *this;
}
Statement& Statement::bind(int number, double value) {
  if (sqlite3_bind_double(handle_, number, value) != SQLITE_OK) throw_sqlite(database_, sql_);
  return *this;
}
Statement& Statement::bind(int number, std::string_view value) {
  if (sqlite3_bind_text64(handle_, number, value.data(), value.size(), SQLITE_TRANSIENT, SQLITE_UTF8) != SQLITE_OK) throw_sqlite(database_, sql_);
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(handle_);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) throw_sqlite(database_, sql_);
  return false;
}

void Statement::run() {
  while (step()) {
  }
  sqlite3_reset(handle_);
}

std::string Statement::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(handle_, column));
  return bytes ? std::string(bytes, static_cast<size_t>(sqlite3_column_bytes(handle_, column))) : "";
}

void Transaction::commit() {
  database_.execute("COMMIT");
  open_ = false;
}

Transaction::~Transaction() {
  // After a full disk SQLite may have rolled back by itself: then there is nothing to do.
  if (open_) sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

}  // namespace amdahl

#include "experiments/sqlite.h"

#include <fmt/format.h>

#include "base/error.h"

namespace amdahl {
namespace {

std::string shortened(std::string_view sql) {
  return sql.size() <= 120 ? std::string(sql) : std::string(sql.substr(0, 117)) + "...";
}

}  // namespace

void throw_sqlite(const Database& database, std::string_view sql) {
  const int code = sqlite3_errcode(database.handle());
  const std::string what = fmt::format("{}: {} (in: {})", database.path(), sqlite3_errmsg(database.handle()), shortened(sql));
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw Error(ExitCode::kSessionBusy, what + "; another process uses this session: wait for it or stop it");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      throw Error(ExitCode::kSessionDamaged, what + "; the session is damaged: restore a copy, or start a new one with tune");
    case SQLITE_FULL:
      throw Error(ExitCode::kIo, what + "; free some space, then go on with resume: all finished experiments are kept");
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      throw Error(ExitCode::kIo, what + "; check that the folder exists, is writable and has space");
    default:
      throw Error(ExitCode::kInternal, what);
  }
}

Database::Database(const std::string& path, int flags) : path_(path) {
  if (sqlite3_open_v2(path.c_str(), &handle_, flags, nullptr) != SQLITE_OK) {
    const std::string why = handle_ ? sqlite3_errmsg(handle_) : "out of memory";
    sqlite3_close_v2(handle_);
    throw Error(ExitCode::kIo, fmt::format("cannot open {}: {}; check that the folder exists and is writable", path, why));
  }
  sqlite3_busy_timeout(handle_, 5000);  // a reader may hold up a checkpoint for a moment
}

Database::~Database() { sqlite3_close_v2(handle_); }

void Database::execute(const std::string& sql) {
  if (sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) throw_sqlite(*this, sql);
}

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
  if (sqlite3_bind_text64(handle_, number, value.data(), value.size(), SQLITE_TRANSIENT, SQLITE_UTF8) != SQLITE_OK)
    throw_sqlite(database_, sql_);
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

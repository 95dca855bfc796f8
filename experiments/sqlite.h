#pragma once
// SQLite with RAII and errors that quote the SQL. Knows nothing of what is stored.
//
// Every database knows the SQL function checksum(…): 64 bits of all its arguments, their types and lengths. SQLite itself has
// none for what is in a row: a bit that flips on the disk inside a text stays a text.

#include <sqlite3.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace amdahl {

class Database {
 public:
  // Throws Error as throw_sqlite() does.
  Database(const std::string& path, int flags);
  ~Database();
  Database(const Database&) = delete;

  void execute(const std::string& sql);     // one or more statements without results
  int64_t integer(const std::string& sql);  // first column of the first row
  std::string text(const std::string& sql);
  // Whether the last one to close the file leaves its write-ahead log in place, untouched.
  void keep_log(bool keep);
  // Whether a file that we may write says in its header that nobody can: a later format of SQLite, or damage.
  bool header_forbids_writing() const;
  sqlite3* handle() const { return handle_; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  sqlite3* handle_ = nullptr;
};

// Turns the database's last error into Error: kSessionBusy (locked), kSessionDamaged (corrupt, not a database), kIo (full,
// unwritable, unreadable, out of memory), kInternal (our SQL).
[[noreturn]] void throw_sqlite(const Database& database, std::string_view sql);

class Statement {
 public:
  Statement(Database& database, std::string_view sql);
  ~Statement();
  Statement(const Statement&) = delete;

  Statement& bind(int number, int64_t value);  // numbers from 1
  Statement& bind(int number, double value);
  Statement& bind(int number, std::string_view value);  // copied
  bool step();                                          // true: a row is there
  void run();                                           // to the end, then ready to be bound again
  int64_t integer(int column) const { return sqlite3_column_int64(handle_, column); }
  double real(int column) const { return sqlite3_column_double(handle_, column); }
  std::string text(int column) const;

 private:
  Database& database_;
  std::string sql_;
  sqlite3_stmt* handle_ = nullptr;
};

// Rolls back unless commit() was reached.
class Transaction {
 public:
  enum class Kind { kWrite, kRead };  // kRead: all statements see the same moment
  explicit Transaction(Database& database, Kind kind = Kind::kWrite) : database_(database) {
    database_.execute(kind == Kind::kWrite ? "BEGIN IMMEDIATE" : "BEGIN");
  }
  ~Transaction();
  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace amdahl

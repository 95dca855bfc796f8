#pragma once
// The right to write a session, and the receipt for what its writer has committed.

#include <cstdint>
#include <optional>
#include <string>

namespace amdahl {

// What has been committed, in three numbers.
struct SessionTally {
  int64_t commits = 0, rows = 0;
  uint64_t sum = 0;  // of the rows' checksums: does not depend on their order
  bool operator==(const SessionTally&) const = default;
};

// Two locks. One is on FILE-lock, which holds "PID COMMITS ROWS SUM CHECKSUM": whoever comes second can say who came first, and a killed
// writer leaves its receipt. The other is on the session's own file: FILE-lock can be removed while it is held. That one is on a byte that SQLite
// does not lock, and of the kind that belongs to a descriptor: SQLite's own belong to the process, which loses them when it closes any descriptor of
// the file (so this object must outlive the database).
class SessionLock {
 public:
  // Takes both; the second only when the session is there. Throws Error(kSessionBusy, kIo).
  explicit SessionLock(const std::string& session);
  // FILE-lock goes when the session is whole and its log has gone into it. Else the receipt is still needed.
  ~SessionLock();
  SessionLock(const SessionLock&) = delete;

  void take_session();  // once it has been created
  // Overwritten in place, in one piece: a kill leaves the one or the other. When it cannot be written, only the next opening knows less.
  void write(const SessionTally& tally);
  void session_is_whole() { clean_ = true; }
  // Throws Error(kIo) when the session has been removed, moved or replaced since.
  void require_in_place() const;

  static std::string file(const std::string& session) { return session + "-lock"; }
  // Nothing when there is none, or none that can be believed.
  static std::optional<SessionTally> receipt(const std::string& session);

 private:
  void take_file();
  void make_again();

  std::string session_, path_;
  std::optional<SessionTally> before_;
  bool clean_ = false;
  int fd_ = -1, session_fd_ = -1;
};

}  // namespace amdahl

#include "experiments/session_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "base/hash.h"
#include "base/shell_word.h"

namespace amdahl {
namespace {

constexpr off_t kLockedByte = 0x60000000;  // SQLite's are the 512 from 0x40000000 on

bool is_at(int fd, const std::string& path) {
  struct stat ours {
  }, there{};
  return fstat(fd, &ours) == 0 && stat(path.c_str(), &there) == 0 && ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
}

// False when somebody else has it. A file system without such locks refuses nobody.
bool lock_byte(int fd) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = kLockedByte;
  lock.l_len = 1;
  return fcntl(fd, F_OFD_SETLK, &lock) == 0 || (errno != EAGAIN && errno != EACCES);
}

std::string writer_in(int fd) {
  char pid[32] = {};
  if (pread(fd, pid, sizeof pid - 1, 0) <= 0) return "?";
  pid[std::strcspn(pid, " ")] = 0;
  return pid;
}

}  // namespace

SessionLock::SessionLock(const std::string& session) : session_(session), path_(file(session)) {
  take_file();
  before_ = receipt(session);
  try {
    take_session();
  } catch (...) {
    close(fd_);
    throw;
  }
  write(before_.value_or(SessionTally{}));
}

SessionLock::~SessionLock() {
  struct stat log {};
  if ((clean_ || !before_) && stat((session_ + "-wal").c_str(), &log) != 0 && is_at(fd_, path_)) unlink(path_.c_str());
  close(fd_);
  if (session_fd_ >= 0) close(session_fd_);
}

void SessionLock::take_file() {
  for (;;) {
    fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd_ < 0) throw Error(ExitCode::kIo, fmt::format("cannot write {}: {}; check that the folder exists and is writable", path_, std::strerror(errno)));
    if (flock(fd_, LOCK_EX | LOCK_NB) != 0) {
      const std::string pid = writer_in(fd_);
      close(fd_);
      throw Error(ExitCode::kSessionBusy, fmt::format("process {} is writing {}: wait for it, or stop it with kill {}", pid, session_, pid));
    }
    // Whoever held it before may have removed the file between our open and our lock.
    if (is_at(fd_, path_)) return;
    close(fd_);
  }
}

void SessionLock::take_session() {
  session_fd_ = ::open(session_.c_str(), O_RDWR | O_CLOEXEC);
  if (session_fd_ < 0 || lock_byte(session_fd_)) return;
  close(session_fd_);
  if (!before_) unlink(path_.c_str());  // we made it
  throw Error(ExitCode::kSessionBusy,
              fmt::format("another process is writing {0}, though {1} was removed: wait for it (`fuser {2}` names it)", session_, path_, shell_word(session_)));
}

void SessionLock::write(const SessionTally& t) {
  if (!is_at(fd_, path_)) make_again();
  const std::string numbers = fmt::format("{} {} {} {:016x}", getpid(), t.commits, t.rows, t.sum);
  const std::string line = fmt::format("{:<96}{:016x}\n", numbers, hash64(numbers));
  [[maybe_unused]] const ssize_t n = pwrite(fd_, line.data(), line.size(), 0);
}

// Somebody removed it. Where that fails, the lock on the session still holds, and the next commit tries again.
void SessionLock::make_again() {
  const int fd = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) return;
  if (flock(fd, LOCK_EX | LOCK_NB) != 0 || !is_at(fd, path_)) {
    close(fd);
    return;
  }
  close(fd_);
  fd_ = fd;
}

void SessionLock::require_in_place() const {
  if (session_fd_ < 0 || is_at(session_fd_, session_)) return;
  throw Error(ExitCode::kIo, fmt::format("{0} was removed, moved or replaced while this process wrote it, and what it did since is lost: leave it in its "
                                         "place while it is tuned; `amdahl tune MODEL --session {1}` starts again",
                                         session_, shell_word(session_)));
}

std::optional<SessionTally> SessionLock::receipt(const std::string& session) {
  std::ifstream in(file(session));
  std::string line;
  if (!std::getline(in, line) || line.size() != 112) return std::nullopt;
  const std::string numbers = line.substr(0, std::min<size_t>(96, line.find_last_not_of(' ', 95) + 1));
  if (fmt::format("{:016x}", hash64(numbers)) != line.substr(96)) return std::nullopt;
  SessionTally t;
  int64_t pid = 0;
  std::istringstream fields(numbers);
  fields >> pid >> t.commits >> t.rows >> std::hex >> t.sum;
  return fields ? std::optional(t) : std::nullopt;
}

}  // namespace amdahl

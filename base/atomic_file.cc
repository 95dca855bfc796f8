#include "base/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/error.h"
#include "base/process_limits.h"

namespace amdahl {
namespace {

// Zero, or the errno of what failed.
int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return ::fsync(fd) == 0 ? 0 : errno;
}

}  // namespace

void write_atomically(const std::string& path, std::string_view bytes) {
  const auto refuse = [&](int error) {
    if (is_refusal(error)) return machine_refuses("write " + path, error);
    return Error(ExitCode::kIo, fmt::format("cannot write {}: {}; check that its folder exists, is writable and has room", path, std::strerror(error)));
  };
  const std::string half = fmt::format("{}.{}.half", path, getpid());
  // Not mkstemp: a report is for others to read, as the user's umask allows.
  const int fd = ::open(half.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) throw refuse(errno);
  int error = write_all(fd, bytes);
  if (::close(fd) != 0 && error == 0) error = errno;
  if (error == 0 && std::rename(half.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return;
  ::unlink(half.c_str());
  throw refuse(error);
}

}  // namespace amdahl

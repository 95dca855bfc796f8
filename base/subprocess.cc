#include "base/subprocess.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/error.h"

namespace amdahl {
namespace {

constexpr size_t kMaxOutput = 256 << 10;

struct Pipe {
  int read = -1, write = -1;
  Pipe() {
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0)
      throw Error(ExitCode::kIo, fmt::format("cannot make a pipe: {}", std::strerror(errno)));
    read = fds[0];
    write = fds[1];
  }
  ~Pipe() {
    close_read();
    close_write();
  }
  void close_read() {
    if (read >= 0) close(read);
    read = -1;
  }
  void close_write() {
    if (write >= 0) close(write);
    write = -1;
  }
};

[[noreturn]] void become(const std::vector<std::string>& argv, const SubprocessLimits& limits, int in, int out) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // nothing of ours outlives a killed tuner
  dup2(in, 0);
  dup2(out, 1);
  dup2(out, 2);
  if (limits.memory_bytes > 0) {
    const rlimit memory{static_cast<rlim_t>(limits.memory_bytes), static_cast<rlim_t>(limits.memory_bytes)};
    setrlimit(RLIMIT_AS, &memory);
  }
  std::vector<char*> args;
  for (const std::string& a : argv) args.push_back(const_cast<char*>(a.c_str()));
  args.push_back(nullptr);
  execvp(args[0], args.data());
  _exit(127);
}

// Drains stdout until every holder has closed it or time is up. True when closed.
bool drain(int fd, std::chrono::steady_clock::time_point end, std::string& output) {
  char chunk[1 << 14];
  for (;;) {
    const double left = std::chrono::duration<double>(end - std::chrono::steady_clock::now()).count();
    if (left <= 0) return false;
    pollfd fds{fd, POLLIN, 0};
    if (poll(&fds, 1, static_cast<int>(left * 1000) + 1) <= 0) continue;
    const ssize_t n = read(fd, chunk, sizeof chunk);
    if (n <= 0) return true;
    if (output.size() < kMaxOutput) output.append(chunk, static_cast<size_t>(n));
  }
}

// The child's stdin: a file in memory, so that feeding it cannot block or raise SIGPIPE.
int memory_file(const std::string& content) {
  const int fd = memfd_create("stdin", MFD_CLOEXEC);
  if (fd < 0) throw Error(ExitCode::kIo, fmt::format("cannot make a file in memory: {}", std::strerror(errno)));
  for (size_t at = 0; at < content.size();) {
    const ssize_t n = write(fd, content.data() + at, content.size() - at);
    if (n <= 0) break;
    at += static_cast<size_t>(n);
  }
  lseek(fd, 0, SEEK_SET);
  return fd;
}

}  // namespace

SubprocessResult run_subprocess(const std::vector<std::string>& argv, const SubprocessLimits& limits,
                                const std::string& input) {
  const auto start = std::chrono::steady_clock::now();
  const auto end = start + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                               std::chrono::duration<double>(limits.seconds));
  Pipe out;
  const int in = memory_file(input);
  const pid_t pid = fork();
  if (pid == 0) become(argv, limits, in, out.write);
  close(in);
  if (pid < 0) throw Error(ExitCode::kIo, fmt::format("cannot start a process: {}", std::strerror(errno)));
  setpgid(pid, pid);
  out.close_write();

  SubprocessResult result;
  result.timed_out = !drain(out.read, end, result.output);
  siginfo_t info{};
  if (!result.timed_out)  // waits without reaping, so that the group's number stays ours until it is killed
    while (waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
    }
  kill(-pid, SIGKILL);  // also what the child left behind
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace amdahl

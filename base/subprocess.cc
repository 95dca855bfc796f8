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

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string_view>

#include "base/error.h"
#include "base/no_network.h"
#include "base/process_limits.h"

extern char** environ;

namespace amdahl {
namespace {

constexpr size_t kMaxOutput = 256 << 10;

struct Pipe {
  int read = -1, write = -1;
  Pipe() {
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0) throw machine_refuses("make a pipe", errno);
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

// Made ready before the fork: between fork and exec a process with threads must not allocate.
std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> p;
  for (const std::string& s : strings) p.push_back(const_cast<char*>(s.c_str()));
  p.push_back(nullptr);
  return p;
}

std::vector<std::string> environment_with(const std::vector<std::string>& changes) {
  std::vector<std::string> all = changes;
  for (char** e = environ; *e; ++e) {
    const std::string_view ours(*e);
    const std::string_view name = ours.substr(0, ours.find('=') + 1);
    if (std::none_of(changes.begin(), changes.end(), [&](const std::string& c) { return c.rfind(name, 0) == 0; })) all.emplace_back(ours);
  }
  return all;
}

struct Start {
  char** argv;
  char** environment;
  const SubprocessLimits& limits;
  const SubprocessSurroundings& surroundings;
  int in, out;
  int refused;  // gets the errno of what kept the program from starting; closed by exec
};

void limit(decltype(RLIMIT_AS) what, int64_t value) {
  const rlimit both{static_cast<rlim_t>(value), static_cast<rlim_t>(value)};
  if (value > 0) setrlimit(what, &both);
}

[[noreturn]] void give_up(const Start& start, int error) {
  [[maybe_unused]] const ssize_t n = write(start.refused, &error, sizeof error);
  _exit(127);
}

[[noreturn]] void become(const Start& start) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // nothing of ours outlives a killed tuner
  dup2(start.in, 0);
  dup2(start.out, 1);
  dup2(start.out, 2);
  limit(RLIMIT_AS, start.limits.memory_bytes);
  limit(RLIMIT_FSIZE, start.limits.file_bytes);
  const SubprocessSurroundings& around = start.surroundings;
  if (!around.folder.empty() && chdir(around.folder.c_str()) != 0) give_up(start, errno);
  if (around.folders && !around.folders->apply()) give_up(start, errno);
  if (!around.network && !close_network()) give_up(start, errno);
  execvpe(start.argv[0], start.argv, start.environment);
  give_up(start, errno);
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
  if (fd < 0) throw machine_refuses("make a file in memory", errno);
  for (size_t at = 0; at < content.size();) {
    const ssize_t n = write(fd, content.data() + at, content.size() - at);
    if (n <= 0) break;
    at += static_cast<size_t>(n);
  }
  lseek(fd, 0, SEEK_SET);
  return fd;
}

}  // namespace

SubprocessResult run_subprocess(const std::vector<std::string>& argv, const SubprocessLimits& limits, const std::string& input,
                                const SubprocessSurroundings& surroundings) {
  const auto start = std::chrono::steady_clock::now();
  const auto end = start + std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(limits.seconds));
  Pipe out, refusal;
  const int in = memory_file(input);
  const std::vector<std::string> environment = environment_with(surroundings.environment);
  const std::vector<char*> arguments = pointers(argv), variables = pointers(environment);
  const pid_t pid = fork();
  if (pid == 0) become({const_cast<char**>(arguments.data()), const_cast<char**>(variables.data()), limits, surroundings, in, out.write, refusal.write});
  const int fork_error = errno;
  close(in);
  if (pid < 0) throw machine_refuses(fmt::format("start {}", argv[0]), fork_error);
  setpgid(pid, pid);
  refusal.close_write();
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
  int error = 0;
  if (read(refusal.read, &error, sizeof error) == sizeof error && is_refusal(error)) throw machine_refuses(fmt::format("start {}", argv[0]), error);
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace amdahl

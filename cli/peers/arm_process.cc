#include "cli/peers/arm_process.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sstream>
#include <string_view>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/printable.h"
#include "base/process_limits.h"

extern char** environ;

namespace amdahl {
namespace {

constexpr size_t kLongestReason = 200;

bool steers_openmp(std::string_view variable) { return variable.starts_with("OMP_") || variable.starts_with("GOMP_") || variable.starts_with("KMP_"); }

std::vector<std::string> environment_with(const std::vector<std::string>& changes) {
  std::vector<std::string> all = changes;
  for (char** e = environ; *e; ++e) {
    const std::string_view ours(*e), name = ours.substr(0, ours.find('=') + 1);
    const bool changed = std::any_of(changes.begin(), changes.end(), [&](const std::string& c) { return c.starts_with(name); });
    if (!changed && !steers_openmp(ours)) all.emplace_back(ours);
  }
  return all;
}

// Made ready before the fork: between fork and exec a process with threads must not allocate.
std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> p;
  for (const std::string& s : strings) p.push_back(const_cast<char*>(s.c_str()));
  p.push_back(nullptr);
  return p;
}

// A group of its own: Ctrl-C reaches us alone, and what it starts is stopped and killed with it.
[[noreturn]] void become(char** argv, char** environment, int socket, int words) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // nothing outlives a killed program
  signal(SIGPIPE, SIG_DFL);
  dup2(socket, 0);
  dup2(socket, 1);
  dup2(words, 2);
  execvpe(argv[0], argv, environment);
  constexpr std::string_view kNotThere = "cannot be started: is it there, and a program?\n";
  [[maybe_unused]] const ssize_t n = write(2, kNotThere.data(), kNotThere.size());
  _exit(127);
}

std::string ending_text(int status) {
  if (WIFSIGNALED(status)) {
    const char* name = sigabbrev_np(WTERMSIG(status));
    return fmt::format("died of {}", name ? fmt::format("SIG{}", name) : fmt::format("signal {}", WTERMSIG(status)));
  }
  return fmt::format("ended with status {}", WEXITSTATUS(status));
}

}  // namespace

// Once the other constructor is through, the destructor runs also where this one throws.
ArmProcess::ArmProcess(const ArmCommand& command, double seconds) : ArmProcess() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw machine_refuses("make a pair of sockets", errno);
  socket_ = ends[0];
  words_ = memfd_create("arm-stderr", MFD_CLOEXEC);
  const int words_error = errno;
  const std::vector<std::string> environment = environment_with(command.environment);
  const std::vector<char*> arguments = pointers(command.argv), variables = pointers(environment);
  if (words_ >= 0) pid_ = fork();
  if (pid_ == 0) become(const_cast<char**>(arguments.data()), const_cast<char**>(variables.data()), ends[1], words_);
  const int fork_error = errno;
  close(ends[1]);
  if (words_ < 0) throw machine_refuses("make a file in memory", words_error);
  if (pid_ < 0) throw machine_refuses(fmt::format("start {}", command.argv[0]), fork_error);
  setpgid(pid_, pid_);
  expect("ready", seconds);
  stop();
}

ArmProcess::~ArmProcess() {
  if (pid_ > 0) end();
  for (const int fd : {socket_, words_})
    if (fd >= 0) close(fd);
}

int ArmProcess::end() {
  kill(-pid_, SIGKILL);
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return status;
}

void ArmProcess::stop() {
  kill(-pid_, SIGSTOP);
  int status = 0;
  while (waitpid(pid_, &status, WUNTRACED) < 0 && errno == EINTR) {
  }
  if (WIFSTOPPED(status)) return;
  kill(-pid_, SIGKILL);
  pid_ = -1;
  fail(ending_text(status));
}

std::vector<std::string> ArmProcess::ask(const std::string& line, const std::string& word, double seconds) {
  if (pid_ < 0) throw ArmFailed("it is gone");
  kill(-pid_, SIGCONT);
  const std::string request = line + "\n";
  // A line fits into the buffer of a socket; of one that nobody holds any more, expect() says why.
  [[maybe_unused]] const ssize_t sent = send(socket_, request.data(), request.size(), MSG_NOSIGNAL);
  std::vector<std::string> answer = expect(word, seconds);
  stop();
  return answer;
}

std::vector<std::string> ArmProcess::expect(const std::string& word, double seconds) {
  const std::string line = read_line(seconds);
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string w; in >> w;) words.push_back(w);
  if (word == "saved" && line == "none") return words;
  if (words.empty() || words[0] != word) fail(fmt::format("answered '{}' where '{}' was expected", shown(line), word));
  return {words.begin() + 1, words.end()};
}

std::string ArmProcess::read_line(double seconds) {
  for (const auto start = Clock::now();;) {
    if (const size_t end = unread_.find('\n'); end != std::string::npos) {
      const std::string line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return line;
    }
    stop_if_interrupted();
    if (since(start) > seconds) fail(fmt::format("no answer within {:.3g} s", seconds));
    pollfd readable{socket_, POLLIN, 0};
    if (poll(&readable, 1, 50) <= 0) continue;
    char chunk[1 << 14];
    const ssize_t n = read(socket_, chunk, sizeof chunk);
    if (n > 0) unread_.append(chunk, static_cast<size_t>(n));
    else fail("");
  }
}

// Its own last words, or how it ended.
void ArmProcess::fail(const std::string& why) {
  std::string reason = why;
  if (pid_ > 0) {
    siginfo_t ended{};  // one that closed its output is about to
    for (const auto start = Clock::now(); why.empty() && ended.si_pid != pid_ && since(start) < 1; usleep(2000))
      waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOWAIT | WNOHANG);
    const int status = end();
    if (why.empty()) reason = ending_text(status);
  }
  if (const std::string words = last_words(); !words.empty()) reason = why.empty() ? words : fmt::format("{}: {}", reason, words);
  throw ArmFailed(shortened(printable(reason), kLongestReason));
}

std::string ArmProcess::last_words() const {
  std::string text(4096, '\0');
  const off_t end = lseek(words_, 0, SEEK_END);
  const ssize_t n = pread(words_, text.data(), text.size(), std::max<off_t>(0, end - static_cast<off_t>(text.size())));
  text.resize(n > 0 ? static_cast<size_t>(n) : 0);
  text.erase(text.find_last_not_of(" \n\r\t") + 1);
  return text.substr(text.rfind('\n') + 1);
}

}  // namespace amdahl

#include "tuner/worker/spawn_worker.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

namespace amdahl {
namespace {

constexpr size_t kStackBytes = size_t{64} << 10;  // of the few calls between clone and exec

int namespaces_of(PidWall wall) {
  switch (wall) {
    case PidWall::kNone: return 0;
    case PidWall::kNamespace: return CLONE_NEWPID;
    case PidWall::kUserNamespace: return CLONE_NEWUSER | CLONE_NEWPID;
  }
  return 0;
}

// Runs `body` in a child that borrows our memory until it has executed a program or ended (as vfork does: our pages may be
// gigabytes, and their tables would be copied for each worker).
pid_t clone_with(PidWall wall, int (*body)(void*), void* argument) {
  const auto stack = std::make_unique<std::byte[]>(kStackBytes);
  return clone(body, stack.get() + kStackBytes, CLONE_VM | CLONE_VFORK | SIGCHLD | namespaces_of(wall), argument);
}

bool works(PidWall wall) {
  const pid_t pid = clone_with(
      wall, [](void*) -> int { _exit(0); }, nullptr);
  int how = 0;
  return pid > 0 && waitpid(pid, &how, 0) == pid && WIFEXITED(how) && WEXITSTATUS(how) == 0;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> p;
  for (std::string& s : strings) p.push_back(s.data());
  p.push_back(nullptr);
  return p;
}

struct Child {
  std::vector<char*> arguments, environment;
  std::vector<std::pair<int, int>> descriptors;  // sources lie above all targets
  int last_target = 0;
  sigset_t mask;
  int error = 0;
};

void close_from(int first) {
  if (syscall(SYS_close_range, static_cast<unsigned>(first), ~0u, 0u) == 0) return;
  for (long fd = first, end = sysconf(_SC_OPEN_MAX); fd < end; ++fd) close(static_cast<int>(fd));  // Linux before 5.9
}

int become_program(void* argument) {
  auto& child = *static_cast<Child*>(argument);
  setpgid(0, 0);
  for (const auto& [ours, theirs] : child.descriptors) dup2(ours, theirs);
  close_from(child.last_target + 1);
  sigprocmask(SIG_SETMASK, &child.mask, nullptr);
  execve(child.arguments[0], child.arguments.data(), child.environment.data());
  child.error = errno;
  _exit(127);
}

}  // namespace

PidWall pid_wall() {
  static const PidWall wall = [] {
    for (PidWall candidate : {PidWall::kNamespace, PidWall::kUserNamespace})
      if (works(candidate)) return candidate;
    return PidWall::kNone;
  }();
  return wall;
}

pid_t spawn_worker(SpawnRequest request) {
  Child child;
  child.arguments = pointers(request.arguments);
  child.environment = pointers(request.environment);
  for (const auto& [ours, theirs] : request.descriptors) child.last_target = std::max(child.last_target, theirs);
  // To high numbers first: a source may have one of the target numbers.
  for (const auto& [ours, theirs] : request.descriptors) {
    const int copy = fcntl(ours, F_DUPFD_CLOEXEC, child.last_target + 1);
    if (copy < 0) child.error = errno;
    else child.descriptors.emplace_back(copy, theirs);
  }
  // A handler of ours must not run in the child, which has our memory.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &child.mask);
  pid_t pid = child.error == 0 ? clone_with(request.behind_pid_wall ? pid_wall() : PidWall::kNone, become_program, &child) : -1;
  const int error = pid < 0 && child.error == 0 ? errno : child.error;
  pthread_sigmask(SIG_SETMASK, &child.mask, nullptr);
  for (const auto& [copy, theirs] : child.descriptors) close(copy);
  if (pid > 0 && error != 0) {
    waitpid(pid, nullptr, 0);
    pid = -1;
  }
  errno = error;
  return pid;
}

}  // namespace amdahl

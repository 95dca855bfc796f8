#include "tuner/worker/sandbox.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/futex.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <initializer_list>

#include "base/error.h"
#include "base/landlock.h"
#include "base/sanitized.h"
#include "tuner/worker/descriptors.h"
#include "tuner/worker/named_addresses.h"

namespace amdahl {
namespace {

constexpr int kFirstOfLoader = 8;
constexpr int kAborted = 134;  // as a shell shows it

void say(const char* text) { [[maybe_unused]] const ssize_t n = write(2, text, std::strlen(text)); }

// abort() has its own last resort, an instruction that faults, which would be taken for the cause.
[[noreturn]] void on_abort() {
  say("\nfault: SIGABRT: called abort()\n");
  _exit(kAborted);
}

// Async-signal-safe. The handler is for one time: on return the faulting instruction faults again, and the process dies of it, so that the
// supervisor sees the true cause. (A process must not signal itself: the first one of a PID namespace would not notice.)
void on_fault(int number, siginfo_t* info, void* context) {
  if (number == SIGABRT) return on_abort();
  say("\nfault: ");
  if (number == SIGSEGV || number == SIGBUS) {
#if defined(__x86_64__)
    const auto* uc = static_cast<const ucontext_t*>(context);
    say(uc->uc_mcontext.gregs[REG_ERR] & 2 ? "write" : "read");
#else
    say("access");
    (void)context;
#endif
    const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
    // A general-protection fault (an aligned instruction on an unaligned address) reports no address.
    if (info->si_code == SI_KERNEL) say(" of a misaligned or non-canonical address");
    else if (address < 4096) {
      // Memory may be exhausted and an allocation unchecked: then a small mapping fails too.
      void* p = mmap(nullptr, 64 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      say(p == MAP_FAILED ? " of null: out of memory" : " of null");
    } else {
      describe_address(info->si_addr, 2);
    }
  }
  say("\n");
}

void set_limit(decltype(RLIMIT_AS) what, uint64_t value) {
  const rlimit r{value, value};
  setrlimit(what, &r);
}

class Filter {
 public:
  explicit Filter(uint32_t otherwise) : otherwise_(otherwise), context_(seccomp_init(otherwise)) {
    // Threads that exist already are filtered too. Privileges are given up once, in drop_capabilities().
    if (!context_ || seccomp_attr_set(context_, SCMP_FLTATR_CTL_NNP, 0) != 0 || seccomp_attr_set(context_, SCMP_FLTATR_CTL_TSYNC, 1) != 0) fail();
  }
  ~Filter() { seccomp_release(context_); }
  void allow(std::initializer_list<const char*> names) { add(SCMP_ACT_ALLOW, names); }
  void kill(std::initializer_list<const char*> names) { add(SCMP_ACT_KILL_PROCESS, names); }
  template <typename... Compare>
  void rule(uint32_t action, const char* name, Compare... compare) {
    const int call = seccomp_syscall_resolve_name(name);
    if (call == __NR_SCMP_ERROR || action == otherwise_) return;  // not of this architecture; or what happens anyway
    if (seccomp_rule_add(context_, action, call, sizeof...(compare), compare...) != 0) fail();
  }
  void load() {
    if (seccomp_load(context_) != 0) fail();
  }

 private:
  void add(uint32_t action, std::initializer_list<const char*> names) {
    for (const char* name : names) rule(action, name);
  }
  [[noreturn]] void fail() { throw Error(ExitCode::kInternal, "the kernel refuses the worker's seccomp filter"); }

  uint32_t otherwise_;
  scmp_filter_ctx context_;
};

// Root's worker could read and trace anything of root's.
void drop_capabilities() {
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2] = {};
  syscall(SYS_capset, &header, none);
}

constexpr std::initializer_list<const char*> kClocks{"clock_gettime", "clock_getres", "gettimeofday", "time"};

// What the kernel's own code in every process (the vDSO) reads to tell the time without a call. That code stays: the loader and unwinders look at its headers.
struct Pages {
  uintptr_t first = 0, last = 0;
};
std::array<Pages, 4> clock_pages;

// While /proc can still be read.
void find_clock_pages() {
  std::FILE* maps = std::fopen("/proc/self/maps", "re");
  if (!maps) return say("the worker cannot see where its clock lies\n");
  char line[512];
  size_t found = 0;
  while (std::fgets(line, sizeof line, maps) && found < clock_pages.size()) {
    Pages p;
    if (!std::strstr(line, "[vvar")) continue;
    if (std::sscanf(line, "%lx-%lx", &p.first, &p.last) == 2) clock_pages[found++] = p;
  }
  std::fclose(maps);
}

// Held by pages that nobody may read: nothing else must come to lie there.
void hide_clock_pages() {
  for (const Pages& p : clock_pages)
    if (p.last > p.first && mmap(reinterpret_cast<void*>(p.first), p.last - p.first, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
      throw Error(ExitCode::kInternal, "the worker cannot take its clock away");
}

// Where the loader, OpenMP and malloc look. Not /proc: other processes' memory is there.
void restrict_files(const std::vector<std::string>& libraries) {
  FolderRules rules;
  rules.read = {"/etc/ld.so.cache", "/etc/ld.so.preload", "/sys/devices/system/cpu", "/dev/null"};
  rules.execute = {"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib"};
  for (const std::string& library : libraries) rules.execute.push_back(library);
  if (const std::string why_not = restrict_folders(rules); !why_not.empty()) {
    say(why_not.c_str());
    say("\n");
  }
}

// Memory, threads and locks of the process's own; common to loading and computing.
void allow_arithmetic(Filter& filter) {
  filter.allow({"munmap", "mremap", "brk", "rt_sigprocmask", "rt_sigreturn", "rt_sigpending", "set_robust_list", "rseq", "poll", "ppoll", "getpid", "gettid",
                "sysinfo", "exit", "exit_group", "restart_syscall"});
  // A page that was data stays data.
  filter.rule(SCMP_ACT_ALLOW, "mprotect", SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
  filter.rule(SCMP_ACT_KILL_PROCESS, "mprotect", SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, PROT_EXEC));
  for (int advice : {MADV_DONTNEED, MADV_FREE, MADV_HUGEPAGE}) filter.rule(SCMP_ACT_ALLOW, "madvise", SCMP_A2(SCMP_CMP_EQ, static_cast<scmp_datum_t>(advice)));
  // Waiting and waking. Not those that lend priority or name a thread to wake on its death.
  for (int operation : {FUTEX_WAIT, FUTEX_WAKE, FUTEX_REQUEUE, FUTEX_CMP_REQUEUE, FUTEX_WAKE_OP, FUTEX_WAIT_BITSET, FUTEX_WAKE_BITSET})
    filter.rule(SCMP_ACT_ALLOW, "futex",
                SCMP_A1(SCMP_CMP_MASKED_EQ, static_cast<scmp_datum_t>(FUTEX_CMD_MASK) & 0xffffffff, static_cast<scmp_datum_t>(operation)));
  // Threads: clone with CLONE_THREAD and no namespaces. clone3 keeps its flags in memory, where no filter sees them: glibc falls back.
  constexpr auto kNamespaces =
      static_cast<scmp_datum_t>(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET);
  filter.rule(SCMP_ACT_ALLOW, "clone", SCMP_A0(SCMP_CMP_MASKED_EQ, kNamespaces | CLONE_THREAD | CLONE_VFORK, CLONE_THREAD));
  filter.rule(SCMP_ACT_KILL_PROCESS, "clone", SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0));
  filter.rule(SCMP_ACT_ERRNO(ENOSYS), "clone3");
  // To yield is to be counted as disturbed by others, or to wait for nothing.
  filter.rule(SCMP_ACT_ERRNO(0), "sched_yield");
  // abort() signals the calling thread of its own group.
  const auto self = static_cast<scmp_datum_t>(getpid());
  filter.rule(SCMP_ACT_ALLOW, "tgkill", SCMP_A0(SCMP_CMP_EQ, self), SCMP_A2(SCMP_CMP_EQ, SIGABRT));
  filter.rule(SCMP_ACT_KILL_PROCESS, "tgkill", SCMP_A0(SCMP_CMP_NE, self));
  // Limits may be read (pthread_getattr_np), not set.
  filter.rule(SCMP_ACT_ALLOW, "prlimit64", SCMP_A0(SCMP_CMP_EQ, 0), SCMP_A2(SCMP_CMP_EQ, 0));
}

}  // namespace

void Sandbox::limit(int64_t memory_bytes) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  drop_capabilities();
  set_limit(RLIMIT_CORE, 0);
  set_limit(RLIMIT_NOFILE, 1024);
  if (memory_bytes > 0 && !kSanitized) set_limit(RLIMIT_AS, static_cast<uint64_t>(memory_bytes));
  // A stack of its own: the fault may be a stack overflow.
  static char stack[64 << 10];
  stack_t alternate{};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof stack;
  sigaltstack(&alternate, nullptr);
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND;
  for (int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) sigaction(number, &action, nullptr);
}

void Sandbox::enter(const std::vector<std::string>& artifacts) {
  find_clock_pages();
  restrict_files(artifacts);
  // The lowest free descriptor is where the loader opens a library: from kFirstOfLoader on, a number that a filter can tell
  // from those of shared memory by its bits.
  for (int fd = kOutputsDescriptor + 1; fd < kFirstOfLoader; ++fd) dup2(2, fd);
  Filter filter(SCMP_ACT_ERRNO(EPERM));
  allow_arithmetic(filter);
  filter.allow(kClocks);
  // clang-format off
  filter.allow({"readv", "pread64", "close", "fstat", "newfstatat", "stat", "lstat", "lseek", "access", "faccessat", "faccessat2",
                "readlink", "readlinkat", "getcwd", "getdents64", "sigaltstack", "getuid", "geteuid", "getrandom", "getrusage", "uname",
                "arch_prctl", "sched_getaffinity", "sched_setaffinity", "rt_sigaction", "read", "write", "writev",
                "seccomp"});  // seal() needs it; a candidate can only forbid itself more
  // clang-format on
  // Opening: read-only.
  filter.rule(SCMP_ACT_ALLOW, "openat", SCMP_A2(SCMP_CMP_MASKED_EQ, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY));
  filter.rule(SCMP_ACT_KILL_PROCESS, "openat", SCMP_A2(SCMP_CMP_MASKED_EQ, O_ACCMODE, O_WRONLY));
  filter.rule(SCMP_ACT_KILL_PROCESS, "openat", SCMP_A2(SCMP_CMP_MASKED_EQ, O_ACCMODE, O_RDWR));
  filter.rule(SCMP_ACT_ALLOW, "open", SCMP_A1(SCMP_CMP_MASKED_EQ, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY));
  // Libraries: code is never writable, and comes from descriptors 8 to 15.
  filter.rule(SCMP_ACT_ALLOW, "mmap", SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
  filter.rule(SCMP_ACT_ALLOW, "mmap", SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC | PROT_WRITE, PROT_EXEC),
              SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_ANONYMOUS | MAP_PRIVATE, MAP_PRIVATE), SCMP_A4(SCMP_CMP_MASKED_EQ, 0xfffffff8, kFirstOfLoader));
  // clang-format off
  filter.kill({"fork", "vfork", "execve", "execveat", "kill", "tkill", "ptrace", "process_vm_readv", "process_vm_writev",
               "socket", "socketpair", "connect", "bind", "listen", "accept", "accept4", "sendto", "sendmsg", "creat",
               "unlink", "unlinkat", "rename", "renameat", "renameat2", "mkdir", "mkdirat", "mount", "setns", "unshare",
               "bpf", "perf_event_open", "io_uring_setup", "pidfd_open", "memfd_create", "shmget", "timer_create",
               "userfaultfd", "setpriority", "sched_setscheduler", "sched_setparam", "sched_setattr", "mlock", "mlockall",
               "mbind", "set_mempolicy", "migrate_pages", "move_pages", "personality", "setrlimit", "setitimer", "alarm", "ftruncate"});
  // clang-format on
  filter.load();
}

void Sandbox::seal(int channel_in, int channel_out, bool clock) {
  if (!clock) hide_clock_pages();
  Filter filter(SCMP_ACT_KILL_PROCESS);
  allow_arithmetic(filter);
  if (clock) filter.allow(kClocks);
  const auto descriptor = [](int fd) { return SCMP_A0(SCMP_CMP_EQ, static_cast<scmp_datum_t>(fd)); };
  filter.rule(SCMP_ACT_ALLOW, "read", descriptor(channel_in));
  for (int fd : {1, 2, channel_out}) filter.rule(SCMP_ACT_ALLOW, "write", descriptor(fd));
  filter.rule(SCMP_ACT_ALLOW, "writev", descriptor(2));  // assertions of the C library
  // Memory of its own, or operands that the supervisor shares, of which the kernel knows which can be written.
  filter.rule(SCMP_ACT_ALLOW, "mmap", SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0),
              SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_ANONYMOUS | MAP_PRIVATE, MAP_ANONYMOUS | MAP_PRIVATE));
  for (int fd : {kConstantsDescriptor, kInputsDescriptor, kOutputsDescriptor})
    filter.rule(SCMP_ACT_ALLOW, "mmap", SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0), SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_ANONYMOUS, 0),
                SCMP_A4(SCMP_CMP_MASKED_EQ, 0xffffffff, static_cast<scmp_datum_t>(fd)));
  // What signals do may be looked at, not changed.
  filter.rule(SCMP_ACT_ALLOW, "rt_sigaction", SCMP_A1(SCMP_CMP_EQ, 0));
  // OpenMP puts each thread that it starts on its processor, by the thread's number; nobody moves himself, nor the first thread of a PID namespace. Without
  // such a namespace a number may be another process's: that nobody's threads were moved is looked at after every race.
  filter.rule(SCMP_ACT_ALLOW, "sched_setaffinity", SCMP_A0(SCMP_CMP_GT, 1));
  filter.rule(SCMP_ACT_ALLOW, "sched_getaffinity", SCMP_A0(SCMP_CMP_EQ, 0));
  filter.rule(SCMP_ACT_ERRNO(EPERM), "sched_getaffinity", SCMP_A0(SCMP_CMP_NE, 0));
  // The C library's attempts that have a second way.
  for (const char* name : {"getrandom", "prctl", "membarrier"}) filter.rule(SCMP_ACT_ERRNO(EPERM), name);
  filter.load();
}

}  // namespace amdahl

#include "tuner/sandbox.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/error.h"
#include "base/landlock.h"
#include "base/sanitized.h"
#include "tuner/guarded_memory.h"

namespace amdahl {
namespace {

void say(const char* text) {
  [[maybe_unused]] const ssize_t n = write(2, text, std::strlen(text));
}

// Async-signal-safe. Ends by dying of the same signal, so the supervisor sees the true cause.
void on_fault(int number, siginfo_t* info, void* context) {
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
  signal(number, SIG_DFL);
  raise(number);
}

void limit(decltype(RLIMIT_AS) what, uint64_t value) {
  const rlimit r{value, value};
  setrlimit(what, &r);
}

class Filter {
 public:
  explicit Filter(uint32_t otherwise) : context_(seccomp_init(otherwise)) {
    // Threads that exist already are filtered too. Privileges are given up once, in drop_capabilities().
    if (!context_ || seccomp_attr_set(context_, SCMP_FLTATR_CTL_NNP, 0) != 0 ||
        seccomp_attr_set(context_, SCMP_FLTATR_CTL_TSYNC, 1) != 0)
      fail();
  }
  ~Filter() { seccomp_release(context_); }
  void allow(std::initializer_list<const char*> names) { add(SCMP_ACT_ALLOW, names); }
  void kill(std::initializer_list<const char*> names) { add(SCMP_ACT_KILL_PROCESS, names); }
  template <typename... Compare>
  void rule(uint32_t action, const char* name, Compare... compare) {
    const int call = seccomp_syscall_resolve_name(name);
    if (call == __NR_SCMP_ERROR) return;  // not of this architecture
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

  scmp_filter_ctx context_;
};

// Root's worker could read and trace anything of root's.
void drop_capabilities() {
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2] = {};
  syscall(SYS_capset, &header, none);
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

}  // namespace

void limit_process(int64_t memory_bytes) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  drop_capabilities();
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_NOFILE, 1024);
  if (memory_bytes > 0 && !kSanitized) limit(RLIMIT_AS, static_cast<uint64_t>(memory_bytes));
  // A stack of its own: the fault may be a stack overflow.
  static char stack[64 << 10];
  stack_t alternate{};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof stack;
  sigaltstack(&alternate, nullptr);
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE}) sigaction(number, &action, nullptr);
}

void enter_sandbox(const std::vector<std::string>& libraries) {
  restrict_files(libraries);
  Filter filter(SCMP_ACT_ERRNO(EPERM));
  filter.allow({"read", "write", "readv", "writev", "pread64", "close", "fstat", "newfstatat", "stat", "lstat", "lseek",
                "access", "faccessat", "faccessat2", "readlink", "readlinkat", "getcwd", "getdents64", "poll", "ppoll",
                "mmap", "munmap", "mprotect", "mremap", "madvise", "brk", "membarrier", "rt_sigaction", "rt_sigprocmask", "rt_sigpending",
                "rt_sigreturn", "sigaltstack", "futex", "set_robust_list", "rseq", "sched_yield", "sched_getaffinity",
                "sched_setaffinity", "getpid", "gettid", "getuid", "geteuid", "clock_gettime", "clock_getres",
                "gettimeofday", "nanosleep", "clock_nanosleep", "getrandom", "getrusage", "sysinfo", "uname", "exit",
                "exit_group", "restart_syscall", "arch_prctl",
                "seccomp"});  // forbid_opening() needs it; a candidate can only forbid itself more
  // Opening: read-only.
  filter.rule(SCMP_ACT_ALLOW, "openat", SCMP_A2(SCMP_CMP_MASKED_EQ, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY));
  filter.rule(SCMP_ACT_KILL_PROCESS, "openat", SCMP_A2(SCMP_CMP_MASKED_EQ, O_ACCMODE, O_WRONLY));
  filter.rule(SCMP_ACT_KILL_PROCESS, "openat", SCMP_A2(SCMP_CMP_MASKED_EQ, O_ACCMODE, O_RDWR));
  filter.rule(SCMP_ACT_ALLOW, "open", SCMP_A1(SCMP_CMP_MASKED_EQ, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY));
  // Threads: clone with CLONE_THREAD. clone3 keeps its flags in memory, where no filter sees them: glibc falls back.
  filter.rule(SCMP_ACT_ALLOW, "clone", SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD));
  filter.rule(SCMP_ACT_KILL_PROCESS, "clone", SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0));
  filter.rule(SCMP_ACT_ERRNO(ENOSYS), "clone3");
  // abort() signals its own thread group; others are none of its business.
  const auto self = static_cast<scmp_datum_t>(getpid());
  filter.rule(SCMP_ACT_ALLOW, "tgkill", SCMP_A0(SCMP_CMP_EQ, self));
  filter.rule(SCMP_ACT_KILL_PROCESS, "tgkill", SCMP_A0(SCMP_CMP_NE, self));
  // Limits may be read (pthread_getattr_np), not set.
  filter.rule(SCMP_ACT_ALLOW, "prlimit64", SCMP_A2(SCMP_CMP_EQ, 0));
  filter.kill({"fork", "vfork", "execve", "execveat", "kill", "tkill", "ptrace", "process_vm_readv", "process_vm_writev",
               "socket", "socketpair", "connect", "bind", "listen", "accept", "accept4", "sendto", "sendmsg", "creat",
               "unlink", "unlinkat", "rename", "renameat", "renameat2", "mkdir", "mkdirat", "mount", "setns", "unshare",
               "bpf", "perf_event_open", "io_uring_setup", "pidfd_open", "memfd_create", "shmget", "timer_create",
               "userfaultfd", "setpriority", "sched_setscheduler", "sched_setparam", "sched_setattr", "mlock", "mlockall",
               "personality", "setrlimit", "setitimer", "alarm", "ftruncate"});
  filter.load();
}

void forbid_opening() {
  Filter filter(SCMP_ACT_ALLOW);
  filter.kill({"open", "openat", "openat2"});
  filter.load();
}

SignalHandlers signal_handlers() {
  SignalHandlers handlers{};
  for (int n = 1; n < static_cast<int>(handlers.size()); ++n) {
    struct sigaction action {};
    if (sigaction(n, nullptr, &action) == 0) handlers[static_cast<size_t>(n)] = reinterpret_cast<const void*>(action.sa_sigaction);
  }
  return handlers;
}

uint64_t float_control_word() {
#if defined(__x86_64__)
  uint16_t x87;
  asm volatile("fnstcw %0" : "=m"(x87));
  return (_mm_getcsr() & ~0x3fu) | uint64_t{x87} << 32;
#else
  return 0;
#endif
}

}  // namespace amdahl

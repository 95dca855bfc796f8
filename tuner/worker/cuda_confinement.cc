#include "tuner/worker/cuda_confinement.h"

#include <seccomp.h>

#include "base/error.h"

namespace amdahl {

void CudaConfinement::limit(int64_t) { Sandbox::limit(0); }

// The driver has made its context, and lives without these (seen with version 580.159).
void CudaConfinement::enter(const std::vector<std::string>&) {
  const scmp_filter_ctx context = seccomp_init(SCMP_ACT_ALLOW);
  bool refused = !context || seccomp_attr_set(context, SCMP_FLTATR_CTL_NNP, 0) != 0 || seccomp_attr_set(context, SCMP_FLTATR_CTL_TSYNC, 1) != 0;
  for (const char* name : {"fork",    "vfork",  "execve", "execveat", "ptrace",   "process_vm_readv", "process_vm_writev", "connect",    "bind",
                           "listen",  "sendto", "creat",  "unlink",   "unlinkat", "rename",           "renameat",          "renameat2",  "mkdir",
                           "mkdirat", "mount",  "setns",  "unshare",  "bpf",      "perf_event_open",  "io_uring_setup",    "pidfd_open", "kill",
                           "tkill"}) {
    const int call = seccomp_syscall_resolve_name(name);
    if (call != __NR_SCMP_ERROR) refused = refused || seccomp_rule_add(context, SCMP_ACT_KILL_PROCESS, call, 0) != 0;
  }
  refused = refused || seccomp_load(context) != 0;
  seccomp_release(context);
  if (refused) throw Error(ExitCode::kInternal, "the kernel refuses the worker's seccomp filter");
}

void CudaConfinement::seal(int, int, bool) {}

}  // namespace amdahl

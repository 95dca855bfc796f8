#include "plan/cpu_device.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "base/amx.h"
#include "base/error.h"
#include "base/shell_word.h"

namespace amdahl {
namespace {

// A loaded library; unloads at its end.
class Library {
 public:
  explicit Library(const std::string& path) : path_(path), handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (!handle_)
      throw Error(ExitCode::kIo, fmt::format("cannot load a compiled kernel ({}): remove {} if it is damaged, and run again", dlerror(), shell_word(path)));
  }
  ~Library() { dlclose(handle_); }
  Library(const Library&) = delete;

  template <typename F>
  F* function(const char* name) const {
    auto* found = reinterpret_cast<F*>(dlsym(handle_, name));
    if (!found) throw Error(ExitCode::kInternal, fmt::format("{} lacks the symbol {}", path_, name));
    return found;
  }

 private:
  std::string path_;
  void* handle_;
};

class CpuKernel : public KernelModule {
 public:
  using Run = void(const void* const* in, void* const* out, void* workspace);

  explicit CpuKernel(const std::string& library)
      : library_(library),
        workspace_bytes_(library_.function<size_t()>("amdahl_workspace_bytes")),
        packed_bytes_(library_.function<size_t(int)>("amdahl_packed_bytes")),
        pack_(library_.function<void(int, const void*, void*)>("amdahl_pack")),
        run_(library_.function<Run>("amdahl_run")) {}

  size_t workspace_bytes() const override { return workspace_bytes_(); }
  size_t packed_bytes(int input) const override { return packed_bytes_(input); }
  void pack(int input, const std::byte* raw, std::byte* packed) const override { pack_(input, raw, packed); }
  Run* entry() const { return run_; }

 private:
  Library library_;
  size_t (*workspace_bytes_)();
  size_t (*packed_bytes_)(int);
  void (*pack_)(int, const void*, void*);
  Run* run_;
};

class CallsInARow : public Executable {
 public:
  explicit CallsInARow(std::vector<BoundCall> calls) {
    for (BoundCall& c : calls) calls_.push_back({static_cast<const CpuKernel*>(c.kernel)->entry(), std::move(c)});
  }

  void run() override {
    for (const Call& call : calls_) call.make();
  }

  void run_timed(std::vector<double>& seconds) override {
    auto before = std::chrono::steady_clock::now();
    for (size_t c = 0; c < calls_.size(); ++c) {
      calls_[c].make();
      const auto now = std::chrono::steady_clock::now();
      seconds[c] += std::chrono::duration<double>(now - before).count();
      before = now;
    }
  }

  void move_input(size_t call, size_t operand, const void* to) override { calls_[call].bound.in[operand] = to; }
  void move_output(size_t call, size_t operand, void* to) override { calls_[call].bound.out[operand] = to; }

 private:
  struct Call {
    CpuKernel::Run* entry;
    BoundCall bound;
    void make() const { entry(bound.in.data(), bound.out.data(), bound.workspace); }
  };
  std::vector<Call> calls_;
};

}  // namespace

CpuDevice::CpuDevice() {
  allow_amx();  // kernels do not ask themselves
}

// Whole pages alone: what lies beside the bytes is somebody's.
void CpuDevice::discard(const std::byte* data, size_t bytes) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE)), at = reinterpret_cast<uintptr_t>(data);
  const uintptr_t first = (at + page - 1) / page * page, end = (at + bytes) / page * page;
  if (end > first) madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);
}

void CpuDevice::write(std::byte* to, std::span<const std::byte> from) { std::copy(from.begin(), from.end(), to); }

void CpuDevice::read(const std::byte* from, std::span<std::byte> to) { std::copy_n(from, to.size(), to.begin()); }

std::unique_ptr<KernelModule> CpuDevice::load(const std::string& artifact) { return std::make_unique<CpuKernel>(artifact); }

std::unique_ptr<Executable> CpuDevice::prepare(std::vector<BoundCall> calls) { return std::make_unique<CallsInARow>(std::move(calls)); }

}  // namespace amdahl

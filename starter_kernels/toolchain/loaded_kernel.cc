#include <dlfcn.h>
#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "base/shell_word.h"
#include "starter_kernels/toolchain/cpu_toolchain.h"

namespace amdahl {
namespace {

template <typename F>
void bind(void* handle, const char* name, const std::string& library, F*& function) {
  function = reinterpret_cast<F*>(dlsym(handle, name));
  if (!function) throw Error(ExitCode::kInternal, fmt::format("{} lacks the symbol {}", library, name));
}

}  // namespace

LoadedKernel::LoadedKernel(const std::string& library) {
  handle_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle_) throw Error(ExitCode::kIo, fmt::format("cannot load a compiled kernel ({}): remove {} if it is damaged, and run again", dlerror(), shell_word(library)));
  bind(handle_, "amdahl_workspace_bytes", library, workspace_bytes_);
  bind(handle_, "amdahl_packed_bytes", library, packed_bytes_);
  bind(handle_, "amdahl_pack", library, pack_);
  bind(handle_, "amdahl_run", library, run_);
}

LoadedKernel::~LoadedKernel() {
  if (handle_) dlclose(handle_);
}

LoadedKernel::LoadedKernel(LoadedKernel&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)),
      workspace_bytes_(other.workspace_bytes_),
      packed_bytes_(other.packed_bytes_),
      pack_(other.pack_),
      run_(other.run_) {}

}  // namespace amdahl

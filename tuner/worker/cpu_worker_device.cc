#include "tuner/worker/cpu_worker_device.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "base/error.h"
#include "tuner/worker/descriptors.h"
#include "tuner/worker/guarded_memory.h"

namespace amdahl {

CpuWorkerDevice::~CpuWorkerDevice() {
  if (constants_.first) munmap(constants_.reserved, constants_.span);
}

void CpuWorkerDevice::on_kernel_threads(const std::function<void()>& task) {
#pragma omp parallel
  task();
}

// What the loader will do with any library: a failure here says nothing of what is in it.
void CpuWorkerDevice::require_loadable(const std::string& artifact) {
  const int fd = open(artifact.c_str(), O_RDONLY | O_CLOEXEC);
  const int not_opened = errno;
  if (fd < 0) throw Error(ExitCode::kIo, fmt::format("cannot open {}: {}", artifact, std::strerror(not_opened)));
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
  const int not_mapped = errno;
  close(fd);
  if (page == MAP_FAILED) throw Error(ExitCode::kIo, fmt::format("cannot run code from {}: {}", artifact, std::strerror(not_mapped)));
  munmap(page, 4096);
}

void CpuWorkerDevice::keep_loaded(const std::string& artifact) {
  if (!dlopen(artifact.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE))
    throw Error(ExitCode::kInternal, fmt::format("cannot load {}: {}", artifact, dlerror()));
}

const std::byte* CpuWorkerDevice::constants(size_t bytes) {
  if (bytes > constants_bytes_) {
    const FileMapping m = map_on_huge_pages(kConstantsDescriptor, 0, up_to_huge_page(bytes), PROT_READ);
    if (!m.first) throw std::bad_alloc();
    if (constants_.first) munmap(constants_.reserved, constants_.span);
    constants_ = m;
    constants_bytes_ = up_to_huge_page(bytes);
  }
  return constants_.first;
}

std::unique_ptr<GuardedBuffer> CpuWorkerDevice::map(const std::string& name, size_t bytes, size_t element, Layout layout, Operands operands, int64_t at) {
  const bool writable = operands == Operands::kWritten;
  return std::make_unique<GuardedMemory>(name, bytes, element, layout, writable ? kOutputsDescriptor : kInputsDescriptor, at, writable);
}

std::unique_ptr<GuardedBuffer> CpuWorkerDevice::allocate(const std::string& name, size_t bytes, size_t element, Layout layout) {
  return std::make_unique<GuardedMemory>(name, bytes, element, layout);
}

}  // namespace amdahl

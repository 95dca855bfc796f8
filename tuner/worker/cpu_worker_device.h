#pragma once
// The processor as a worker's device: operands are mapped from the supervisor's files, and code is the loader's.

#include "plan/cpu_device.h"
#include "tuner/worker/huge_file.h"
#include "tuner/worker/worker_device.h"

namespace amdahl {

class CpuWorkerDevice : public WorkerDevice {
 public:
  ~CpuWorkerDevice() override;
  Device& device() override { return device_; }
  void on_kernel_threads(const std::function<void()>& task) override;  // OpenMP's
  void require_loadable(const std::string& artifact) override;
  void keep_loaded(const std::string& artifact) override;
  const std::byte* constants(size_t bytes) override;
  std::unique_ptr<GuardedBuffer> map(const std::string& name, size_t bytes, size_t element, Layout layout, Operands operands, int64_t at) override;
  std::unique_ptr<GuardedBuffer> allocate(const std::string& name, size_t bytes, size_t element, Layout layout) override;

 private:
  CpuDevice device_;
  FileMapping constants_;
  size_t constants_bytes_ = 0;
};

}  // namespace amdahl

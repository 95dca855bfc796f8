#pragma once
// The processor as a device: its addresses are this process's, kernels are functions of shared libraries, and to run is to call them in a row.

#include "plan/device.h"
#include "plan/huge_pages.h"

namespace amdahl {

class CpuDevice : public Device {
 public:
  CpuDevice();
  std::byte* allocate(size_t bytes) override { return pages_.take(bytes); }
  void discard(const std::byte* data, size_t bytes) override;
  void write(std::byte* to, std::span<const std::byte> from) override;
  void read(const std::byte* from, std::span<std::byte> to) override;
  std::unique_ptr<KernelModule> load(const std::string& artifact) override;
  std::unique_ptr<Executable> prepare(std::vector<BoundCall> calls) override;

 private:
  HugePages pages_;
};

}  // namespace amdahl

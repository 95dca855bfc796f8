#pragma once
// What a process that runs kernels needs of a device: memory, the code of kernels, calls in a row. One class a backend implements it
// (plan/cpu_device.h); everything above plans, binds and packs alike for all of them.
//
// Addresses are the device's: they may be added to, compared and given to kernels. Only the device itself may look at what lies there, so the host's
// bytes go in by write() and come out by read().

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace amdahl {

// The device has stopped because of what a kernel did: nothing can be done with it any more in this process.
struct DeviceFault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The code of one kernel, ready to be called (the functions are those of starter_kernels/kinds/kernel_kind.h).
class KernelModule {
 public:
  virtual ~KernelModule() = default;
  virtual size_t workspace_bytes() const = 0;        // scratch of one call, 64-byte aligned
  virtual size_t packed_bytes(int input) const = 0;  // 0: this input is used as it comes
  // Returns when the copy can be read.
  virtual void pack(int input, const std::byte* raw, std::byte* packed) const = 0;
};

// One call of a kernel with its operands, as the kernel itself takes them.
struct BoundCall {
  const KernelModule* kernel = nullptr;  // loaded by the device that prepares the call, and outlives it
  std::vector<const void*> in;
  std::vector<void*> out;
  void* workspace = nullptr;
};

// Calls that the device has been told of once, to be made any number of times.
class Executable {
 public:
  virtual ~Executable() = default;
  // In order. Returns when every call is done and what it wrote can be read.
  virtual void run() = 0;
  // As run(); the seconds that it took by the device's own clock, where that knows better than the caller's.
  virtual std::optional<double> run_clocked() {
    run();
    return std::nullopt;
  }
  // As run(), with the seconds of call i added to seconds[i], which are as many as there are calls.
  virtual void run_timed(std::vector<double>& seconds) = 0;
  // From the next run on an operand of a call lies there. Calls that a device has recorded cannot be changed so.
  virtual void move_input(size_t call, size_t operand, const void* to) { (void)call, (void)operand, (void)to, throw std::logic_error("calls are fixed"); }
  virtual void move_output(size_t call, size_t operand, void* to) { (void)call, (void)operand, (void)to, throw std::logic_error("calls are fixed"); }
};

class Device {
 public:
  virtual ~Device() = default;
  // Zeroed, 64-byte aligned, until the device ends. Throws Error(kIo) when memory is refused.
  virtual std::byte* allocate(size_t bytes) = 0;
  // Nobody will read these bytes again: the device may use what memory lies under them. Without effect where it cannot.
  virtual void discard(const std::byte* data, size_t bytes) = 0;
  // Both return when the bytes are there.
  virtual void write(std::byte* to, std::span<const std::byte> from) = 0;
  virtual void read(const std::byte* from, std::span<std::byte> to) = 0;
  // `artifact`: the path of what the backend's toolchain has made. Throws Error(kIo, kInternal) when it does not load.
  virtual std::unique_ptr<KernelModule> load(const std::string& artifact) = 0;
  virtual std::unique_ptr<Executable> prepare(std::vector<BoundCall> calls) = 0;
};

}  // namespace amdahl

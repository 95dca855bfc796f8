#pragma once
// A device that is as strange to the host as one on a bus, and needs none. Its kernels are ordinary libraries, but they run on a thread of the
// device's own, one task after another, and a buffer can be touched only while a task that was given it is at work: whoever looks at one of its
// addresses on the host dies.

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <thread>

#include "tuner/worker/cpu_worker_device.h"

namespace amdahl::testing {

// Tasks in the order in which they were given. The thread begins with the first: it is confined as the one that gives it.
class DeviceThread {
 public:
  ~DeviceThread();
  void finish(const std::function<void()>& task);  // queues it, and returns when it is done; what it throws is thrown here

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::packaged_task<void()>> tasks_;
  bool ending_ = false;
  std::thread thread_;
};

// Memory of the device, by its addresses. Buffers are closed (PROT_NONE) but while a task holds them open.
class DistantMemory {
 public:
  struct Buffer {
    std::byte* first = nullptr;  // whole pages
    size_t bytes = 0;
    int protection = 0;  // while it is open
  };
  void add(Buffer* buffer);     // and closes it
  void remove(Buffer* buffer);  // and leaves it open
  // Throws std::out_of_range for an address that is none of the device's.
  const Buffer* buffer_of(const void* address);
  // One task with these open.
  void with_open(const std::vector<const Buffer*>& buffers, const std::function<void()>& task);

 private:
  std::mutex mutex_;
  std::map<const std::byte*, Buffer*> buffers_;  // by first
  DeviceThread thread_;
};

class DistantDevice : public Device {
 public:
  explicit DistantDevice(WorkerDevice& host) : host_(host) {}
  std::byte* allocate(size_t bytes) override;
  void discard(const std::byte*, size_t) override {}
  void write(std::byte* to, std::span<const std::byte> from) override;
  void read(const std::byte* from, std::span<std::byte> to) override;
  std::unique_ptr<KernelModule> load(const std::string& artifact) override;
  std::unique_ptr<Executable> prepare(std::vector<BoundCall> calls) override;
  // A task without memory.
  void finish(const std::function<void()>& task) { memory_.with_open({}, task); }
  // Takes memory of the host's into the device.
  std::unique_ptr<GuardedBuffer> adopt(std::unique_ptr<GuardedBuffer> host, size_t element, Layout layout, bool writable);

 private:
  WorkerDevice& host_;
  DistantMemory memory_;
  std::vector<std::unique_ptr<GuardedBuffer>> allocated_;
};

class DistantWorkerDevice : public WorkerDevice {
 public:
  DistantWorkerDevice();
  ~DistantWorkerDevice() override;
  Device& device() override { return device_; }
  void on_kernel_threads(const std::function<void()>& task) override {
    device_.finish([&] { host_.on_kernel_threads(task); });
  }
  void require_loadable(const std::string& artifact) override { host_.require_loadable(artifact); }
  void keep_loaded(const std::string& artifact) override { host_.keep_loaded(artifact); }
  const std::byte* constants(size_t bytes) override;
  std::unique_ptr<GuardedBuffer> map(const std::string& name, size_t bytes, size_t element, Layout layout, Operands operands, int64_t at) override;
  std::unique_ptr<GuardedBuffer> allocate(const std::string& name, size_t bytes, size_t element, Layout layout) override;

 private:
  void* reserved_;
  CpuWorkerDevice host_;
  DistantDevice device_{host_};
  const std::byte* constants_ = nullptr;
  size_t constants_bytes_ = 0;
};

}  // namespace amdahl::testing

#include "tests/distant/distant_device.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <stdexcept>

namespace amdahl::testing {

DeviceThread::~DeviceThread() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void DeviceThread::finish(const std::function<void()>& task) {
  std::packaged_task<void()> queued(task);
  std::future<void> done = queued.get_future();
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(queued));
    if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
  }
  changed_.notify_one();
  done.get();
}

void DeviceThread::work() {
  for (std::unique_lock lock(mutex_);;) {
    changed_.wait(lock, [this] { return ending_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    std::packaged_task<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
    lock.lock();
  }
}

namespace {

void protect(const DistantMemory::Buffer& buffer, int protection) {
  if (mprotect(buffer.first, buffer.bytes, protection) != 0) throw std::bad_alloc();
}

}  // namespace

void DistantMemory::add(Buffer* buffer) {
  protect(*buffer, PROT_NONE);
  const std::lock_guard lock(mutex_);
  buffers_[buffer->first] = buffer;
}

void DistantMemory::remove(Buffer* buffer) {
  const std::lock_guard lock(mutex_);
  buffers_.erase(buffer->first);
}

const DistantMemory::Buffer* DistantMemory::buffer_of(const void* address) {
  const auto* at = static_cast<const std::byte*>(address);
  const std::lock_guard lock(mutex_);
  auto next = buffers_.upper_bound(at);
  if (next == buffers_.begin()) throw std::out_of_range("no address of the device's");
  const Buffer* buffer = std::prev(next)->second;
  if (at >= buffer->first + buffer->bytes) throw std::out_of_range("no address of the device's");
  return buffer;
}

void DistantMemory::with_open(const std::vector<const Buffer*>& buffers, const std::function<void()>& task) {
  thread_.finish([&] {
    for (const Buffer* b : buffers) protect(*b, b->protection);
    task();
    for (const Buffer* b : buffers) protect(*b, PROT_NONE);
  });
}

namespace {

// Memory of the host's between guards, closed.
class DistantBuffer : public GuardedBuffer {
 public:
  DistantBuffer(DistantMemory& memory, std::unique_ptr<GuardedBuffer> host, const Placement& placement, bool writable)
      : memory_(memory), host_(std::move(host)), pages_{host_->data() - placement.offset, placement.pages, PROT_READ | (writable ? PROT_WRITE : 0)} {
    memory_.add(&pages_);
  }
  ~DistantBuffer() override { memory_.remove(&pages_); }
  std::byte* data() const override { return host_->data(); }
  size_t bytes() const override { return host_->bytes(); }
  void allow_writes(bool allowed) override { pages_.protection = PROT_READ | (allowed ? PROT_WRITE : 0); }
  bool intact() const override {
    bool is_intact = false;
    memory_.with_open({&pages_}, [&] { is_intact = host_->intact(); });
    return is_intact;
  }

 private:
  DistantMemory& memory_;
  std::unique_ptr<GuardedBuffer> host_;
  DistantMemory::Buffer pages_;
};

class DistantKernel : public KernelModule {
 public:
  DistantKernel(DistantMemory& memory, std::unique_ptr<KernelModule> host) : memory_(memory), host_(std::move(host)) {}
  size_t workspace_bytes() const override { return host_->workspace_bytes(); }
  size_t packed_bytes(int input) const override { return host_->packed_bytes(input); }
  void pack(int input, const std::byte* raw, std::byte* packed) const override {
    memory_.with_open({memory_.buffer_of(raw), memory_.buffer_of(packed)}, [&] { host_->pack(input, raw, packed); });
  }
  const KernelModule* host() const { return host_.get(); }

 private:
  DistantMemory& memory_;
  std::unique_ptr<KernelModule> host_;
};

class DistantCalls : public Executable {
 public:
  DistantCalls(DistantMemory& memory, std::vector<const DistantMemory::Buffer*> buffers, std::unique_ptr<Executable> host)
      : memory_(memory), buffers_(std::move(buffers)), host_(std::move(host)) {}
  void run() override {
    memory_.with_open(buffers_, [&] { host_->run(); });
  }
  void run_timed(std::vector<double>& seconds) override {
    memory_.with_open(buffers_, [&] { host_->run_timed(seconds); });
  }

 private:
  DistantMemory& memory_;
  std::vector<const DistantMemory::Buffer*> buffers_;
  std::unique_ptr<Executable> host_;
};

}  // namespace

std::unique_ptr<GuardedBuffer> DistantDevice::adopt(std::unique_ptr<GuardedBuffer> host, size_t element, Layout layout, bool writable) {
  const Placement p = placement(host->bytes(), element, layout);
  return std::make_unique<DistantBuffer>(memory_, std::move(host), p, writable);
}

std::byte* DistantDevice::allocate(size_t bytes) {
  constexpr size_t kLine = 64;
  allocated_.push_back(adopt(host_.allocate("memory of the device", bytes, kLine, Layout::kModel), kLine, Layout::kModel, true));
  return allocated_.back()->data();
}

void DistantDevice::write(std::byte* to, std::span<const std::byte> from) {
  memory_.with_open({memory_.buffer_of(to)}, [&] { std::copy(from.begin(), from.end(), to); });
}

void DistantDevice::read(const std::byte* from, std::span<std::byte> to) {
  memory_.with_open({memory_.buffer_of(from)}, [&] { std::copy_n(from, to.size(), to.begin()); });
}

std::unique_ptr<KernelModule> DistantDevice::load(const std::string& artifact) {
  return std::make_unique<DistantKernel>(memory_, host_.device().load(artifact));
}

std::unique_ptr<Executable> DistantDevice::prepare(std::vector<BoundCall> calls) {
  std::vector<const DistantMemory::Buffer*> buffers;
  for (BoundCall& call : calls) {
    call.kernel = static_cast<const DistantKernel*>(call.kernel)->host();
    for (const void* address : call.in) buffers.push_back(memory_.buffer_of(address));
    for (const void* address : call.out) buffers.push_back(memory_.buffer_of(address));
    buffers.push_back(memory_.buffer_of(call.workspace));
  }
  std::sort(buffers.begin(), buffers.end());
  buffers.erase(std::unique(buffers.begin(), buffers.end()), buffers.end());
  return std::make_unique<DistantCalls>(memory_, std::move(buffers), host_.device().prepare(std::move(calls)));
}

constexpr size_t kReserved = size_t{64} << 30;

// As drivers do: far more address space than there is memory, before anything is limited.
DistantWorkerDevice::DistantWorkerDevice() : reserved_(mmap(nullptr, kReserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
  if (reserved_ == MAP_FAILED) throw std::bad_alloc();
}

DistantWorkerDevice::~DistantWorkerDevice() { munmap(reserved_, kReserved); }

const std::byte* DistantWorkerDevice::constants(size_t bytes) {
  if (bytes > constants_bytes_) {
    std::byte* copy = device_.allocate(bytes);
    device_.write(copy, {host_.constants(bytes), bytes});
    constants_ = copy;
    constants_bytes_ = bytes;
  }
  return constants_;
}

std::unique_ptr<GuardedBuffer> DistantWorkerDevice::map(const std::string& name, size_t bytes, size_t element, Layout layout, Operands operands, int64_t at) {
  return device_.adopt(host_.map(name, bytes, element, layout, operands, at), element, layout, operands == Operands::kWritten);
}

std::unique_ptr<GuardedBuffer> DistantWorkerDevice::allocate(const std::string& name, size_t bytes, size_t element, Layout layout) {
  return device_.adopt(host_.allocate(name, bytes, element, layout), element, layout, true);
}

}  // namespace amdahl::testing

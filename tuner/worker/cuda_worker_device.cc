#include "tuner/worker/cuda_worker_device.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "base/cuda/cubin.h"
#include "base/cuda/driver.h"
#include "plan/cuda_device.h"
#include "tuner/worker/constants_file.h"
#include "tuner/worker/cuda_memory.h"
#include "tuner/worker/descriptors.h"
#include "tuner/worker/guarded_memory.h"
#include "tuner/worker/huge_file.h"
#include "tuner/worker/pages.h"

namespace amdahl {
namespace {

using cuda::check;
using cuda::driver;

CudaMemory::Guard guard_of(Layout layout) {
  return layout == Layout::kModel ? CudaMemory::Guard::kNone : layout == Layout::kEnd ? CudaMemory::Guard::kBack : CudaMemory::Guard::kFront;
}

std::byte* pointer(cuda::Address address) { return reinterpret_cast<std::byte*>(address); }

// A region of the supervisor's: its pages in this process, and a copy of data and slack on the card.
class SharedOperand : public GuardedBuffer {
 public:
  SharedOperand(Device& device, const std::string& name, size_t bytes, size_t element, Layout layout, bool writable, int64_t at)
      : device_(device),
        host_(name, bytes, element, layout, writable ? kOutputsDescriptor : kInputsDescriptor, at, writable),
        writable_(writable),
        is_guarded_(guard_of(layout) != CudaMemory::Guard::kNone),
        card_(bytes, front_of(host_), back_of(host_), guard_of(layout)) {
    if (!writable) card_.allow_writes(false);
  }

  std::byte* data() const override { return pointer(card_.data()); }
  size_t bytes() const override { return host_.bytes(); }
  void allow_writes(bool) override {}
  bool intact() const override { return true; }  // the supervisor looks at it itself
  bool is_as_taken() const override {
    if (is_guarded_) return true;  // no kernel can write to it
    std::vector<std::byte> there(all());
    device_.read(first_on_card(), there);
    return std::memcmp(there.data(), first_here(), there.size()) == 0;
  }
  void take() override { device_.write(first_on_card(), {first_here(), all()}); }
  void deliver() override {
    if (writable_) device_.read(first_on_card(), {first_here(), all()});
  }

 private:
  static size_t front_of(const GuardedMemory& host) { return reinterpret_cast<uintptr_t>(host.data()) % kPage; }
  static size_t back_of(const GuardedMemory& host) {
    const auto end = reinterpret_cast<uintptr_t>(host.data()) + host.bytes();
    return (kPage - end % kPage) % kPage;
  }
  std::byte* first_here() const { return host_.data() - card_.front(); }
  std::byte* first_on_card() const { return pointer(card_.alias() - card_.front()); }
  size_t all() const { return card_.front() + host_.bytes() + card_.back(); }

  Device& device_;
  GuardedMemory host_;
  bool writable_, is_guarded_;
  CudaMemory card_;
};

// Memory of the worker's own, with a pattern beside it. Always between guards: what is scratch or packed is judged nowhere else than where it is timed, and a
// packed copy is to be read alone.
class OwnBuffer : public GuardedBuffer {
 public:
  OwnBuffer(Device& device, size_t bytes, Layout layout)
      : device_(device),
        bytes_(bytes),
        card_(bytes, layout == Layout::kEnd ? kPage : 0, layout == Layout::kEnd ? kPage : up_to_guard(bytes),
              layout == Layout::kEnd ? CudaMemory::Guard::kBack : CudaMemory::Guard::kFront) {
    check(driver().fill(card_.alias(), 0, std::max<size_t>(bytes, 1), nullptr), "cuMemsetD8Async");
    for (const auto& [at, count] : {std::pair{card_.alias() - card_.front(), card_.front()}, {card_.alias() + bytes, card_.back()}})
      if (count > 0) check(driver().fill(at, static_cast<unsigned char>(kSlack), count, nullptr), "cuMemsetD8Async");
    check(driver().synchronize(nullptr), "cuStreamSynchronize");
  }

  std::byte* data() const override { return pointer(card_.data()); }
  size_t bytes() const override { return bytes_; }
  void allow_writes(bool allowed) override { card_.allow_writes(allowed); }
  bool intact() const override {
    std::vector<std::byte> beside(card_.front() + card_.back());
    device_.read(pointer(card_.alias() - card_.front()), {beside.data(), card_.front()});
    device_.read(pointer(card_.alias() + bytes_), {beside.data() + card_.front(), card_.back()});
    return std::all_of(beside.begin(), beside.end(), [](std::byte b) { return b == kSlack; });
  }

 private:
  // At least a page, and all that is mapped behind the data.
  static size_t up_to_guard(size_t bytes) {
    const size_t data = (std::max<size_t>(bytes, 1) + 63) / 64 * 64;
    return (data + kPage + cuda::kGranule - 1) / cuda::kGranule * cuda::kGranule - data;
  }

  Device& device_;
  size_t bytes_;
  CudaMemory card_;
};

class CudaWorkerDevice : public WorkerDevice {
 public:
  Device& device() override { return *device_; }
  bool has_clock() const override { return true; }
  void on_kernel_threads(const std::function<void()>&) override {}

  void require_loadable(const std::string&) override {}  // a cubin is data to this machine
  void keep_loaded(const std::string& artifact) override { cuda::read_cubin(artifact); }

  // A block of whole granules that nothing uses: which of the card's memory the next ones get depends on it.
  void displace(uint64_t seed) override {
    displacing_.reset();
    displacing_ = std::make_unique<CudaMemory>((1 + seed % kMostGranules) * cuda::kGranule, 0, 0, CudaMemory::Guard::kNone);
  }

  const std::byte* constants(size_t bytes) override {
    if (bytes <= constants_bytes_) return constants_;
    const FileMapping m = map_on_huge_pages(kConstantsDescriptor, 0, up_to_huge_page(bytes), PROT_READ);
    if (!m.first) throw std::bad_alloc();
    constants_ = device_->allocate(bytes);
    constants_bytes_ = bytes;
    device_->write(constants_, {m.first, bytes});
    munmap(m.reserved, m.span);
    return constants_;
  }
  std::unique_ptr<GuardedBuffer> map(const std::string& name, size_t bytes, size_t element, Layout layout, Operands operands, int64_t at) override {
    return std::make_unique<SharedOperand>(*device_, name, bytes, element, layout, operands == Operands::kWritten, at);
  }
  std::unique_ptr<GuardedBuffer> allocate(const std::string&, size_t bytes, size_t, Layout layout) override {
    return std::make_unique<OwnBuffer>(*device_, bytes, layout);
  }

 private:
  static int number() {
    const char* text = std::getenv(kCardVariable);
    return text ? std::atoi(text) : 0;
  }

  static constexpr uint64_t kMostGranules = 64;

  std::unique_ptr<Device> device_ = make_cuda_device(number());
  std::unique_ptr<CudaMemory> displacing_;
  std::byte* constants_ = nullptr;
  size_t constants_bytes_ = 0;
};

}  // namespace

std::unique_ptr<WorkerDevice> make_cuda_worker_device() { return std::make_unique<CudaWorkerDevice>(); }

}  // namespace amdahl

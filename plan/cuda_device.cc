#include "plan/cuda_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "base/cuda/cubin.h"
#include "base/cuda/driver.h"
#include "base/error.h"

namespace amdahl {
namespace {

using cuda::Address;
using cuda::driver;

// cuda::check(), of which a fault is the device's.
void check(int result, const char* call) {
  try {
    cuda::check(result, call);
  } catch (const cuda::Fault& fault) {
    throw DeviceFault(fault.what());
  }
}

Address address_of(const void* pointer) { return reinterpret_cast<Address>(pointer); }

// The card's primary context, current on this thread, and the one stream that everything here goes through: what is given later begins later.
class Card {
 public:
  explicit Card(int number) {
    check(driver().device_get(&device_, number), "cuDeviceGet");
    check(driver().primary_context(&context_, device_), "cuDevicePrimaryCtxRetain");
    const auto lock = enter();
    check(driver().create_stream(&stream_, cuda::kNonBlocking), "cuStreamCreate");
  }
  ~Card() {
    driver().destroy_stream(stream_);
    driver().release_primary_context(device_);
  }
  Card(const Card&) = delete;

  // For one thread at a time: what two give to one stream would be mixed, and part of what is captured.
  [[nodiscard]] std::unique_lock<std::recursive_mutex> enter() const {
    std::unique_lock lock(mutex_);
    check(driver().set_context(context_), "cuCtxSetCurrent");
    return lock;
  }
  cuda::Stream stream() const { return stream_; }
  void finish() const { check(driver().synchronize(stream_), "cuStreamSynchronize"); }

 private:
  mutable std::recursive_mutex mutex_;
  int device_ = 0;
  cuda::Context context_ = nullptr;
  cuda::Stream stream_ = nullptr;
};

class CudaKernel : public KernelModule {
 public:
  CudaKernel(const Card& card, const std::string& artifact) : card_(card), cubin_(cuda::read_cubin(artifact)) {
    const auto lock = card_.enter();
    check(driver().load_module(&module_, cubin_.image.data()), "cuModuleLoadData");
    for (const cuda::Launch& l : cubin_.launches) functions_.push_back(function(l));
    for (const cuda::Pack& p : cubin_.packs) packs_.push_back(p.bytes > 0 ? function(p.launch) : nullptr);
  }
  ~CudaKernel() override { driver().unload_module(module_); }
  CudaKernel(const CudaKernel&) = delete;

  size_t workspace_bytes() const override { return cubin_.workspace_bytes; }
  size_t packed_bytes(int input) const override {
    const auto i = static_cast<size_t>(input);
    return i < cubin_.packs.size() ? cubin_.packs[i].bytes : 0;
  }
  void pack(int input, const std::byte* raw, std::byte* packed) const override {
    const auto i = static_cast<size_t>(input);
    const auto lock = card_.enter();
    launch(packs_.at(i), cubin_.packs[i].launch, {{raw}, {packed}, nullptr}, {}, /*begins_early=*/false);
    card_.finish();
  }
  void call(const BoundCall& call) const {
    const std::vector<cuda::TensorMap> maps = maps_of(call);
    for (size_t l = 0; l < functions_.size(); ++l) launch(functions_[l], cubin_.launches[l], {call.in, call.out, call.workspace}, maps, cubin_.begins_early);
  }

 private:
  cuda::Function function(const cuda::Launch& l) const {
    cuda::Function f = nullptr;
    check(driver().get_function(&f, module_, l.function().c_str()), "cuModuleGetFunction");
    if (l.shared_bytes > 0) check(driver().set_function_attribute(f, cuda::kMaxDynamicSharedBytes, static_cast<int>(l.shared_bytes)), "cuFuncSetAttribute");
    // One division of a multiprocessor's memory into cache and shared memory for all kernels: where two differ, the second begins only when the first has left
    // the multiprocessor. A layer of GPT-2, seven kernels: 40 us and 34 (H200).
    check(driver().set_function_attribute(f, cuda::kSharedCarveout, 100), "cuFuncSetAttribute");
    return f;
  }

  std::vector<cuda::TensorMap> maps_of(const BoundCall& call) const {
    std::vector<cuda::TensorMap> maps;
    for (const cuda::Boxes& b : cubin_.boxes) {
      if (b.input >= call.in.size()) throw Error(ExitCode::kInternal, fmt::format("the kernel wants boxes of input {}, and has {}", b.input, call.in.size()));
      check(cuda::make_tensor_map(&maps.emplace_back(), address_of(call.in[b.input]) + b.offset, b), "cuTensorMapEncode");
    }
    return maps;
  }

  struct Operands {
    std::vector<const void*> in;
    std::vector<void*> out;
    void* workspace;
  };
  // The first parameter is `Operands` of starter_kernels/cuda/kernels/prelude.h, then come the maps. The driver copies as much as the kernel takes.
  void launch(cuda::Function f, const cuda::Launch& l, const Operands& of, std::vector<cuda::TensorMap> maps, bool begins_early) const {
    std::vector<const void*> operands(of.in);
    if (operands.empty()) operands.push_back(nullptr);
    operands.insert(operands.end(), of.out.begin(), of.out.end());
    operands.push_back(of.workspace);
    std::vector<void*> parameters{operands.data()};
    for (cuda::TensorMap& m : maps) parameters.push_back(&m);
    cuda::LaunchAttribute early;
    early.value.number = 1;
    cuda::LaunchConfiguration configuration;
    std::copy(std::begin(l.grid), std::end(l.grid), configuration.grid);
    std::copy(std::begin(l.block), std::end(l.block), configuration.block);
    configuration.shared_bytes = l.shared_bytes;
    configuration.stream = card_.stream();
    configuration.attributes = &early;
    configuration.attribute_count = begins_early ? 1 : 0;
    check(driver().launch(&configuration, f, parameters.data(), nullptr), "cuLaunchKernelEx");
  }

  const Card& card_;
  cuda::Cubin cubin_;
  cuda::Module module_ = nullptr;
  std::vector<cuda::Function> functions_, packs_;
};

// Calls in a row as one graph.
class Captured {
 public:
  Captured(const Card& card, const std::vector<BoundCall>& calls) {
    const auto lock = card.enter();
    check(driver().begin_capture(card.stream(), cuda::kCaptureOfThisThread), "cuStreamBeginCapture");
    for (const BoundCall& c : calls) static_cast<const CudaKernel*>(c.kernel)->call(c);
    check(driver().end_capture(card.stream(), &graph_), "cuStreamEndCapture");
    check(driver().instantiate(&executable_, graph_, 0), "cuGraphInstantiate");
  }
  ~Captured() {
    driver().destroy_executable(executable_);
    driver().destroy_graph(graph_);
  }
  Captured(const Captured&) = delete;

  void launch(const Card& card) const { check(driver().launch_graph(executable_, card.stream()), "cuGraphLaunch"); }
  // Seconds, between two events.
  double clocked(const Card& card, const cuda::Event (&events)[2]) const {
    check(driver().record(events[0], card.stream()), "cuEventRecord");
    launch(card);
    check(driver().record(events[1], card.stream()), "cuEventRecord");
    card.finish();
    float milliseconds = 0;
    check(driver().elapsed(&milliseconds, events[0], events[1]), "cuEventElapsedTime");
    return 1e-3 * static_cast<double>(milliseconds);
  }

 private:
  cuda::Graph graph_ = nullptr;
  cuda::GraphExec executable_ = nullptr;
};

class CudaGraph : public Executable {
 public:
  CudaGraph(const Card& card, std::vector<BoundCall> calls) : card_(card), calls_(std::move(calls)), program_(card, calls_) {
    for (cuda::Event& e : events_) check(driver().create_event(&e, 0), "cuEventCreate");
  }
  ~CudaGraph() override {
    const auto lock = card_.enter();
    for (cuda::Event e : events_) driver().destroy_event(e);
  }
  CudaGraph(const CudaGraph&) = delete;

  void run() override {
    const auto lock = card_.enter();
    program_.launch(card_);
    card_.finish();
  }

  std::optional<double> run_clocked() override {
    const auto lock = card_.enter();
    return program_.clocked(card_, events_);
  }

  // Each call by the card's clock, repeated in a graph of its own, and all of them scaled to what a run of all takes: begun one by one, calls of
  // microseconds are as long as it takes the host to begin them.
  void run_timed(std::vector<double>& seconds) override {
    const auto lock = card_.enter();
    std::vector<double> alone;
    double sum = 0;
    for (size_t c = 0; c < calls_.size(); ++c) sum += alone.emplace_back(repeated(c).clocked(card_, events_) / kRepeats);
    const double all = program_.clocked(card_, events_);
    for (size_t c = 0; c < calls_.size(); ++c) seconds[c] += sum > 0 ? alone[c] / sum * all : 0;
  }

 private:
  const Captured& repeated(size_t call) {
    repeated_.resize(calls_.size());
    if (!repeated_[call]) repeated_[call] = std::make_unique<Captured>(card_, std::vector<BoundCall>(kRepeats, calls_[call]));
    return *repeated_[call];
  }

  static constexpr size_t kRepeats = 16;

  const Card& card_;
  std::vector<BoundCall> calls_;
  Captured program_;
  std::vector<std::unique_ptr<Captured>> repeated_;  // by call; made when they are asked for
  cuda::Event events_[2] = {};
};

class CudaDevice : public Device {
 public:
  explicit CudaDevice(int number) : card_(number) {}
  ~CudaDevice() override {
    for (Address a : allocated_) driver().release(a);
  }

  std::byte* allocate(size_t bytes) override {
    const auto lock = card_.enter();
    Address address = 0;
    check(driver().allocate(&address, std::max<size_t>(bytes, 1)), "cuMemAlloc");
    allocated_.push_back(address);
    check(driver().fill(address, 0, std::max<size_t>(bytes, 1), card_.stream()), "cuMemsetD8Async");
    card_.finish();
    return reinterpret_cast<std::byte*>(address);
  }
  void discard(const std::byte*, size_t) override {}  // what lies beside the bytes may be in the same block
  void write(std::byte* to, std::span<const std::byte> from) override {
    const auto lock = card_.enter();
    // On the one stream: a copy without one may reach the card after kernels that are launched later.
    if (!from.empty()) check(driver().copy_to_device(address_of(to), from.data(), from.size(), card_.stream()), "cuMemcpyHtoDAsync");
    card_.finish();
  }
  void read(const std::byte* from, std::span<std::byte> to) override {
    const auto lock = card_.enter();
    if (!to.empty()) check(driver().copy_to_host(to.data(), address_of(from), to.size(), card_.stream()), "cuMemcpyDtoHAsync");
    card_.finish();
  }
  std::unique_ptr<KernelModule> load(const std::string& artifact) override { return std::make_unique<CudaKernel>(card_, artifact); }
  std::unique_ptr<Executable> prepare(std::vector<BoundCall> calls) override { return std::make_unique<CudaGraph>(card_, std::move(calls)); }

 private:
  Card card_;
  std::vector<Address> allocated_;
};

}  // namespace

std::unique_ptr<Device> make_cuda_device(int number) { return std::make_unique<CudaDevice>(number); }

}  // namespace amdahl

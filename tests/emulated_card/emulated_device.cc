#include "tests/emulated_card/emulated_device.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "starter_kernels/cuda/cuda_target.h"
#include "tests/emulated_card/emulated_card.h"
#include "tests/emulated_card/kernel_library.h"

namespace amdahl::testing {

Target emulated_target(Generation generation) {
  const bool newer = generation == Generation::kSm90;
  DeviceInfo card;
  card.name = newer ? "an emulated card of compute capability 9.0" : "an emulated card of compute capability 8.0";
  card.features = newer ? std::vector<std::string>{"sm_80", "sm_90"} : std::vector<std::string>{"sm_80"};
  card.units = newer ? 132 : 108;
  card.l1d_bytes = (newer ? 228 : 164) << 10;
  card.l2_bytes = card.l3_bytes = int64_t{newer ? 50 : 40} << 20;
  card.memory_bytes = int64_t{newer ? 80 : 40} << 30;
  return cuda_target(card);
}

namespace {

class EmulatedKernel : public KernelModule {
 public:
  EmulatedKernel(EmulatedCard& card, const std::string& artifact) : card_(card), library_(artifact) {}
  size_t workspace_bytes() const override { return library_.workspace_bytes(); }
  size_t packed_bytes(int input) const override {
    const auto i = static_cast<size_t>(input);
    return i < library_.packs().size() ? library_.packs()[i].bytes : 0;
  }
  void pack(int input, const std::byte* raw, std::byte* packed) const override {
    const void* operands[] = {raw, packed, nullptr};
    card_.launch(library_, library_.packs().at(static_cast<size_t>(input)).launch, operands);
  }
  // What an earlier call has left in the workspace is nobody's to read.
  void call(const BoundCall& call) const {
    std::vector<const void*> operands(call.in.begin(), call.in.end());
    if (call.in.empty()) operands.push_back(nullptr);
    operands.insert(operands.end(), call.out.begin(), call.out.end());
    operands.push_back(call.workspace);
    auto* workspace = static_cast<std::byte*>(call.workspace);
    std::memset(workspace, 0xff, workspace_bytes());
    card_.fill(workspace, workspace_bytes(), Contents::kNothing);
    for (const cuda::Launch& l : library_.launches()) card_.launch(library_, l, operands);
  }

 private:
  EmulatedCard& card_;
  KernelLibrary library_;
};

class EmulatedCalls : public Executable {
 public:
  explicit EmulatedCalls(std::vector<BoundCall> calls) : calls_(std::move(calls)) {}
  void run() override {
    for (const BoundCall& c : calls_) static_cast<const EmulatedKernel*>(c.kernel)->call(c);
  }
  void run_timed(std::vector<double>&) override { run(); }  // it has no time of its own

 private:
  std::vector<BoundCall> calls_;
};

class EmulatedDevice : public Device {
 public:
  std::byte* allocate(size_t bytes) override { return card_.allocate(bytes); }
  void discard(const std::byte*, size_t) override {}
  void write(std::byte* to, std::span<const std::byte> from) override {
    std::copy(from.begin(), from.end(), to);
    card_.fill(to, from.size(), Contents::kSomething);
  }
  void read(const std::byte* from, std::span<std::byte> to) override { std::copy_n(from, to.size(), to.begin()); }
  std::unique_ptr<KernelModule> load(const std::string& artifact) override { return std::make_unique<EmulatedKernel>(card_, artifact); }
  std::unique_ptr<Executable> prepare(std::vector<BoundCall> calls) override { return std::make_unique<EmulatedCalls>(std::move(calls)); }

 private:
  EmulatedCard card_;
};

}  // namespace

std::unique_ptr<Device> make_emulated_device() { return std::make_unique<EmulatedDevice>(); }

}  // namespace amdahl::testing

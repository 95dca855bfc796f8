#include "profiler/cuda_probe.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "base/clock.h"
#include "base/cuda/cards.h"
#include "base/cuda/nvrtc.h"
#include "base/error.h"
#include "base/statistics.h"
#include "plan/cuda_device.h"

namespace fs = std::filesystem;

namespace amdahl {
namespace {

constexpr int kLaunches = 30;

// Tables as in starter_kernels/cuda/kernels/prelude.h.
constexpr const char* kTables =
    "extern \"C\" __constant__ const Launch amdahl_launches[] = {{0, {BLOCKS, 1, 1}, {THREADS, 1, 1}, 0}};\n"
    "extern \"C\" __constant__ const unsigned long long amdahl_workspace_bytes = 0;\n";
constexpr const char* kTypes =
    "struct Launch { unsigned kernel, grid[3], block[3], shared; };\n"
    "struct Operands { const void* in[1]; void* out[1]; void* workspace; };\n";
constexpr const char* kHead = "extern \"C\" __global__ void __launch_bounds__(THREADS) amdahl_kernel_0(const __grid_constant__ Operands o) {\n";

// COUNT 16-byte elements are copied, each block its own contiguous piece, four loads in flight.
constexpr const char* kCopy =
    "  const uint4* from = (const uint4*)o.in[0] + blockIdx.x * 4ll * THREADS + threadIdx.x;\n"
    "  uint4* to = (uint4*)o.out[0] + blockIdx.x * 4ll * THREADS + threadIdx.x;\n"
    "  uint4 x[4];\n"
    "  for (int i = 0; i < 4; ++i) x[i] = __ldcs(from + i * THREADS);\n"
    "  for (int i = 0; i < 4; ++i) __stcs(to + i * THREADS, x[i]);\n}\n";
// All of them are read TIMES times, and never written.
constexpr const char* kRead =
    "  unsigned sum = 0;\n"
    "  for (int t = 0; t < TIMES; ++t)\n"
    "    for (long long i = blockIdx.x * 4ll * THREADS + threadIdx.x; i < COUNT; i += 4ll * THREADS * BLOCKS) {\n"
    "      uint4 x[4];\n"
    "      for (int k = 0; k < 4; ++k) x[k] = __ldcg((const uint4*)o.in[0] + i + k * THREADS);\n"
    "      for (int k = 0; k < 4; ++k) sum += x[k].x ^ x[k].y ^ x[k].z ^ x[k].w;\n"
    "    }\n"
    "  if (sum == 0x12345678u) *(unsigned*)o.out[0] = sum;\n}\n";
// Eight independent chains of multiply-adds a thread.
constexpr const char* kFma =
    "  float x[8];\n  for (int i = 0; i < 8; ++i) x[i] = threadIdx.x + i;\n"
    "  const float a = *(const float*)o.in[0], b = a + 1;\n"
    "  for (int t = 0; t < TIMES; ++t)\n#pragma unroll\n    for (int i = 0; i < 8; ++i) x[i] = x[i] * a + b;\n"
    "  float sum = 0;\n  for (int i = 0; i < 8; ++i) sum += x[i];\n  if (sum == 12345) *(float*)o.out[0] = sum;\n}\n";
// Four independent chains of 16x8x16 products a warp.
constexpr const char* kMma =
    "  float c[4][4] = {};\n  const unsigned a = *(const unsigned*)o.in[0];\n"
    "  for (int t = 0; t < TIMES; ++t)\n#pragma unroll\n    for (int i = 0; i < 4; ++i)\n"
    "      asm volatile(\"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4}, {%0,%1,%2,%3};\"\n"
    "                   : \"+f\"(c[i][0]), \"+f\"(c[i][1]), \"+f\"(c[i][2]), \"+f\"(c[i][3]) : \"r\"(a));\n"
    "  if (c[0][0] + c[1][1] + c[2][2] + c[3][3] == 12345) *(float*)o.out[0] = c[0][0];\n}\n";

// A number a thread is read, and written where the next call reads it: a launch and a look at memory.
constexpr const char* kLook = "  const int i = blockIdx.x * THREADS + threadIdx.x;\n  ((float*)o.out[0])[i] = ((volatile float*)o.out[0])[i] + 1;\n}\n";

struct Sizes {
  int64_t blocks = 1, threads = 256, times = 1, bytes = 0;
};

// Kernels of this program's own, compiled in this process and loaded from a file that is gone afterwards.
class Bench {
 public:
  explicit Bench(const DeviceInfo& card) : card_(card), device_(make_cuda_device(card.number)) {}

  // Seconds of a call, by repetition.
  std::vector<double> time(const char* body, const Sizes& s, std::byte* in, std::byte* out) {
    const std::unique_ptr<KernelModule> kernel = load(body, s);
    BoundCall call;
    call.kernel = kernel.get();
    call.in = {in};
    call.out = {out};
    const std::unique_ptr<Executable> executable = device_->prepare({call});
    std::vector<double> all;
    for (int r = 0; r < kLaunches + 3; ++r) {
      std::vector<double> seconds(1);
      executable->run_timed(seconds);
      if (r >= 3) all.push_back(seconds[0]);
    }
    return all;
  }

  // Of one kernel among many in a graph, each of which waits for the one before.
  double launch_seconds(const char* body, std::byte* in, std::byte* out) {
    const std::unique_ptr<KernelModule> kernel = load(body, {card_.units, 32, 1, 0});
    BoundCall call;
    call.kernel = kernel.get();
    call.in = {in};
    call.out = {out};
    constexpr int kFew = 20, kMany = 220;
    const auto of = [&](int count) {
      const std::unique_ptr<Executable> executable = device_->prepare(std::vector<BoundCall>(static_cast<size_t>(count), call));
      std::vector<double> all;
      for (int r = 0; r < kLaunches; ++r) {
        const auto start = Clock::now();
        executable->run();
        all.push_back(since(start));
      }
      return median(all);
    };
    return std::max(0.0, (of(kMany) - of(kFew)) / (kMany - kFew));
  }

  Device& device() { return *device_; }

 private:
  std::unique_ptr<KernelModule> load(const char* body, const Sizes& s) {
    const std::string text = fmt::format("enum : long long {{ BLOCKS = {}, THREADS = {}, TIMES = {}, COUNT = {} }};\n{}{}{}{}", s.blocks, s.threads, s.times,
                                         s.bytes / 16, kTypes, kHead, body, kTables);
    const cuda::NvrtcResult built = nvrtc_.compile(text, cuda::architecture_of(card_));
    if (!built.ok) throw Error(ExitCode::kInternal, "a kernel that measures the card does not compile: " + built.log);
    const fs::path file = fs::temp_directory_path() / fmt::format("amdahl-probe-{}.cubin", getpid());
    std::ofstream(file, std::ios::binary) << built.code;
    std::unique_ptr<KernelModule> kernel = device_->load(file);
    fs::remove(file);
    return kernel;
  }

  DeviceInfo card_;
  cuda::Nvrtc nvrtc_;
  std::unique_ptr<Device> device_;
};

struct CardRate {
  double best = 0, spread = 0;
};

// `amount` a call, in 1e9 a second: the upper decile.
CardRate card_rate_of(double amount, std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  const double fast = seconds[seconds.size() / 10], middle = seconds[seconds.size() / 2];
  return {amount / fast * 1e-9, 1 - fast / middle};
}

class CudaProbe : public CeilingProbe {
 public:
  explicit CudaProbe(const DeviceInfo& device) : device_(device) {}
  const DeviceInfo& device() const override { return device_; }
  std::string state() const override { return fmt::format("card {}", device_.number); }
  // Whether others use the card shows in pairs that disagree: a figure of one moment would say little of the next.
  double share_of_peak(const Ceilings&, int) const override { return 1; }

  Ceilings measure(const CeilingsProgress& progress) const override {
    const auto start = Clock::now();
    const auto say = [&](double fraction, const char* what) {
      if (progress) progress(fraction, what);
    };
    Ceilings c;
    c.machine = device_.fingerprint();
    c.processors = state();
    c.l2_bytes = device_.l2_bytes;  // shared by all; a block's own memory holds no operand from one call to the next
    say(0, "compiling");
    Bench bench(device_);
    const int64_t large = std::min<int64_t>(int64_t{256} << 20, device_.memory_bytes / 8);
    std::byte *in = bench.device().allocate(static_cast<size_t>(large)), *out = bench.device().allocate(static_cast<size_t>(large));
    say(0.2, "memory");
    for (int64_t bytes : {large / 16, large / 4, large}) {
      const CardRate r = card_rate_of(2.0 * static_cast<double>(bytes), bench.time(kCopy, {bytes / 16 / 4 / 256, 256, 1, bytes}, in, out));
      c.bandwidth.push_back({MemoryLevel::kDram, fmt::format("copy of {} MB", bytes >> 20), 1, 2 * bytes, r.best, r.spread});
    }
    const int64_t blocks = 4 * device_.units;
    const CardRate read = card_rate_of(static_cast<double>(large), bench.time(kRead, {blocks, 512, 1, large}, in, out));
    c.bandwidth.push_back({MemoryLevel::kDram, "read", 1, large, read.best, read.spread});
    say(0.5, "L2");
    const int64_t cached = device_.l2_bytes / 4 / (1 << 20) * (1 << 20);
    const CardRate l2 = card_rate_of(16.0 * static_cast<double>(cached), bench.time(kRead, {blocks, 512, 16, cached}, in, out));
    c.bandwidth.push_back({MemoryLevel::kL2, "read", 1, cached, l2.best, l2.spread});
    say(0.7, "arithmetic");
    constexpr int kTimes = 20000;
    const CardRate fma =
        card_rate_of(2.0 * 8 * kTimes * 256 * static_cast<double>(8 * device_.units), bench.time(kFma, {8 * device_.units, 256, kTimes, 0}, in, out));
    c.arithmetic.push_back({"fp32 multiply-add", 1, true, fma.best, fma.spread});
    const CardRate mma = card_rate_of(2.0 * 16 * 8 * 16 * 4 * kTimes * 8 * static_cast<double>(4 * device_.units),
                                      bench.time(kMma, {4 * device_.units, 256, kTimes, 0}, in, out));
    c.arithmetic.push_back({std::string(kHalvesForm) + " on tensor cores (mma.sync)", 1, false, mma.best, mma.spread});
    say(0.9, "launches");
    c.barrier_seconds = bench.launch_seconds("}\n", in, out);
    c.call_seconds = bench.launch_seconds(kLook, in, out);
    c.measured_at = static_cast<int64_t>(std::time(nullptr));
    c.took_seconds = since(start);
    say(1.0, "done");
    return c;
  }

 private:
  DeviceInfo device_;
};

}  // namespace

std::unique_ptr<CeilingProbe> make_cuda_probe(const DeviceInfo& device) { return std::make_unique<CudaProbe>(device); }

}  // namespace amdahl

// What every device must do, whatever its memory is: each row of the table is asked.

#include "plan/devices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "base/cuda/cards.h"
#include "base/error.h"
#include "starter_kernels/cuda/cuda_target.h"
#include "starter_kernels/toolchain/cuda_toolchain.h"
#include "tests/plan/kernel_bench.h"
#include "tests/plan/packing_cuda_text.h"

namespace amdahl {
namespace {

constexpr int kNumbers = 8;
using Numbers = std::array<float, kNumbers>;

// out = in[0] - in[1], of which in[1] is packed: with its sign changed.
constexpr const char* kSubtracts =
    "#include <stddef.h>\n"
    "extern \"C\" size_t amdahl_workspace_bytes(void) { return 32; }\n"
    "extern \"C\" size_t amdahl_packed_bytes(int input) { return input == 1 ? 32 : 0; }\n"
    "extern \"C\" void amdahl_pack(int, const void* raw, void* packed) {\n"
    "  for (int i = 0; i < 8; ++i) ((float*)packed)[i] = -((const float*)raw)[i];\n"
    "}\n"
    "extern \"C\" void amdahl_run(const void* const* in, void* const* out, void* workspace) {\n"
    "  for (int i = 0; i < 8; ++i) ((float*)workspace)[i] = ((const float*)in[1])[i];\n"
    "  for (int i = 0; i < 8; ++i) ((float*)out[0])[i] = ((const float*)in[0])[i] + ((const float*)workspace)[i];\n"
    "}\n";

CompileResult built_for(std::string_view device) {
  if (device == "cpu") return testing::toolchain().compile_source(kSubtracts, {});
  Variant v;
  v.source_override = testing::packing_cuda_text(8);
  return CudaToolchain(default_cache_dir(), cuda_target(cuda::cards()[0])).compile(v);
}

Program::Buffer buffer(const char* name, Program::Role role) {
  Program::Buffer b;
  b.name = name;
  b.shape = {kNumbers};
  b.role = role;
  b.bytes = sizeof(Numbers);
  return b;
}

// Twice: (x - w) - w.
Program subtractions(std::string_view device) {
  const CompileResult built = built_for(device);
  if (!built.ok) throw std::runtime_error(built.message);
  Program p;
  p.buffers = {buffer("x", Program::Role::kInput), buffer("w", Program::Role::kConstant), buffer("between", Program::Role::kTemporary),
               buffer("y", Program::Role::kOutput)};
  p.buffers[1].blob_offset = 0;
  p.buffers[2].arena_offset = 0;
  p.arena_bytes = p.blob_bytes = 64;
  p.libraries = {built.library};
  p.calls = {{0, 0, {0, 1}, {2}}, {0, 1, {2, 1}, {3}}};
  p.inputs = {0};
  p.outputs = {3};
  return p;
}

std::span<const std::byte> bytes_of(const Numbers& numbers) { return std::as_bytes(std::span(numbers)); }

class EveryDevice : public ::testing::TestWithParam<DeviceMaker> {
 protected:
  Numbers output(const Executor& executor) const {
    Numbers y;
    executor.read(3, std::as_writable_bytes(std::span(y)));
    return y;
  }
  void SetUp() override {
    try {
      device_ = GetParam().make(0);
    } catch (const Error& error) {
      if (error.code() != ExitCode::kNoDevice) throw;
      GTEST_SKIP() << "this test needs the device " << GetParam().name << ": " << error.what();
    }
  }
  Program program() const { return subtractions(GetParam().name); }

  std::unique_ptr<Device> device_;
};

TEST_P(EveryDevice, HandsOutZeroedAlignedMemoryThatCanBeWrittenAndRead) {
  std::byte* first = device_->allocate(100);
  std::byte* second = device_->allocate(size_t{3} << 20);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 64, 0u);
  std::vector<std::byte> seen(100, std::byte{1});
  device_->read(first, seen);
  EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](std::byte b) { return b == std::byte{0}; }));
  const std::vector<std::byte> written(50, std::byte{7});
  device_->write(first + 25, written);
  device_->discard(second, size_t{3} << 20);
  device_->read(first, seen);
  EXPECT_EQ(std::count(seen.begin(), seen.end(), std::byte{7}), 50);
  EXPECT_EQ(seen[24], std::byte{0});
  EXPECT_EQ(seen[75], std::byte{0});
}

TEST_P(EveryDevice, RunsCallsInOrderAndPacksConstantsAnew) {
  std::byte* constants = device_->allocate(64);
  device_->write(constants, bytes_of({1, 2, 3, 4, 5, 6, 7, 8}));
  Executor executor(program(), *device_, constants);
  executor.write(0, bytes_of({10, 10, 10, 10, 20, 20, 20, 20}));
  executor.run();
  EXPECT_EQ(output(executor), (Numbers{8, 6, 4, 2, 10, 8, 6, 4}));
  device_->write(constants, bytes_of({}));
  executor.run();
  EXPECT_EQ(output(executor), (Numbers{8, 6, 4, 2, 10, 8, 6, 4}));
  executor.repack();
  executor.run();
  EXPECT_EQ(output(executor), (Numbers{10, 10, 10, 10, 20, 20, 20, 20}));
}

TEST_P(EveryDevice, RunsTheSameCallsOnOtherOperands) {
  std::byte *constants = device_->allocate(64), *x = device_->allocate(sizeof(Numbers)), *y = device_->allocate(sizeof(Numbers));
  Executor executor(program(), *device_, constants);
  const int elsewhere = executor.add_binding([&](int number) { return number == 0 ? x : number == 3 ? y : nullptr; });
  device_->write(x, bytes_of({1, 2, 3}));
  executor.run(elsewhere);
  Numbers got;
  device_->read(y, std::as_writable_bytes(std::span(got)));
  EXPECT_EQ(got, (Numbers{1, 2, 3}));
  EXPECT_EQ(output(executor), Numbers{});
}

TEST_P(EveryDevice, TimesEachCall) {
  std::byte* constants = device_->allocate(64);
  Executor executor(program(), *device_, constants);
  executor.write(0, bytes_of({5}));
  std::vector<double> seconds{100, 200};  // those of earlier runs
  executor.run_timed(seconds);
  ASSERT_EQ(seconds.size(), 2u);
  EXPECT_GE(seconds[0], 100);
  EXPECT_GE(seconds[1], 200);
  EXPECT_EQ(output(executor), (Numbers{5}));
}

TEST_P(EveryDevice, ConstantsThatArePackedMayBeDiscarded) {
  std::byte* constants = device_->allocate(64);
  device_->write(constants, bytes_of({1, 1, 1, 1, 1, 1, 1, 1}));
  Executor executor(program(), *device_, constants);
  executor.discard_packed_constants();
  executor.run();
  EXPECT_EQ(output(executor), (Numbers{-2, -2, -2, -2, -2, -2, -2, -2}));
}

TEST_P(EveryDevice, RefusesWhatIsNoKernel) { EXPECT_THROW(device_->load("/dev/null"), Error); }

INSTANTIATE_TEST_SUITE_P(Devices, EveryDevice, ::testing::ValuesIn(devices()), [](const auto& row) { return std::string(row.param.name); });

TEST(Devices, AnUnknownNameIsRefused) { EXPECT_THROW(make_device("abacus"), Error); }

}  // namespace
}  // namespace amdahl

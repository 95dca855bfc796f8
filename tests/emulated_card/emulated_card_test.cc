// What the emulated card lets pass, and what it calls a fault: a few lines of CUDA each.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "starter_kernels/cuda/cuda_text.h"
#include "starter_kernels/toolchain/cpu_toolchain.h"
#include "tests/emulated_card/emulated_device.h"
#include "tests/emulated_card/emulated_toolchain.h"

namespace amdahl {
namespace {

// `x` is an operand of 64 floats, 0, 1, 2, …; `y` of 64 that the kernel writes; `w` is a workspace of 64 floats. Two blocks of 64 threads, t.
struct Text {
  std::string body;
  std::string before = "";  // the kernel
  std::string launches = "{0, 2, 1, 1, 64, 1, 1, 256}";
  std::string defines = "";

  std::string whole() const {
    return defines + "enum { INPUTS = 1, OUTPUTS = 1 };\n#define HALF \"f16\"\n" + std::string(cuda_text("prelude.h")) + std::string(cuda_text("half.h")) +
           std::string(cuda_text("scalar_math.h")) + std::string(cuda_text("mma.h")) + before +
           "\nextern \"C\" __global__ void __launch_bounds__(64) amdahl_kernel_0(const __grid_constant__ Operands o) {\n"
           "const float* x = (const float*)o.in[0];\nfloat* y = (float*)o.out[0];\nfloat* w = (float*)o.workspace;\n"
           "const int t = threadIdx.x, first = blockIdx.x == 0;\n" +
           body + "\n}\nTABLE Launch amdahl_launches[] = {" + launches + "};\nTABLE uint64_t amdahl_workspace_bytes = 256;\n";
  }
};

struct Ending {
  std::string fault;  // "": none
  std::vector<float> y;
};

Ending run(const Text& text) {
  static const testing::EmulatedToolchain toolchain(default_cache_dir(), testing::emulated_target(testing::Generation::kSm80));
  Variant variant;
  variant.source_override = text.whole();
  const CompileResult r = toolchain.compile(variant);
  if (!r.ok) return {"does not compile: " + r.message, {}};
  const auto device = testing::make_emulated_device();
  std::vector<float> x(64), y(64, -1);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  const auto bytes = [](std::vector<float>& v) { return std::as_writable_bytes(std::span(v)); };
  std::byte *in = device->allocate(256), *out = device->allocate(256), *workspace = device->allocate(256);
  device->write(in, bytes(x));
  device->write(out, bytes(y));
  const auto kernel = device->load(r.library);
  try {
    device->prepare({{kernel.get(), {in}, {out}, workspace}})->run();
  } catch (const DeviceFault& fault) {
    return {fault.what(), {}};
  }
  device->read(out, bytes(y));
  return {"", y};
}

// One whose message has this in it.
void expect_fault(const Text& text, const std::string& of) {
  const Ending outcome = run(text);
  EXPECT_TRUE(outcome.fault.starts_with("thread ") || outcome.fault.find("wait") != std::string::npos) << text.body << "\n" << outcome.fault;
  EXPECT_NE(outcome.fault.find(of), std::string::npos) << text.body << "\n" << outcome.fault;
}
const std::string kAny;

void expect(const Text& text, float (*want)(int)) {
  const Ending outcome = run(text);
  ASSERT_EQ(outcome.fault, "") << text.body;
  for (int i = 0; i < 64; ++i) EXPECT_EQ(outcome.y[static_cast<size_t>(i)], want(i)) << text.body << "\n" << i;
}

constexpr const char* kRace = "nothing orders the two";

TEST(EmulatedCard, RunsEveryThreadOfEveryBlock) {
  expect({"if (t % 2 == first) y[t] = 100 * blockIdx.x + x[t];"}, [](int i) { return static_cast<float>(i % 2 ? i : 100 + i); });
}

TEST(EmulatedCard, ShufflesWhatLanesShow) {
  expect({"float v = x[t]; for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d); if (first) y[t] = v;"},
         [](int i) { return i < 32 ? 496.0f : 1520.0f; });
  expect({"float v = 0; if (t % 32 < 16) v = __shfl_xor_sync(0x0000ffffu, x[t], 1); if (first) y[t] = v;"},
         [](int i) { return i % 32 < 16 ? static_cast<float>(i ^ 1) : 0.0f; });
}

TEST(EmulatedCard, MissesLanesOfAShuffle) {
  expect_fault({"if (t % 32 != 7) __shfl_xor_sync(0xffffffffu, x[t], 1);"}, "waits in vain for lanes 0x80");
  expect_fault({"if (t == 40) return; __shfl_xor_sync(0xffffffffu, x[t], 1);"}, "waits in vain for lanes 0x100");
  expect_fault({"__shfl_xor_sync(0x0000ffffu, x[t], 1);"}, "takes part in a shuffle of 0xffff");
  expect_fault({"if (t % 32 < 16) __shfl_xor_sync(0x0000ffffu, x[t], 16);"}, "a lane that takes no part");
}

TEST(EmulatedCard, MissesThreadsOfABarrier) {
  expect_fault({"if (t < 63) __syncthreads();"}, "63 of 64 threads wait at a barrier");
  expect_fault({"if (t < 32) __syncthreads(); else __shfl_xor_sync(0xffffffffu, x[t], t == 40 ? 1 : 2);"}, "wait at a barrier");
  expect({"const int any = __syncthreads_or(t == 5), none = __syncthreads_or(t == 64); if (first) y[t] = 2 * any + none;"}, [](int) { return 2.0f; });
}

TEST(EmulatedCard, HasSharedMemory) {
  const std::string reversed = "values[t] = x[t]; __syncthreads(); if (first) y[t] = values[63 - t];";
  const auto want = [](int i) { return static_cast<float>(63 - i); };
  expect({"__shared__ float values[64]; " + reversed}, want);
  expect({"extern __shared__ float values[]; " + reversed}, want);
  expect({"reverse(x[t], y, first);",
          "template <class T> static inline void reverse(T v, T* y, int first) { __shared__ T values[64]; const int t = "
          "threadIdx.x; values[t] = v; __syncthreads(); if (first) y[t] = values[63 - t]; }"},
         want);
}

TEST(EmulatedCard, SeesRacesInSharedMemory) {
  for (const char* memory : {"__shared__ float values[65]; ", "extern __shared__ float values[]; "}) {
    const std::string begin = memory;
    expect_fault({begin + "values[t] = x[t]; y[t] = values[63 - t];"}, kAny);  // a race, or read before it was written
    expect_fault({begin + "values[t] = x[t]; __syncthreads(); values[t] += values[63 - t];"}, kRace);
    expect_fault({begin + "values[t] = x[t]; __syncthreads(); const float v = values[t ^ 1]; values[t] = v;"}, kRace);  // in one warp
    expect_fault({begin + "values[t / 2] = x[t]; __syncthreads(); if (first) y[t] = values[t / 2];"}, kRace);
    expect_fault({begin + "((char*)values)[t * 2] = 1; if (first) y[t] = ((short*)values)[t];"}, kAny);  // not written, or another's half
  }
  expect({"__shared__ float values[64]; values[t] = x[t]; __syncthreads(); const float v = values[63 - t]; __syncthreads(); values[t] = v; if (first) y[t] = "
          "values[t];"},
         [](int i) { return static_cast<float>(63 - i); });
}

TEST(EmulatedCard, AWarpsBarrierOrdersItsLanes) {
  const std::string begin = "__shared__ float values[64]; values[t] = x[t]; __syncwarp(); ";
  const auto want = [](int i) { return static_cast<float>(i ^ 1); };
  expect({begin + "if (first) y[t] = values[t ^ 1];"}, want);
  expect({begin + "const float v = values[t ^ 1]; __syncwarp(); values[t] = v; if (first) y[t] = values[t];"}, want);
  expect({begin + "const float v = values[t ^ 1] + values[t / 32 * 32] * 0; __syncwarp(); values[t] = v; if (first) y[t] = values[t];"}, want);
  expect_fault({begin + "const float v = values[t ^ 1]; values[t] = v;"}, kRace);
  expect_fault({begin + "if (first) y[t] = values[63 - t];"}, kAny);  // of the other warp: a race, or read before it was written
  expect_fault({begin + "__syncthreads(); const float v = values[0]; __syncwarp(); if (t == 0) values[0] = v + 1;"}, kRace);
  expect_fault({"if (t != 5) __syncwarp(); if (first) y[t] = 1;"}, "waits in vain");
}

TEST(EmulatedCard, SeesWhatNobodyHasWritten) {
  expect_fault({"__shared__ float values[64]; if (t > 0) values[t] = 1; __syncthreads(); y[t] = values[t];"}, "nobody has written");
  expect_fault({"extern __shared__ float values[]; if (first) values[t] = 1; __syncthreads(); y[t] = values[t];"}, "nobody has written");
  expect_fault({"if (first) y[t] = w[t];"}, "nobody has written");
  expect({"if (first) w[t] = x[t], y[t] = w[t];"}, [](int i) { return static_cast<float>(i); });
}

TEST(EmulatedCard, SeesWhatIsOutside) {
  expect_fault({"if (first) y[t] = x[t + 1];"}, "none of its operands'");
  expect_fault({"if (first) y[t - 1] = 0;"}, "none of its operands'");
  expect_fault({"if (first) y[t * 64] = 0;"}, "none of its operands'");
  expect_fault({"if (first && t == 0) *(float*)0 = 1;"}, "no memory of the card's");
  expect_fault({"((void**)&o)[0] = y;"}, "no memory of the card's");
  expect_fault({"extern __shared__ float values[]; values[t + 1] = 1;"}, "none of its operands'");
  expect_fault({"__shared__ float values[64], others[64]; values[t + 1] = 1; others[t] = 1;"}, "outside its array");
  expect_fault({"float own[4] = {}; own[t % 5] = x[t]; if (first) y[t] = own[t % 3];"}, "outside its array");
  expect_fault({"struct alignas(16) Four { float at[4]; }; if (first && t == 0) *(Four*)(y + 4) = *(const Four*)(x + 2);"}, "not aligned");
}

TEST(EmulatedCard, NothingOrdersTheBlocksOfALaunch) {
  expect_fault({"y[t] = x[t];"}, kRace);
  expect_fault({"if (first) w[t] = x[t]; else y[t] = w[t];"}, kAny);  // a race, or nothing is there yet
  expect_fault({"if (first) y[t] = x[t]; else x = (const float*)y, w[t] = x[t];"}, kRace);
  expect({"if (first) y[t] += x[t];", "", "{0, 2, 1, 1, 64, 1, 1, 0}, {0, 2, 1, 1, 64, 1, 1, 0}"}, [](int i) { return static_cast<float>(2 * i - 1); });
}

TEST(EmulatedCard, AtomicsMeet) {
  const std::string zeros = "long long* most = (long long*)w; if (first && t == 0) *most = -1;";
  const std::string both = "{0, 1, 1, 1, 64, 1, 1, 0}, {1, 2, 1, 1, 64, 1, 1, 0}, {2, 1, 1, 1, 64, 1, 1, 0}";
  const auto kernel = [](const char* number, const std::string& body) {
    return std::string("extern \"C\" __global__ void amdahl_kernel_") + number + "(const __grid_constant__ Operands o) { const int t = threadIdx.x; " + body +
           " }\n";
  };
  const std::string write = kernel("2", "((float*)o.out[0])[t] = *(const long long*)o.workspace;");
  expect({zeros, kernel("1", "atomicMax((long long*)o.workspace, (long long)t);") + write, both}, [](int) { return 63.0f; });
  expect_fault({zeros, kernel("1", "if (t == 5) *(long long*)o.workspace = 7; else atomicMax((long long*)o.workspace, (long long)t);") + write, both}, kRace);
}

TEST(EmulatedCard, CopiesInTheBackground) {
  const std::string copy = "extern __shared__ float values[]; copy_async<4>(values + t, x + t, t < 60 ? 4 : 0); end_group(); ";
  expect({copy + "wait_for_groups<0>(); __syncthreads(); if (first) y[t] = values[63 - t];"}, [](int i) { return i < 4 ? 0.0f : static_cast<float>(63 - i); });
  expect_fault({copy + "__syncthreads(); if (first) y[t] = values[63 - t];"}, "has not brought yet");
  expect_fault({copy + "wait_for_groups<1>(); __syncthreads(); if (first) y[t] = values[63 - t];"}, "has not brought yet");
  expect_fault({copy + "wait_for_groups<0>(); if (first) y[t] = values[63 - t];"}, kAny);  // another's may be on its way, or nothing orders them
  expect_fault({"extern __shared__ float values[]; copy_async<16>(values + 4 * (t % 8), x + t, 16);"}, "odd address");
}

TEST(EmulatedCard, RefusesWhatNoCardLaunches) {
  const Text many{"y[t] = 0;", "", "{0, 1, 1, 1, 1025, 1, 1, 0}"}, shared{"y[t] = 0;", "", "{0, 1, 1, 1, 64, 1, 1, 102400}"},
      wide{"y[t] = 0;", "", "{0, 1, 65536, 1, 64, 1, 1, 0}"}, missing{"y[t] = 0;", "", "{1, 1, 1, 1, 64, 1, 1, 0}"};
  for (const Text* text : {&many, &shared, &wide, &missing}) EXPECT_THROW(run(*text), Error) << text->launches;
}

// The worst error of a thread's 2000 numbers from -7 to 7, in units of 2^-24: the oracle allows 4 and 6 of the share itself.
TEST(ScalarMathOfCards, KnowsTheNormalShareOfHalfResultsToFourUnits) {
  const std::string body =
      "float worst = 0;\nfor (int i = 0; i < 2000; ++i) {\nconst float v = -7.f + 14.f * float(t * 2000 + i) / 128000.f;\n"
      "const float error = float(scalar::abs(double(scalar::normal_share(v)) - scalar::normal_share(double(v))));\nworst = error > worst ? error : worst;\n}\n"
      "if (first) y[t] = worst * 16777216.f;";
  for (const char* defines : {"#define HALF_RESULTS\n", ""}) {
    const Ending e = run({.body = body, .defines = defines});
    ASSERT_EQ(e.fault, "");
    for (float worst : e.y) {
      EXPECT_LT(worst, 4.5) << defines;
      EXPECT_GE(worst, 0);
    }
  }
}

}  // namespace
}  // namespace amdahl

// Every text for NVIDIA's cards is compiled for two architectures, wherever NVRTC is installed: no card is needed for that. AMDAHL_KINDS narrows it.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <mutex>
#include <optional>
#include <thread>

#include "base/cuda/cubin.h"
#include "base/cuda/nvrtc.h"
#include "base/error.h"
#include "base/random.h"
#include "starter_kernels/cuda/cuda_target.h"
#include "starter_kernels/cuda/cuda_text.h"
#include "starter_kernels/kinds/kernel_kind.h"
#include "starter_kernels/toolchain/cpu_toolchain.h"
#include "starter_kernels/toolchain/cuda_toolchain.h"
#include "tests/starter_kernels/absent_card.h"
#include "tests/starter_kernels/appended_keys.h"
#include "tests/starter_kernels/channels_last.h"

namespace amdahl {
namespace {

bool has_nvrtc() {
  try {
    const cuda::Nvrtc nvrtc;
    return true;
  } catch (const Error&) {
    return false;
  }
}

bool is_selected(std::string_view kind) {
  const char* kinds = std::getenv("AMDAHL_KINDS");
  return !kinds || !*kinds || ("," + std::string(kinds) + ",").find("," + std::string(kind) + ",") != std::string::npos;
}

// The variant with one knob at another value, where the space allows that.
std::optional<Variant> varied(const Target& target, Variant v, Random& random) {
  const SearchSpace space = target.space(v.problem);
  for (int attempt = 0; attempt < 20 && !space.knobs.empty(); ++attempt) {
    const Knob& knob = space.knobs[random.below(space.knobs.size())];
    Knobs knobs = v.knobs;
    knobs[knob.name] = knob.values[random.below(knob.values.size())];
    if (knobs == v.knobs || !space.refuse(knobs).empty()) continue;
    v.knobs = std::move(knobs);
    return v;
  }
  return std::nullopt;
}

class CudaTexts : public ::testing::TestWithParam<const KernelKind*> {};

// The kind's nodes of all examples, its problems over channels last, and attention to keys in two tensors.
std::vector<Problem> problems_of(const KernelKind& kind, const Target& target) {
  std::vector<Problem> problems;
  for (const Graph& graph : kind.examples())
    for (const Node& node : graph.nodes)
      if (const auto lowering = kind.lower(graph, node, 1)) problems.push_back(lowering->variant.problem);
  for (const Problem& problem : testing::problems_channels_last(kind.name(), target)) problems.push_back(problem);
  if (kind.name() == kind::kAttention)
    for (const testing::AppendedKeys& keys : testing::appended_keys()) problems.push_back(testing::problem_of(keys).problem);
  return problems;
}

// As the target starts with them; of every third a form with one knob at another value.
std::vector<Variant> variants_of(const KernelKind& kind, const Target& target) {
  std::vector<Variant> all;
  Random random(1);
  for (const Problem& problem : problems_of(kind, target)) {
    const SearchSpace space = target.space(problem);
    const Variant starter{problem, space.starters()};
    EXPECT_EQ(space.refuse(starter.knobs), "") << problem.canonical();
    all.push_back(starter);
    if (all.size() % 4 != 3) continue;
    if (const auto other = varied(target, starter, random)) all.push_back(*other);
  }
  return all;
}

// Architectures take turns, which keeps the run short; AMDAHL_EXHAUSTIVE=1 builds all for both.
TEST_P(CudaTexts, Compile) {
  if (!has_nvrtc()) GTEST_SKIP() << "NVRTC is not installed";
  if (!is_selected(GetParam()->name())) GTEST_SKIP() << "not selected by AMDAHL_KINDS";
  const Target older = testing::ampere(), newer = testing::hopper();
  if (!newer.computes(GetParam()->name())) GTEST_SKIP() << newer.lacks(GetParam()->name());
  const CudaToolchain for_older(default_cache_dir(), older), for_newer(default_cache_dir(), newer);
  const std::vector<Variant> of_older = variants_of(*GetParam(), older), of_newer = variants_of(*GetParam(), newer);
  std::mutex mutex;
  std::atomic<size_t> next{0};
  const auto build = [&](const Variant& v, const CudaToolchain& toolchain) {
    const CompileResult r = toolchain.compile(v);
    const std::lock_guard lock(mutex);
    EXPECT_TRUE(r.ok) << r.message << "\n" << Json(v).dump().substr(0, 1000);
    if (r.ok) {
      EXPECT_FALSE(cuda::read_cubin(r.library).launches.empty());
    }
  };
  const bool all = std::getenv("AMDAHL_EXHAUSTIVE") != nullptr;
  std::vector<std::jthread> threads;
  for (unsigned t = 0; t < std::max(1u, std::thread::hardware_concurrency()); ++t)
    threads.emplace_back([&] {
      for (size_t n; (n = next++) < std::max(of_newer.size(), of_older.size());) {
        if (n < of_newer.size() && (all || n % 2 == 0)) build(of_newer[n], for_newer);
        if (n < of_older.size() && (all || n % 2 == 1)) build(of_older[n], for_older);
      }
    });
}

INSTANTIATE_TEST_SUITE_P(Kinds, CudaTexts, ::testing::ValuesIn(kernel_kinds()), [](const auto& info) { return std::string(info.param->name()); });

// A kernel of a text that says it waits (prelude.h) may begin before the one that it reads from has ended.
TEST(CudaKernelFiles, EveryKernelWaitsForItsProducersBeforeItWrites) {
  size_t kernels = 0;
  for (const EmbeddedText& file : cuda_texts()) {
    const std::string_view text = file.text;
    for (size_t at = text.find("__global__"); at != text.npos; at = text.find("__global__", at + 1)) {
      const std::string_view kernel = text.substr(at, text.find("__global__", at + 1) - at);
      if (kernel.substr(0, kernel.find('{')).find("PackOperands") != text.npos) continue;  // a launch of its own, at load
      const size_t wait = kernel.find("wait_for_producers();");
      ASSERT_NE(wait, text.npos) << file.name;
      for (const char* touched : {"out[", "workspace"})
        EXPECT_EQ(kernel.substr(kernel.find('{'), wait - kernel.find('{')).find(touched), text.npos) << file.name;
      ++kernels;
    }
  }
  EXPECT_GT(kernels, 40u);
}

Variant own_text(const std::string& text) {
  Variant v;
  v.problem.kind = "pointwise";
  v.source_override = text;
  return v;
}

constexpr const char* kLaunchTypes = "struct Launch { unsigned kernel, g[3], b[3], shared; };\n";
constexpr const char* kTables =
    "extern \"C\" __constant__ const Launch amdahl_launches[] = {{0, {1, 1, 1}, {32, 1, 1}, 0}};\n"
    "extern \"C\" __constant__ const unsigned long long amdahl_workspace_bytes = 0;\n";

CompileResult compile(const std::string& text) { return CudaToolchain(default_cache_dir(), testing::ampere()).compile(own_text(text)); }

TEST(CudaToolchain, RefusesWhatIsNoKernel) {
  if (!has_nvrtc()) GTEST_SKIP() << "NVRTC is not installed";
  const std::string kernel = "extern \"C\" __global__ void amdahl_kernel_0(float* x) { x[threadIdx.x] = 1; }\n";
  EXPECT_TRUE(compile(kLaunchTypes + kernel + kTables).ok);
  const CompileResult broken = compile("no text of a kernel");
  EXPECT_EQ(broken.code, "compile-error") << broken.message;
  EXPECT_NE(broken.message.find("error"), std::string::npos) << broken.message;
  const CompileResult untold = compile(kernel);
  EXPECT_EQ(untold.code, "odd-library") << untold.message;
  const CompileResult remembers = compile(std::string(kLaunchTypes) +
                                          "__device__ float last[64];\nextern \"C\" __global__ void amdahl_kernel_0(float* x) { x[threadIdx.x] += "
                                          "last[threadIdx.x]; last[threadIdx.x] = x[0]; }\n" +
                                          kTables);
  EXPECT_EQ(remembers.code, "odd-library") << remembers.message;
  EXPECT_NE(remembers.message.find("between calls"), std::string::npos) << remembers.message;
  const CompileResult large = compile(kLaunchTypes + kernel +
                                      "extern \"C\" __constant__ const Launch amdahl_launches[] = {{0, {1, 1, 1}, {2048, 1, 1}, 0}};\n"
                                      "extern \"C\" __constant__ const unsigned long long amdahl_workspace_bytes = 0;\n");
  EXPECT_NE(large.message.find("2048 threads"), std::string::npos) << large.message;
}

// The row of a table amdahl_boxes as prelude.h writes it; "": it is taken.
std::string refusal_of_boxes(const std::string& row) {
  const CompileResult r = compile(std::string(kLaunchTypes) +
                                  "struct Boxes { unsigned long long input, offset, rows, columns, row_bytes; unsigned box_rows, box_columns, width, height, "
                                  "step_w, step_h; int first_w, first_h, last_w, last_h; };\n"
                                  "extern \"C\" __global__ void amdahl_kernel_0(float* x) { x[threadIdx.x] = 1; }\n" +
                                  kTables + "extern \"C\" __constant__ const Boxes amdahl_boxes[] = {{" + row + "}};\n");
  EXPECT_EQ(r.ok, r.message.empty()) << r.message;
  return r.message;
}

TEST(CudaToolchain, RefusesBoxesThatNoTensorMapDescribes) {
  if (!has_nvrtc()) GTEST_SKIP() << "NVRTC is not installed";
  EXPECT_EQ(refusal_of_boxes("0, 32, 70, 136, 272, 128, 64"), "");
  for (const char* row : {"0, 8, 70, 136, 272, 128, 64", "0, 0, 0, 136, 272, 128, 64", "0, 0, 70, 136, 280, 128, 64", "0, 0, 70, 136, 256, 128, 64",
                          "0, 0, 70, 136, 272, 257, 64", "0, 0, 70, 136, 272, 128, 32", "0, 0, 1ull << 32, 136, 272, 128, 64"})
    EXPECT_NE(refusal_of_boxes(row).find("at multiples of 16 bytes"), std::string::npos) << row;
}

// Two images of 7 x 5 pixels.
TEST(CudaToolchain, RefusesBoxesOfWindowsThatNoTensorMapDescribes) {
  if (!has_nvrtc()) GTEST_SKIP() << "NVRTC is not installed";
  const std::string pixels = "0, 0, 70, 136, 272, 128, 64, ";
  for (const char* windows : {"7, 5, 1, 1, 0, 0, 0, 0", "7, 5, 8, 2, -128, -1, 127, 1", "35, 1, 1, 1, -1, 0, -1, 0"})
    EXPECT_EQ(refusal_of_boxes(pixels + windows), "") << windows;
  for (const char* windows : {"7, 0, 1, 1, 0, 0, 0, 0", "7, 4, 1, 1, 0, 0, 0, 0", "7, 5, 0, 1, 0, 0, 0, 0", "7, 5, 1, 9, 0, 0, 0, 0",
                              "7, 5, 1, 1, -129, 0, 0, 0", "7, 5, 1, 1, 0, -129, 0, 0", "7, 5, 1, 1, 0, 0, 128, 0", "7, 5, 1, 1, 0, 0, 0, 128"})
    EXPECT_NE(refusal_of_boxes(pixels + windows).find("whole images, steps of 1 to 8"), std::string::npos) << windows;
}

// Code for every card that is taken, or a reason: what is in asm() no compiler of PTX reads.
TEST(CudaToolchain, PortableCodeIsPtxThatTheOldestCardsCanRun) {
  if (!has_nvrtc()) GTEST_SKIP() << "NVRTC is not installed";
  const CudaToolchain toolchain(default_cache_dir(), testing::hopper());
  const auto portable = [&](const std::string& body) {
    return toolchain.compile_portable(own_text(kLaunchTypes + ("extern \"C\" __global__ void amdahl_kernel_0(float* x) { " + body + " }\n") + kTables));
  };
  const CompileResult r = portable("x[threadIdx.x] = 3;");
  ASSERT_TRUE(r.ok) << r.message;
  std::ifstream in(r.library);
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  EXPECT_NE(text.find(".target sm_80"), std::string::npos) << text;
  EXPECT_NE(text.find("amdahl_kernel_0"), std::string::npos) << text;
  const std::string of_one_card = "asm volatile(\"wgmma.fence.sync.aligned;\");";
  EXPECT_TRUE(toolchain.compile(own_text(kLaunchTypes + ("extern \"C\" __global__ void amdahl_kernel_0(float* x) { " + of_one_card + " }\n") + kTables)).ok);
  const CompileResult refused = portable(of_one_card);
  EXPECT_EQ(refused.code, "compile-error");
  EXPECT_NE(refused.message, "");
}

TEST(CudaToolchain, ReadsNoFileOfTheUsers) {
  if (!has_nvrtc()) GTEST_SKIP() << "NVRTC is not installed";
  const char* home = std::getenv("HOME");
  if (!home) GTEST_SKIP() << "no home folder";
  const std::string file = std::string(home) + "/.amdahl-cuda-test.h";
  FILE* out = fopen(file.c_str(), "w");
  if (!out) GTEST_SKIP() << "the home folder cannot be written";
  fputs("#define SECRET 1\n", out);
  fclose(out);
  const std::string kernel = "extern \"C\" __global__ void amdahl_kernel_0(float* x) { x[threadIdx.x] = SECRET; }\n";
  const CompileResult r = compile("#include \"" + file + "\"\n" + kLaunchTypes + kernel + kTables);
  remove(file.c_str());
  EXPECT_FALSE(r.ok);
}

TEST(CudaToolchain, EqualCodeHasEqualHashes) {
  if (!has_nvrtc()) GTEST_SKIP() << "NVRTC is not installed";
  const CudaToolchain toolchain(default_cache_dir(), testing::ampere());
  const auto hash = [&](const std::string& body) {
    return toolchain.code_hash(
        toolchain.compile(own_text(kLaunchTypes + ("extern \"C\" __global__ void amdahl_kernel_0(float* x) { " + body + " }\n") + kTables)).library);
  };
  EXPECT_NE(hash("x[threadIdx.x] = 1;"), "");
  EXPECT_EQ(hash("x[threadIdx.x] = 1;"), hash("/* the same */ x[threadIdx.x] = 2 - 1;"));
  EXPECT_NE(hash("x[threadIdx.x] = 1;"), hash("x[threadIdx.x] = 2;"));
}

}  // namespace
}  // namespace amdahl

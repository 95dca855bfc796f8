// Every kind that an NVIDIA card computes, every example, every value of every knob: compiled, run on the card, judged by the float64 oracle with
// bounds, as tests/plan/kernel_conformance_test.cc does on the processor. Needs a card.

#include <gtest/gtest.h>

#include "base/cuda/cards.h"
#include "base/cuda/nvrtc.h"
#include "base/error.h"
#include "plan/cuda_device.h"
#include "starter_kernels/cuda/cuda_target.h"
#include "starter_kernels/toolchain/cuda_toolchain.h"
#include "tests/plan/kinds_on_card.h"
#include "tests/plan/mutants.h"
#include "tests/starter_kernels/absent_card.h"

namespace amdahl {
namespace {

// Throws Error(kNoDevice) without a card.
const testing::KernelBench& card_bench() {
  static const CudaToolchain toolchain(default_cache_dir(), cuda_target(cuda::cards()[0]));
  static const testing::KernelBench bench{toolchain, [] { return make_cuda_device(0); }};
  return bench;
}

class KindOnCard : public ::testing::TestWithParam<const KernelKind*> {
 protected:
  void SetUp() override {
    if (!testing::kind_selected(GetParam()->name())) GTEST_SKIP() << "not selected by AMDAHL_KINDS";
    try {
      bench_ = &card_bench();
    } catch (const Error& error) {
      if (error.code() != ExitCode::kNoDevice && error.code() != ExitCode::kNoCompiler) throw;
      GTEST_SKIP() << "this test needs an NVIDIA card: " << error.what();
    }
    if (!bench_->target().computes(GetParam()->name())) GTEST_SKIP() << bench_->target().lacks(GetParam()->name());
  }

  const testing::KernelBench* bench_ = nullptr;
};

TEST_P(KindOnCard, StartersPassEveryExample) { testing::expect_starters_pass(*GetParam(), *bench_); }

TEST_P(KindOnCard, EveryKnobValuePasses) { testing::expect_knob_values_pass(*GetParam(), *bench_); }

INSTANTIATE_TEST_SUITE_P(Kinds, KindOnCard, ::testing::ValuesIn(kernel_kinds()), [](const auto& info) { return std::string(info.param->name()); });

const Knobs kByThreads{{"FORM", 3}, {"SPLIT_K", 1}, {"WGMMA_STAGES", 4}, {"WARPGROUPS", 1}, {"WGMMA_N", 64}};
const Knobs kByThreadsInCluster{{"FORM", 3}, {"SPLIT_K", 2}, {"WGMMA_STAGES", 4}, {"WARPGROUPS", 1}, {"WGMMA_N", 64}};
const Knobs kByBoxes{{"FORM", 4}, {"SPLIT_K", 1}, {"WGMMA_STAGES", 2}, {"WARPGROUPS", 2}, {"WGMMA_N", 64}};
const Knobs kByBoxesInCluster{{"FORM", 4}, {"SPLIT_K", 2}, {"WGMMA_STAGES", 3}, {"WARPGROUPS", 1}, {"WGMMA_N", 64}};

// Broken versions of what only a card runs. None faults, which would end the process's work on the card.
const std::vector<std::pair<std::string, std::vector<testing::Mutation>>> kWgmmaMutants{
    {"matmul",
     {
         {"lines of A as they lie", "(chunk ^ row % 8) * 16", "chunk * 16", kByThreads},
         {"lines of B as they lie", "(chunk ^ line % 8)) * 8", "chunk) * 8"},
         {"last step of K not packed", "n < N && k + j < K ?", "n < N && k + j < K - 1 ?"},
         {"last row not stored", "if (m >= M || n >= N) return;", "if (m >= M - 1 || n >= N) return;", kByThreads},
         {"first part of A for all", "first.m * A_ROW + first_k;", "first.m * A_ROW;", kByThreadsInCluster},
         {"the first block's sums alone", "for (int block = 1; block < SPLIT_K; ++block)", "for (int block = 1; block < 1; ++block)", kByThreadsInCluster},
         {"rows of sums too near", "SUM_STEP = TILE_N + 8", "SUM_STEP = TILE_N - 8", kByThreads},
         {"eight lines half as far apart", "64ull << 32", "32ull << 32"},
         {"operands not swizzled", "1ull << 62", "0ull << 62"},
         {"steps of K all alike", "lines_a + k * 2, lines_b + k * 2", "lines_a, lines_b"},
         {"the first step of A for all", "copy_a(count, map, first_k + s * LINE, first.m)", "copy_a(count, map, first_k, first.m)", kByBoxes},
         {"the first rows of A for all", "copy_a(count, map, first_k + s * LINE, first.m)", "copy_a(count, map, first_k + s * LINE, 0)", kByBoxes},
         {"one step of B too few", "b + s * int64_t(BYTES_B));", "b + (s > 0 ? s - 1 : 0) * int64_t(BYTES_B));", kByBoxes},
         {"a box a row short", "{{0, A_OFFSET * 2, M, K,", "{{0, A_OFFSET * 2, M > 1 ? M - 1 : M, K,", kByBoxes},
         {"a box that begins a row late", "{{0, A_OFFSET * 2, M, K,", "{{0, A_OFFSET * 2 + A_ROW * 2, M, K,", kByBoxes},
         {"sums of others forgotten", "if (other != part) x = *(const Four*)place", "if (other != part) x = {0, 0, 0, 0}; if (false) x = *(const Four*)place",
          kByBoxesInCluster},
         {"others' columns sent", "sum + (other * EIGHTS + j) * 4, summed", "sum + (part * EIGHTS + j) * 4, summed", kByBoxesInCluster},
         {"first part of K for all", "const int64_t first_k = part * PART", "const int64_t first_k = 0 * PART", kByBoxesInCluster},
         {"first columns for all blocks", "n = first.n + part * WIDTH;", "n = first.n;", kByBoxesInCluster},
         {"rows of results too near", "RESULT_STEP = WIDTH + 8", "RESULT_STEP = WIDTH - 8", kByBoxes},
         {"last row of results not stored", "M - m, N - n);", "M - m - 1, N - n);", kByBoxes},
         {"operands of the epilogue a column off", "first.n + column + j * 8)", "first.n + column + j * 8 + 2)", kByBoxes},
     }},
    {"conv",
     {
         {"the first tap for all", "seen(p, step / LINES_C)", "seen(p, 0)"},
         {"last channel not seen", "tap && channel < C ?", "tap && channel < C - 1 ?"},
         {"weights of the first tap", "tap = BY_TAPS ? step / LINES_C : k % TAPS;", "tap = 0;"},
         {"lines of positions as they lie", "(piece ^ line % 8) * 16", "piece * 16"},
         {"last channel not stored", "if (channel >= O || p >= POSITIONS) return;", "if (channel >= O - 1 || p >= POSITIONS) return;"},
         {"first image for all", "const int64_t n = (p + j) / PIXELS, pixel", "const int64_t n = 0 * (p + j) / PIXELS, pixel"},
         {"first part for all", "gather(position_of_thread, first + step + 1,", "gather(position_of_thread, step + 1,", {{"FORM", 3}, {"SPLIT_K", 2}}},
         {"boxes of the first tap for all", "tap % int(TAPS_W) * int(DILATION_W), tap / int(TAPS_W) * int(DILATION_H), barrier", "0, 0, barrier"},
         {"rows of taps adjacent", "tap / int(TAPS_W) * int(DILATION_H), barrier", "tap / int(TAPS_W), barrier"},
         {"boxes of the first image for all", "int(STEP_H) - int(PAD_H), image,", "int(STEP_H) - int(PAD_H), 0 * image,"},
         {"boxes of the first channels for all", "map, channel, window", "map, 0 * channel, window"},
         {"a window more a row", "LAST_W, LAST_H}};", "LAST_W + STEP_W, LAST_H}};"},
         {"a row of windows more", "LAST_W, LAST_H}};", "LAST_W, LAST_H + STEP_H}};"},
         {"rows begin a pixel early", "STEP_H, -int32_t(PAD_W), -", "STEP_H, -int32_t(PAD_W) - 1, -"},
         {"windows side by side whatever the step", "IN_H, STEP_W, STEP_H,", "IN_H, 1, STEP_H,"},
         {"channels of a tap not padded", "tap = k / CHANNELS_OF_TAP, channel = k % CHANNELS_OF_TAP;",
          "tap = k / CHANNELS % (TAPS_W * TAPS_H), channel = k % CHANNELS;"},
         {"packed weights of the first tap", "(TAPS_W * TAPS_H) + tap]", "(TAPS_W * TAPS_H)]"},
         {"packed weights of the first channels", "b)[(n * CHANNELS + channel)", "b)[(n % 8 * CHANNELS + channel)"},
     }},
};

// Without a card: a mutant whose passage is gone, or that does not build, says nothing.
TEST(MutantsOnCard, OfWgmmaTextsBuild) {
  const CudaToolchain toolchain(default_cache_dir(), testing::hopper());
  const testing::KernelBench bench{toolchain, [] { return std::unique_ptr<Device>(); }};
  try {
    const cuda::Nvrtc nvrtc;
  } catch (const Error& error) {
    GTEST_SKIP() << "this test compiles kernels: " << error.what();
  }
  for (const auto& [kind, mutations] : kWgmmaMutants) {
    const std::vector<testing::Case> cases = testing::cases_on_card(kernel_kind(kind), bench);
    std::vector<testing::Case> mutants;
    for (const testing::Mutation& m : mutations) {
      const size_t before = mutants.size();
      for (size_t c = 0; c < cases.size() && mutants.size() == before; ++c)
        if (const auto plan = testing::mutated(cases[c].plan, kind, m, bench.target()))
          mutants.push_back({std::string(m.name), cases[c].graph, *plan, cases[c].seed});
      EXPECT_GT(mutants.size(), before) << kind << ": '" << m.name << "': its passage is in no text";
    }
    testing::compile_ahead(mutants, bench);
    for (const testing::Case& mutant : mutants) {
      std::string why;
      testing::libraries_of(mutant.plan, bench, &why);
      EXPECT_EQ(why, "") << kind << ": '" << mutant.name << "'";
    }
  }
}

TEST(MutantsOnCard, OfWgmmaTextsAreRejected) {
  const testing::KernelBench* bench = nullptr;
  try {
    bench = &card_bench();
  } catch (const Error& error) {
    if (error.code() != ExitCode::kNoDevice && error.code() != ExitCode::kNoCompiler) throw;
    GTEST_SKIP() << "this test needs an NVIDIA card: " << error.what();
  }
  if (cuda::architecture_of(bench->target().device) != "sm_90a") GTEST_SKIP() << "this test needs a card of compute capability 9.0";
  for (const auto& [kind, mutations] : kWgmmaMutants) {
    const std::vector<testing::Case> cases = testing::cases_on_card(kernel_kind(kind), *bench);
    const std::vector<testing::Fate> fates = testing::fates_of(kind, mutations, cases, *bench, [](Plan plan) { return plan; });
    std::vector<testing::Case> honest;
    for (size_t m = 0; m < fates.size(); ++m) {
      EXPECT_EQ(fates[m].alive, "") << kind << ": mutant '" << mutations[m].name << "'";
      if (fates[m].honest) honest.push_back(*fates[m].honest);
    }
    testing::expect_within(honest, *bench);
  }
}

}  // namespace
}  // namespace amdahl

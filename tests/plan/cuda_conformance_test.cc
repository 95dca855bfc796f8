// Every kind that an NVIDIA card computes, every example, every value of every knob: compiled, run on the card, judged by the float64 oracle with
// bounds, as tests/plan/kernel_conformance_test.cc does on the processor. Needs a card.

#include <gtest/gtest.h>

#include "base/cuda/cards.h"
#include "base/error.h"
#include "plan/cuda_device.h"
#include "starter_kernels/cuda/cuda_target.h"
#include "starter_kernels/toolchain/cuda_toolchain.h"
#include "tests/plan/kinds_on_card.h"
#include "tests/plan/mutants.h"

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

// Broken versions of what only a card runs. None faults, which would end the process's work on the card.
const std::vector<std::pair<std::string, std::vector<testing::Mutation>>> kWgmmaMutants{
    {"matmul",
     {
         {"lines of A as they lie", "(chunk ^ row % 8) * 16", "chunk * 16"},
         {"lines of B as they lie", "(chunk ^ line % 8)) * 8", "chunk) * 8"},
         {"last step of K not packed", "n < N && k + j < K ?", "n < N && k + j < K - 1 ?"},
         {"last row not stored", "if (m >= M || n >= N) return;", "if (m >= M - 1 || n >= N) return;"},
         {"first part of A for all", "first.m * A_ROW + first_k;", "first.m * A_ROW;", {{"FORM", 3}, {"SPLIT_K", 2}}},
         {"the first block's sums alone",
          "for (int block = 1; block < SPLIT_K; ++block)",
          "for (int block = 1; block < 1; ++block)",
          {{"FORM", 3}, {"SPLIT_K", 2}}},
         {"rows of sums too near", "SUM_STEP = TILE_N + 8", "SUM_STEP = TILE_N - 8"},
         {"eight lines half as far apart", "64ull << 32", "32ull << 32"},
         {"operands not swizzled", "1ull << 62", "0ull << 62"},
         {"steps of K all alike", "lines_a + k * 2, lines_b + k * 2", "lines_a, lines_b"},
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
     }},
};

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

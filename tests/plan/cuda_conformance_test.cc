// Every kind that an NVIDIA card computes, every example, every value of every knob: compiled, run on the card, judged by the float64 oracle with
// bounds, as tests/plan/kernel_conformance_test.cc does on the processor. Needs a card.

#include <gtest/gtest.h>

#include "base/cuda/cards.h"
#include "base/error.h"
#include "plan/cuda_device.h"
#include "starter_kernels/cuda/cuda_target.h"
#include "starter_kernels/toolchain/cuda_toolchain.h"
#include "tests/plan/kinds_on_card.h"

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

}  // namespace
}  // namespace amdahl

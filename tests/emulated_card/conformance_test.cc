// Every kind that an NVIDIA card computes, every example and every value of every knob, on an emulated card (emulated_card.h): what
// tests/plan/cuda_conformance_test.cc does on a real one.

#include <gtest/gtest.h>

#include "tests/emulated_card/emulated_bench.h"
#include "tests/plan/kinds_on_card.h"

namespace amdahl {
namespace {

class KindOnEmulatedCard : public ::testing::TestWithParam<const KernelKind*> {
 protected:
  void SetUp() override {
    if (!testing::kind_selected(GetParam()->name())) GTEST_SKIP() << "not selected by AMDAHL_KINDS";
    const Target& target = testing::emulated_bench(testing::Generation::kSm90).target();
    if (!target.computes(GetParam()->name())) GTEST_SKIP() << target.lacks(GetParam()->name());
  }
};

TEST_P(KindOnEmulatedCard, StartersPassEveryExample) { testing::expect_starters_pass(*GetParam(), testing::emulated_bench(testing::Generation::kSm90)); }

TEST_P(KindOnEmulatedCard, EveryKnobValuePasses) { testing::expect_knob_values_pass(*GetParam(), testing::emulated_bench(testing::Generation::kSm80)); }

INSTANTIATE_TEST_SUITE_P(Kinds, KindOnEmulatedCard, ::testing::ValuesIn(kernel_kinds()), [](const auto& info) { return std::string(info.param->name()); });

}  // namespace
}  // namespace amdahl

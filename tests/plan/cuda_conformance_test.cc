// Every kind that an NVIDIA card computes, every example, every value of every knob: compiled, run on the card, judged by the float64 oracle with
// bounds, as tests/plan/kernel_conformance_test.cc does on the processor. Needs a card.

#include <gtest/gtest.h>

#include "base/cuda/cards.h"
#include "base/error.h"
#include "plan/cuda_device.h"
#include "starter_kernels/cuda/cuda_target.h"
#include "starter_kernels/toolchain/cuda_toolchain.h"
#include "tests/plan/made_plans.h"

namespace amdahl {
namespace {

// Throws Error(kNoDevice) without a card.
const testing::KernelBench& card_bench() {
  static const CudaToolchain toolchain(default_cache_dir(), cuda_target(cuda::cards()[0]));
  static const testing::KernelBench bench{toolchain, [] { return make_cuda_device(0); }};
  return bench;
}

bool can_run(const Plan& plan, const Target& target) {
  return std::all_of(plan.steps.begin(), plan.steps.end(), [&](const Step& s) {
    const SearchSpace space = target.space(s.variant.problem);
    return !space.refuse || space.refuse(s.variant.knobs).empty();
  });
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
  // With the kind's steps in it, and nothing that the card lacks.
  std::vector<testing::Case> examples() const {
    std::vector<testing::Case> cases;
    for (const Graph& graph : GetParam()->examples()) {
      const Plan plan = starter_plan(graph, 1, bench_->target());
      if (can_run(plan, bench_->target())) cases.push_back({fmt::format("example {} ({})", cases.size(), graph.name), graph, plan, 11 + cases.size()});
    }
    for (testing::Case& c : made()) cases.push_back(std::move(c));
    return cases;
  }
  std::vector<testing::Case> made() const { return testing::made_of_several(std::string(GetParam()->name()), bench_->target(), ""); }

  const testing::KernelBench* bench_ = nullptr;
};

TEST_P(KindOnCard, StartersPassEveryExample) {
  const std::vector<testing::Case> cases = examples();
  EXPECT_EQ(cases.size(), GetParam()->examples().size() + made().size());
  testing::expect_within(cases, *bench_);
}

TEST_P(KindOnCard, EveryKnobValuePasses) {
  std::vector<testing::Case> cases;
  const std::vector<testing::Case> of = examples();
  testing::Turns turns(of.size());
  for (const testing::Case& c : of) {
    turns.begin_case();
    for (size_t s = 0; s < c.plan.steps.size(); ++s) {
      const Problem& problem = c.plan.steps[s].variant.problem;
      if (problem.kind != GetParam()->name()) continue;
      for (const Knob& knob : bench_->target().space(problem).knobs)
        for (int64_t value : knob.values)
          if (turns.takes_next_value())
            if (const auto varied = testing::with_knob(c.plan, s, knob.name, value, bench_->target()))
              cases.push_back({fmt::format("{} {}={}", c.name, knob.name, value), c.graph, *varied, c.seed});
    }
  }
  testing::expect_within(cases, *bench_);
}

INSTANTIATE_TEST_SUITE_P(Kinds, KindOnCard, ::testing::ValuesIn(kernel_kinds()), [](const auto& info) { return std::string(info.param->name()); });

}  // namespace
}  // namespace amdahl

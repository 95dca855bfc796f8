// Products in bfloat16: right under every knob, and exact where bfloat16 holds every operand.

#include <gtest/gtest.h>

#include "base/machine.h"
#include "starter_kernels/cpu/cpu_target.h"
#include "tests/plan/made_plans.h"

namespace amdahl {
namespace {

TEST(MatmulBf16, EveryValueOfEveryKnobIsRight) {
  std::vector<testing::Case> cases;
  const std::vector<testing::Case> made = testing::bf16_cases(multiplies_on_tiles(this_machine()));
  testing::Turns turns(made.size());
  for (const testing::Case& c : made) {
    turns.begin_case();
    const SearchSpace space = cpu_target().space(c.plan.steps[0].variant.problem);
    for (const Knob& knob : space.knobs)
      for (int64_t value : knob.values) {
        if (!turns.takes_next_value()) continue;
        if (const auto plan = testing::with_knob(c.plan, 0, knob.name, value))
          cases.push_back({fmt::format("{}, {} = {}", c.name, knob.name, value), c.graph, *plan, c.seed});
      }
  }
  if (cases.empty()) GTEST_SKIP() << "this machine has no AVX512_BF16";
  testing::expect_within(cases);
}

// Integers of eight bits: nothing is rounded away, so nothing may be missing.
TEST(MatmulBf16, IsExactOnSmallIntegers) {
  ExampleGraph g("integers");
  std::vector<double> w;
  for (int i = 0; i < 77 * 45; ++i) w.push_back(i * 7 % 3 - 1);
  const ValueId x = g.input({37, 77});
  const Graph graph = g.finish({g.node("MatMul", {x, g.floats({77, 45}, w)})});
  Plan plan = starter_plan(graph, 2, cpu_target());
  Variant& variant = plan.steps.at(0).variant;
  if (const std::string why = refused_in_bf16(variant.problem, this_machine()); !why.empty()) GTEST_SKIP() << why;
  declare_algorithm(variant.problem, "bf16");
  variant.knobs = cpu_target().space(variant.problem).starters();
  std::vector<float> values;
  for (int i = 0; i < 37 * 77; ++i) values.push_back(static_cast<float>(i * 5 % 511 - 255));
  std::vector<Tensor> outputs;
  const Tensor input = Tensor::of<float>(DType::kF32, {37, 77}, values);
  ASSERT_TRUE(testing::judge(graph, plan, {input}, &outputs).within);
  for (int m = 0; m < 37; ++m)
    for (int n = 0; n < 45; ++n) {
      double sum = 0;
      for (int k = 0; k < 77; ++k) sum += values[static_cast<size_t>(m * 77 + k)] * w[static_cast<size_t>(k * 45 + n)];
      ASSERT_EQ(outputs[0].as<float>()[static_cast<size_t>(m * 45 + n)], sum) << m << ' ' << n;
    }
}

TEST(MatmulBf16, RefusesWhatItCannotRearrangeAtLoad) {
  ExampleGraph g("two inputs");
  const Graph graph = g.finish({g.node("MatMul", {g.input({8, 16}), g.input({16, 8})})});
  DeviceInfo machine;
  machine.features = {"avx512_bf16"};
  const Problem problem = starter_plan(graph, 1, cpu_target()).steps.at(0).variant.problem;
  EXPECT_NE(refused_in_bf16(problem, machine), "");
  machine.features.clear();
  EXPECT_EQ(refused_in_bf16(problem, machine), "this machine has no AVX512_BF16");
}

}  // namespace
}  // namespace amdahl

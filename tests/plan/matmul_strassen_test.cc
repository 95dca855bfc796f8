// Products of halves, and of quarters: right under every knob, exact on integers, and within a bound that a product in lower precision exceeds.

#include <gtest/gtest.h>

#include "base/machine.h"
#include "graph/ops/strassen_bound.h"
#include "starter_kernels/cpu/cpu_target.h"
#include "tests/plan/made_plans.h"

namespace amdahl {
namespace {

// `step`: the one whose product is halved.
void expect_right_under_every_knob(const std::vector<testing::Case>& made, size_t step = 0) {
  std::vector<testing::Case> cases;
  testing::Turns turns(made.size());
  for (const testing::Case& c : made) {
    turns.begin_case();
    const SearchSpace space = strassen_space(c.plan.steps.at(step).variant.problem, this_machine());
    for (const Knob& knob : space.knobs)
      for (int64_t value : knob.values) {
        if (!turns.takes_next_value()) continue;
        if (const auto plan = testing::with_knob(c.plan, step, knob.name, value))
          cases.push_back({fmt::format("{}, {} = {}", c.name, knob.name, value), c.graph, *plan, c.seed});
      }
  }
  testing::expect_within(cases);
}

TEST(MatmulStrassen, EveryValueOfEveryKnobIsRight) { expect_right_under_every_knob(testing::strassen_cases()); }

TEST(MatmulStrassen, OfSumsInBfloat16EveryValueOfEveryKnobIsRight) {
  const std::vector<testing::Case> cases = testing::strassen_cases(true);
  if (cases.empty()) GTEST_SKIP() << "this machine has no AVX512_BF16, or has tiles";
  expect_right_under_every_knob(cases);
}

TEST(MatmulStrassen, APlanOfBeforeThereWerePassesHasOne) {
  testing::Case made = testing::strassen_cases().at(1);
  ASSERT_EQ(made.plan.steps.at(0).variant.knobs.erase("MB"), 1u);
  testing::expect_within({made});
}

TEST(MatmulStrassen, IsExactOnIntegers) {
  ExampleGraph g("integers");
  std::vector<double> w;
  for (int i = 0; i < 177 * 145; ++i) w.push_back(i * 7 % 3 - 1);
  const ValueId x = g.input({37, 177});
  const Graph graph = g.finish({g.node("MatMul", {x, g.floats({177, 145}, w)})});
  Plan plan = starter_plan(graph, 2, cpu_target());
  const bool in_bf16 = this_machine().has("avx512_bf16");
  for (const std::string declared : {"strassen", "strassen2", "bf16_strassen", "bf16_strassen2"}) {
    if (!in_bf16 && declared.starts_with("bf16")) continue;
    // Odd integers of as many bits as the judge asks for: sums of two of 8 bits are even, of three of 6 have 8.
    const int bits = !declared.starts_with("bf16") ? 12 : declared.ends_with('2') ? 6 : 8;
    std::vector<float> values;
    for (int i = 0; i < 37 * 177; ++i) values.push_back(static_cast<float>((i % 3 ? 1 : -1) * ((1 << (bits - 1)) + 1 + 2 * (i * 37 % (1 << (bits - 2))))));
    const Tensor input = Tensor::of<float>(DType::kF32, {37, 177}, values);
    Variant& variant = plan.steps.at(0).variant;
    declare_algorithm(variant.problem, declared);
    variant.knobs = strassen_space(variant.problem, this_machine()).starters();
    std::vector<Tensor> outputs;
    ASSERT_TRUE(testing::judge(graph, plan, {input}, &outputs).within);
    for (int m = 0; m < 37; ++m)
      for (int n = 0; n < 145; ++n) {
        double sum = 0;
        for (int k = 0; k < 177; ++k) sum += values[static_cast<size_t>(m * 177 + k)] * w[static_cast<size_t>(k * 145 + n)];
        ASSERT_EQ(outputs[0].as<float>()[static_cast<size_t>(m * 145 + n)], sum) << declared << ' ' << m << ' ' << n;
      }
  }
}

TEST(ConvStrassen, EveryValueOfEveryKnobIsRight) {
  const std::vector<testing::Case> cases = testing::strassen_conv_cases();
  expect_right_under_every_knob({cases.begin(), cases.end() - 1}, 1);
  expect_right_under_every_knob({cases.back()}, 2);
}

TEST(ConvStrassen, IsForWholeBlocksOfOneImage) {
  const auto refusal = [](Shape x, int64_t outputs, int levels, std::map<std::string, Attribute> attributes = {}) {
    ExampleGraph g("conv");
    const ValueId in = g.input(x);
    const Graph graph = g.finish({g.node("Conv", {in, g.normal({outputs, x[1], 1, 1}, 1)}, std::move(attributes))});
    return refused_in_halves(testing::on_blocks(graph, false).value().steps.at(1).variant.problem, levels, this_machine());
  };
  EXPECT_EQ(refusal({1, 256, 8, 8}, 256, 1), "");
  EXPECT_EQ(refusal({1, 256, 8, 8}, 256, 2), "");
  EXPECT_NE(refusal({2, 256, 8, 8}, 256, 1), "") << "two images";
  EXPECT_EQ(refusal({1, 256, 7, 7}, 256, 1), "") << "49 pixels, halves of 25 and 24";
  const int64_t odd = this_machine().has("avx512f") ? 240 : 248;  // channels of an odd number of blocks
  EXPECT_NE(refusal({1, odd, 8, 8}, 256, 1), "") << odd << " channels in";
  EXPECT_NE(refusal({1, 256, 8, 8}, odd, 1), "") << odd << " channels out";
  EXPECT_NE(refusal({1, 256, 16, 16}, 256, 1, {{"strides", std::vector<int64_t>{2, 2}}}), "") << "every second pixel";
  EXPECT_NE(refusal({1, 128, 8, 8}, 256, 2), "") << "quarters of few channels";
  ExampleGraph g("conv, row-major");
  const ValueId x = g.input({1, 256, 8, 8});
  const Graph graph = g.finish({g.node("Conv", {x, g.normal({256, 256, 1, 1}, 1)})});
  EXPECT_NE(refused_in_halves(starter_plan(graph, 1, cpu_target()).steps.at(0).variant.problem, 1, this_machine()), "");
}

TEST(MatmulStrassen, RefusesWhatHalvesDoNotPayFor) {
  const auto refusal = [](Shape a, Shape b, bool constant, int levels = 1) {
    ExampleGraph g("product");
    const ValueId x = g.input(a);
    const Graph graph = g.finish({g.node("MatMul", {x, constant ? g.normal(b, 1) : g.input(b)})});
    return refused_in_halves(starter_plan(graph, 1, cpu_target()).steps.at(0).variant.problem, levels, this_machine());
  };
  EXPECT_EQ(refusal({64, 256}, {256, 256}, true), "");
  EXPECT_NE(refusal({64, 256}, {256, 256}, false), "") << "B is an input";
  EXPECT_NE(refusal({8, 256}, {256, 256}, true), "") << "few rows";
  EXPECT_EQ(refusal({64, 256}, {256, 256}, true, 2), "");
  EXPECT_NE(refusal({62, 256}, {256, 256}, true, 2), "") << "quarters of few rows";
  EXPECT_NE(refusal({2, 64, 256}, {2, 256, 256}, true), "") << "two matrices";
}

// Of 1 x 1 quadrants by hand: C11 is made of P1, P4, P5 and P7, whose factors are sums of all of A and B.
TEST(StrassenBound, IsRelativeToTheProductsOfHalves) {
  const std::vector<double> a{1, 0, 0, 1000}, b{1, 0, 0, 1};
  std::vector<double> bound(4, 0);
  add_strassen_rounding(1, 0, 2, 2, 2, {a, {}}, {b, {}}, bound.data());
  const double g = dot_growth(1) + 8 * kU32;
  EXPECT_DOUBLE_EQ(bound[0], g * (1001 * 2 + 1000 * 1 + 1 * 1 + 1000 * 1));
  EXPECT_DOUBLE_EQ(bound[1], g * (1 * 1 + 1 * 1));
  EXPECT_DOUBLE_EQ(bound[2], g * (1000 * 1 + 1000 * 1));
  EXPECT_DOUBLE_EQ(bound[3], g * (1001 * 2 + 1000 * 1 + 1 * 1 + 1 * 1));
}

// A's first row is ones, B's first element is one, the rest is nothing. Of the seven products of halves P1 and P6 have both, each the product of
// (1 1; 0 0) and (1 0; 0 0): that one is 1 in its first element, and of its own seven P1 and P6 are 1 again.
TEST(StrassenBound, OfTwoLevelsAddsBothLevelsOwn) {
  std::vector<double> a(16, 0), b(16, 0), bound(16, 0);
  for (size_t k = 0; k < 4; ++k) a[k] = 1;
  b[0] = 1;
  add_strassen_rounding(2, 0, 4, 4, 4, {a, {}}, {b, {}}, bound.data());
  const double last = dot_growth(1) + 20 * kU32, outer = 4 * kU32;
  EXPECT_DOUBLE_EQ(bound[0], last + outer) << "C11 has P1; its element 11 has P1 again";
  EXPECT_DOUBLE_EQ(bound[5], 2 * last) << "element 22 has P1 and P6";
  EXPECT_DOUBLE_EQ(bound[10], 2 * (last + outer)) << "C22 has P1 and P6";
  EXPECT_DOUBLE_EQ(bound[15], 4 * last);
  EXPECT_LT(bound[3], 1e-40) << "C12 has P3 and P5, which are nothing but what may underflow";
}

// A 1x1 convolution is the product of its pixels and channels, and has its bounds.
TEST(StrassenBound, OfAConvolutionIsThatOfItsProduct) {
  constexpr size_t kPixels = 6, kChannels = 5, kOutputs = 3;
  const Shape image_shape{1, kChannels, 2, 3}, weight_shape{kOutputs, kChannels, 1, 1}, a_shape{kPixels, kChannels}, b_shape{kChannels, kOutputs};
  ExampleGraph g("a convolution and its product");
  const ValueId x = g.input(image_shape), w = g.input(weight_shape), a = g.input(a_shape), b = g.input(b_shape);
  const ValueId conv = g.node("Conv", {x, w}), product = g.node("MatMul", {a, b});
  const Graph graph = g.finish({conv, product});
  const Tensor image = testing::random_tensor(graph.value(x), 5), weights = testing::random_tensor(graph.value(w), 6);
  std::vector<float> rows(kPixels * kChannels), columns(kChannels * kOutputs);
  for (size_t c = 0; c < kChannels; ++c) {
    for (size_t p = 0; p < kPixels; ++p) rows[p * kChannels + c] = image.as<float>()[c * kPixels + p];
    for (size_t o = 0; o < kOutputs; ++o) columns[c * kOutputs + o] = weights.as<float>()[o * kChannels + c];
  }
  const RefValues given{{x, RefTensor::of(image)},
                        {w, RefTensor::of(weights)},
                        {a, RefTensor::of(Tensor::of<float>(DType::kF32, a_shape, rows))},
                        {b, RefTensor::of(Tensor::of<float>(DType::kF32, b_shape, columns))}};
  const RefValues values = evaluate(graph, {0, 1}, given, {conv, product}, true, {.strassen = 2});
  const RefTensor &of_conv = values.at(conv), &of_product = values.at(product);
  for (size_t o = 0; o < kOutputs; ++o)
    for (size_t p = 0; p < kPixels; ++p) EXPECT_DOUBLE_EQ(of_conv.bound[o * kPixels + p], of_product.bound[p * kOutputs + o]) << o << ' ' << p;
}

// 2^-8 of each factor, on the innermost products alone.
TEST(StrassenBound, OfRoundedSumsAddsTheirRounding) {
  const std::vector<double> a{1, 0, 0, 1000}, b{1, 0, 0, 1};
  std::vector<double> bound(4, 0);
  add_strassen_rounding(1, 0x1.0p-8, 2, 2, 2, {a, {}}, {b, {}}, bound.data());
  const double g = (1 + dot_growth(1) + 8 * kU32) * (1 + 0x1.0p-8) * (1 + 0x1.0p-8) - 1;
  EXPECT_NEAR(bound[1] / (g * (1 * 1 + 1 * 1)), 1, 1e-9);
  EXPECT_NEAR(bound[2] / (g * (1000 * 1 + 1000 * 1)), 1, 1e-9);
}

TEST(StrassenBound, IsInfiniteWhereASumLeavesTheRange) {
  const std::vector<double> a{3e38, 0, 0, 3e38}, b{1e-30, 0, 0, 1e-30};
  std::vector<double> bound(4, 0);
  add_strassen_rounding(1, 0, 2, 2, 2, {a, {}}, {b, {}}, bound.data());
  EXPECT_FALSE(std::isfinite(bound[0]));
  EXPECT_TRUE(std::isfinite(bound[1]));
}

}  // namespace
}  // namespace amdahl

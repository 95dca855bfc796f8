// Pointwise operators: honest fp32 code lies within the bounds, half precision does not, bounds of inputs propagate over the
// whole interval, and special values and integers are exact.

#include <gtest/gtest.h>

#include <cfloat>
#include <functional>

#include "tests/graph/op_fixture.h"

namespace amdahl {
namespace {

using test::as_float;
using test::floats;
using test::ints;
using test::kInf;
using test::kNaN;
using test::random_floats;
using test::run_one;

struct Function {
  std::string op;
  float (*fp32)(float);
  double lo, hi;
  bool exact = false;  // no rounding at all on exact inputs
  std::map<std::string, Attribute> attributes = {};
  int version = 21;
};

void PrintTo(const Function& f, std::ostream* out) { *out << f.op; }

float sigmoid(float x) { return 1 / (1 + std::exp(-x)); }
float softplus(float x) { return x > 20 ? x : std::log(1 + std::exp(x)); }

const std::vector<Function>& functions() {
  static const std::vector<Function> list{
      {"Abs", std::fabs, -5, 5, true},
      {"Neg", [](float x) { return -x; }, -5, 5, true},
      {"Relu", [](float x) { return x < 0 ? 0 : x; }, -5, 5, true},
      {"Floor", std::floor, -5, 5, true},
      {"Ceil", std::ceil, -5, 5, true},
      {"Round", std::nearbyint, -5, 5, true},
      {"Sign", [](float x) { return x > 0   ? 1.f
                                    : x < 0 ? -1.f
                                            : 0.f; }, -1, 1, true},
      {"ThresholdedRelu", [](float x) { return x > 1 ? x : 0; }, -3, 3, true},
      {"Sqrt", std::sqrt, 0, 100},
      {"Reciprocal", [](float x) { return 1 / x; }, 0.01, 100},
      {"Exp", std::exp, -80, 80},
      {"Log", std::log, 0.001, 1000},
      {"Erf", std::erf, -4, 4},
      {"Sin", std::sin, -50, 50},
      {"Cos", std::cos, -50, 50},
      {"Tan", std::tan, -1.4, 1.4},
      {"Asin", std::asin, -1, 1},
      {"Acos", std::acos, -1, 1},
      {"Atan", std::atan, -20, 20},
      {"Sinh", std::sinh, -20, 20},
      {"Cosh", std::cosh, -20, 20},
      {"Tanh", std::tanh, -8, 8},
      {"Asinh", std::asinh, -20, 20},
      {"Acosh", std::acosh, 1.01, 20},
      {"Atanh", std::atanh, -0.99, 0.99},
      {"LeakyRelu", [](float x) { return x < 0 ? 0.01f * x : x; }, -5, 5, false, {{"alpha", double(0.01f)}}},
      {"Elu", [](float x) { return x > 0 ? x : std::exp(x) - 1; }, -5, 5},
      {"Selu", [](float x) { return 1.05070102f * (x > 0 ? x : 1.67326319f * (std::exp(x) - 1)); }, -5, 5},
      {"Celu", [](float x) { return x > 0 ? x : 2 * (std::exp(x / 2) - 1); }, -5, 5, false, {{"alpha", 2.0}}},
      {"Sigmoid", sigmoid, -80, 80},
      {"Softplus", softplus, -30, 30},
      {"Softsign", [](float x) { return x / (1 + std::fabs(x)); }, -20, 20},
      {"HardSigmoid", [](float x) { return std::fmin(1.f, std::fmax(0.f, 0.25f * x + 0.5f)); }, -4, 4, false, {{"alpha", 0.25}}},
      {"HardSwish", [](float x) { return x * std::fmin(1.f, std::fmax(0.f, x / 6 + 0.5f)); }, -5, 5},
      {"Gelu", [](float x) { return 0.5f * x * (1 + std::erf(x * 0.707106781f)); }, -8, 8},
      {"Gelu",
       [](float x) { return 0.5f * x * (1 + std::tanh(0.797884561f * (x + 0.044715f * x * x * x))); },
       -8,
       8,
       false,
       {{"approximate", std::string("tanh")}}},
      {"Mish", [](float x) { return x * std::tanh(softplus(x)); }, -10, 10},
      {"Shrink", [](float x) { return x < -0.5f  ? x + 0.25f
                                      : x > 0.5f ? x - 0.25f
                                                 : 0; }, -3, 3, false, {{"bias", 0.25}}},
  };
  return list;
}

class EveryFunction : public ::testing::TestWithParam<Function> {
 protected:
  RefTensor run(const RefTensor& in) const { return run_one({GetParam().op, GetParam().version, GetParam().attributes}, {&in}); }
};

TEST_P(EveryFunction, HonestFp32LiesWithinTheBound) {
  const RefTensor in = random_floats({4000}, 1, GetParam().lo, GetParam().hi);
  const RefTensor out = run(in);
  std::vector<float> computed;
  for (float x : as_float(in)) computed.push_back(GetParam().fp32(x));
  EXPECT_LE(test::worst_ratio(out, computed), 1.0);
  if (GetParam().exact) {
    EXPECT_EQ(test::worst_ratio(out, computed), 0.0);
  }
}

TEST_P(EveryFunction, HalfPrecisionDoesNot) {
  if (GetParam().op == "Sign") GTEST_SKIP() << "half precision keeps signs";
  const RefTensor in = random_floats({4000}, 2, GetParam().lo, GetParam().hi);
  const RefTensor out = run(in);
  std::vector<float> computed;
  for (float x : as_float(in)) computed.push_back(f16_to_f32(f64_to_f16(GetParam().fp32(f16_to_f32(f64_to_f16(x))))));
  EXPECT_GT(test::worst_ratio(out, computed), 1.0);
}

// Small, and large enough that a first-order bound would be wrong.
TEST_P(EveryFunction, BoundOfTheInputMovesTheBoundOfTheOutput) {
  const Function& f = GetParam();
  Random random(3);
  for (double e : {1e-6, 1e-3, 0.3}) {
    RefTensor in = random_floats({2000}, 4, f.lo, f.hi);
    std::vector<float> computed;
    for (double x : in.value) {
      in.bound.push_back(e);
      computed.push_back(f.fp32(static_cast<float>(std::fmin(std::fmax(x + random.uniform(-e, e), f.lo), f.hi))));
      // The fp32 rounding of the moved argument is part of what the bound of an input means.
      in.bound.back() += std::fabs(x) * kU32;
    }
    EXPECT_LE(test::worst_ratio(run(in), computed), 1.0) << e;
  }
}

TEST_P(EveryFunction, NaNStaysNaN) {
  const RefTensor out = run(floats({1}, {kNaN}));
  if (GetParam().op == "ThresholdedRelu" || GetParam().op == "Shrink") EXPECT_EQ(out.value[0], 0);  // it is on no side of a threshold
  else EXPECT_TRUE(std::isnan(out.value[0]));
}

INSTANTIATE_TEST_SUITE_P(Pointwise, EveryFunction, ::testing::ValuesIn(functions()),
                         [](const auto& info) { return info.param.op + (info.param.attributes.count("approximate") ? "Tanh" : ""); });

struct Operator {
  std::string op;
  float (*fp32)(float, float);
};

void PrintTo(const Operator& o, std::ostream* out) { *out << o.op; }

class EveryOperator : public ::testing::TestWithParam<Operator> {};

TEST_P(EveryOperator, BoundsOfBothInputsPropagate) {
  Random random(5);
  for (double e : {0.0, 1e-5, 0.1}) {
    RefTensor a = random_floats({3, 1, 500}, 6, 0.5, 3), b = random_floats({4, 500}, 7, 0.5, 3);
    const auto shift = [&](RefTensor& t) {
      std::vector<float> moved;
      for (double v : t.value) {
        moved.push_back(static_cast<float>(v + random.uniform(-e, e)));
        if (e > 0) t.bound.push_back(e + std::fabs(v) * kU32);
      }
      return moved;
    };
    const std::vector<float> ma = shift(a), mb = shift(b);
    const RefTensor out = run_one({GetParam().op, 21, {{"fmod", int64_t{1}}}}, {&a, &b});
    ASSERT_EQ(out.shape, (Shape{3, 4, 500}));
    std::vector<float> computed;
    for (size_t i = 0; i < 3; ++i)
      for (size_t j = 0; j < 4; ++j)
        for (size_t k = 0; k < 500; ++k) computed.push_back(GetParam().fp32(ma[i * 500 + k], mb[j * 500 + k]));
    EXPECT_LE(test::worst_ratio(out, computed), 1.0) << e;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Pointwise, EveryOperator,
    ::testing::Values(Operator{"Add", [](float a, float b) { return a + b; }}, Operator{"Sub", [](float a, float b) { return a - b; }},
                      Operator{"Mul", [](float a, float b) { return a * b; }}, Operator{"Div", [](float a, float b) { return a * (1 / b); }},
                      Operator{"Pow", [](float a, float b) { return std::exp(b * std::log(a)); }},
                      Operator{"Mod", [](float a, float b) { return std::fmod(a, b); }}, Operator{"Max", [](float a, float b) { return std::fmax(a, b); }},
                      Operator{"Min", [](float a, float b) { return std::fmin(a, b); }}, Operator{"Mean", [](float a, float b) { return 0.5f * (a + b); }}),
    [](const auto& info) { return info.param.op; });

// ---- Special values.

void expect_same(const std::vector<double>& got, const std::vector<double>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_TRUE(got[i] == expected[i] || (std::isnan(got[i]) && std::isnan(expected[i]))) << i << ": " << got[i];
}

// By the letter: where none of the conditions holds, the rest is 0. onnx.reference and ONNX Runtime agree.
TEST(SpecialValues, NaNIsOnNoSideOfAThreshold) {
  const RefTensor in = floats({1}, {kNaN});
  expect_same(run_one({"ThresholdedRelu", 10}, {&in}).value, {0});
  expect_same(run_one({"ThresholdedRelu", 10, {{"alpha", -2.0}}}, {&in}).value, {0});
  expect_same(run_one({"Shrink"}, {&in}).value, {0});
  for (const char* op :
       {"Relu", "LeakyRelu", "Elu", "Selu", "Celu", "HardSigmoid", "HardSwish", "Sigmoid", "Softplus", "Softsign", "Gelu", "Mish", "Sign", "Clip"})
    expect_same(run_one({op, 20}, {&in}).value, {kNaN});
}

// Min(max, Max(input, min)), whose limits are the type's own where none are given.
TEST(SpecialValues, ClipsLimits) {
  const RefTensor in = floats({4}, {-kInf, 0.5, kInf, kNaN}), one = floats({}, {1}), minus = floats({}, {-1}), none = floats({}, {kNaN});
  expect_same(run_one({"Clip", 13}, {&in, &minus, &one}).value, {-1, 0.5, 1, kNaN});
  expect_same(run_one({"Clip", 13}, {&in, &one, &minus}).value, {-1, -1, -1, kNaN});
  expect_same(run_one({"Clip", 13}, {&in, &none, &one}).value, {kNaN, kNaN, kNaN, kNaN});
  expect_same(run_one({"Clip", 13}, {&in, &minus, &none}).value, {kNaN, kNaN, kNaN, kNaN});
  expect_same(run_one({"Clip", 13}, {&in}).value, {-FLT_MAX, 0.5, FLT_MAX, kNaN});
  expect_same(run_one({"Clip", 10}, {&in}).value, {-FLT_MAX, 0.5, FLT_MAX, kNaN});
}

TEST(SpecialValues, OfAnInfiniteAlphaAtZero) {
  const RefTensor in = floats({1}, {0});
  expect_same(run_one({"Elu", 6, {{"alpha", kInf}}}, {&in}).value, {0});
}

// An argument of any size has one sine. std::sin is right of doubles to the last bit or two.
TEST(SpecialValues, CircularFunctionsAreBoundedByThemselvesAtAnySize) {
  const RefTensor in = floats({4}, {1e6, 1e15, -1e25, 3e38});
  for (const char* op : {"Sin", "Cos", "Tan"}) {
    const RefTensor y = run_one({op, 7}, {&in});
    for (size_t i = 0; i < in.value.size(); ++i) EXPECT_LT(y.bound[i], 2e-6 * (1 + y.value[i] * y.value[i])) << op << " " << in.value[i];
  }
}

TEST(SpecialValues, OfActivationsAtInfinity) {
  const RefTensor in = floats({2}, {-kInf, kInf});
  expect_same(run_one({"Sigmoid"}, {&in}).value, {0, 1});
  expect_same(run_one({"Gelu", 20}, {&in}).value, {0, kInf});
  expect_same(run_one({"Mish", 18}, {&in}).value, {0, kInf});
  expect_same(run_one({"Softplus"}, {&in}).value, {0, kInf});
  expect_same(run_one({"Softsign"}, {&in}).value, {-1, 1});
  expect_same(run_one({"HardSwish"}, {&in}).value, {0, kInf});
  expect_same(run_one({"Exp"}, {&in}).bound, {FLT_MIN, 0});
}

TEST(SpecialValues, NaNWinsMaxMinAndClip) {
  const RefTensor a = floats({3}, {kNaN, 1, 2}), b = floats({3}, {1, kNaN, 3}), lo = floats({}, {0}), hi = floats({}, {1.5});
  expect_same(run_one({"Max"}, {&a, &b}).value, {kNaN, kNaN, 3});
  expect_same(run_one({"Min"}, {&a, &b}).value, {kNaN, kNaN, 2});
  expect_same(run_one({"Clip"}, {&a, &lo, &hi}).value, {kNaN, 1, 1.5});
  expect_same(run_one({"Clip", 10, {{"max", 1.5}}}, {&a}).value, {kNaN, 1, 1.5});
}

// A file holds attributes in fp32: 0.2 left out and 0.2 written out are the same number, which float64 tells from 0.2.
TEST(Activations, DefaultsOfAttributesAreFp32Numbers) {
  RefTensor in = floats({2}, {-1, 0.75});
  in.dtype = DType::kF64;
  const std::map<std::string, double> defaults = {{"HardSigmoid", 0.2f}, {"LeakyRelu", 0.01f}, {"Selu", 1.67326319217681884765625f}};
  for (const auto& [op, alpha] : defaults) EXPECT_EQ(run_one({op}, {&in}).value, run_one({op, 17, {{"alpha", alpha}}}, {&in}).value) << op;
}

TEST(SpecialValues, OverflowIsInfinityAndNearlyOverflowIsUnbounded) {
  const RefTensor in = floats({3}, {89, std::log(0x1p128), 80});
  const RefTensor out = run_one({"Exp"}, {&in});
  EXPECT_EQ(out.value[0], kInf);
  EXPECT_EQ(out.bound[0], 0);
  EXPECT_EQ(out.bound[1], kInf);
  EXPECT_LT(out.bound[2], 1e30);
}

// Attention masks are the lowest finite number: adding scores to it must not lose the bound.
TEST(SpecialValues, LowestNumberAsAMaskKeepsAFiniteBound) {
  const RefTensor mask = floats({1}, {-FLT_MAX});
  RefTensor scores = floats({1}, {-3.5});
  scores.bound = {1e-5};
  const RefTensor out = run_one({"Add"}, {&mask, &scores});
  EXPECT_TRUE(std::isfinite(out.value[0]));
  EXPECT_LT(out.bound[0], 1e-6 * FLT_MAX);
}

TEST(SpecialValues, DivisionByWhatMayBeZeroIsUnbounded) {
  const RefTensor one = floats({1}, {1});
  RefTensor small = floats({1}, {1e-6});
  small.bound = {1e-5};
  EXPECT_EQ(run_one({"Div"}, {&one, &small}).bound[0], kInf);
  EXPECT_EQ(run_one({"Reciprocal"}, {&small}).bound[0], kInf);
}

TEST(Storage, HalfTypesAddTheRoundingOfTheStore) {
  RefTensor a = floats({1}, {3}), b = floats({1}, {1.0009765625});
  for (const auto& [dtype, unit] : {std::pair{DType::kF16, 0x1p-11}, std::pair{DType::kBF16, 0x1p-8}}) {
    a.dtype = b.dtype = dtype;
    const RefTensor out = run_one({"Mul"}, {&a, &b});
    const double error = std::fabs(to_doubles(out.to_tensor())[0] - out.value[0]);
    EXPECT_LE(error, out.bound[0]);
    EXPECT_LE(out.bound[0], 1.01 * unit * out.value[0] + 1e-6);
  }
}

// ---- Integers.

RefTensor integers(DType dtype, const std::vector<int64_t>& values) {
  RefTensor t = ints({static_cast<int64_t>(values.size())}, values);
  t.dtype = dtype;
  return t;
}

TEST(Integers, WrapAroundTheirType) {
  const RefTensor a = integers(DType::kU8, {250, 3, 16}), b = integers(DType::kU8, {10, 5, 16});
  EXPECT_EQ(run_one({"Add"}, {&a, &b}).ints, (std::vector<int64_t>{4, 8, 32}));
  EXPECT_EQ(run_one({"Sub"}, {&b, &a}).ints, (std::vector<int64_t>{16, 2, 0}));
  EXPECT_EQ(run_one({"Mul"}, {&a, &b}).ints, (std::vector<int64_t>{196, 15, 0}));
  const RefTensor low = integers(DType::kI8, {-128});
  EXPECT_EQ(run_one({"Abs"}, {&low}).ints, (std::vector<int64_t>{-128}));
  EXPECT_EQ(run_one({"Neg"}, {&low}).ints, (std::vector<int64_t>{-128}));
}

TEST(Integers, DivisionTruncatesAndNeverTraps) {
  const RefTensor a = integers(DType::kI64, {7, -7, INT64_MIN, 5}), b = integers(DType::kI64, {2, 2, -1, 0});
  EXPECT_EQ(run_one({"Div"}, {&a, &b}).ints, (std::vector<int64_t>{3, -3, INT64_MIN, 0}));
}

TEST(Integers, ModTakesTheSignOfTheDivisorAndFmodOfTheDividend) {
  const RefTensor a = integers(DType::kI32, {-4, 7, 5, -5}), b = integers(DType::kI32, {3, -3, 8, -8});
  EXPECT_EQ(run_one({"Mod"}, {&a, &b}).ints, (std::vector<int64_t>{2, -2, 5, -5}));
  EXPECT_EQ(run_one({"Mod", 17, {{"fmod", int64_t{1}}}}, {&a, &b}).ints, (std::vector<int64_t>{-1, 1, 5, -5}));
  const RefTensor x = floats({2}, {-4.5, 7}), y = floats({2}, {3, -3});
  EXPECT_EQ(run_one({"Mod"}, {&x, &y}).value, (std::vector<double>{1.5, -2}));
}

TEST(Integers, LargeUnsignedOnesAreNotNegative) {
  const RefTensor a = integers(DType::kU64, {-1, 6}), b = integers(DType::kU64, {2, 4});
  EXPECT_EQ(run_one({"Greater"}, {&a, &b}).ints, (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(run_one({"Div"}, {&a, &b}).ints, (std::vector<int64_t>{INT64_MAX, 1}));
  EXPECT_EQ(run_one({"Max"}, {&a, &b}).ints, (std::vector<int64_t>{-1, 6}));
  const RefTensor as_floats = run_one({"Cast", 17, {{"to", int64_t{11}}}}, {&a});
  EXPECT_EQ(as_floats.value, (std::vector<double>{0x1p64, 6}));
}

TEST(Integers, PowersWrap) {
  const RefTensor a = integers(DType::kI32, {3, 2, -1, 5}), b = integers(DType::kI32, {4, 33, 3, -1});
  EXPECT_EQ(run_one({"Pow"}, {&a, &b}).ints, (std::vector<int64_t>{81, 0, -1, 0}));
}

// ---- Decisions by uncertain floats.

RefTensor uncertain(const std::vector<double>& values, double e) {
  RefTensor t = floats({static_cast<int64_t>(values.size())}, values);
  t.bound.assign(t.value.size(), e);
  return t;
}

TEST(Decisions, ComparisonsOfCloseValuesAreMarked) {
  const RefTensor a = uncertain({1, 1, 2}, 1e-3), b = floats({3}, {1.0005, 1.1, 2});
  const RefTensor out = run_one({"Less"}, {&a, &b});
  EXPECT_EQ(out.ints, (std::vector<int64_t>{1, 1, 0}));
  EXPECT_EQ(out.bound, (std::vector<double>{1, 0, 1}));
}

TEST(Decisions, WhereCoversBothBranchesOfAnUncertainCondition) {
  RefTensor condition = ints({2}, {1, 1});
  condition.dtype = DType::kBool;
  condition.bound = {1, 0};
  const RefTensor a = floats({2}, {5, 5}), b = floats({2}, {-1, -1});
  // As a float tensor the condition would be an operand: evaluate directly, since constants have no bounds.
  Graph graph;
  Node node{"where", "", "Where", 16, {}, {}, {graph.add_value("y", DType::kF32, {2})}};
  EvalContext c{node, true, {&condition, &a, &b}, {floats({2}, {})}};
  find_op("", "Where")->eval(c);
  EXPECT_EQ(c.out(0).value, (std::vector<double>{5, 5}));
  EXPECT_EQ(c.out(0).bound, (std::vector<double>{6, 0}));
}

TEST(Decisions, StepsNearAnUncertainValueAreCovered) {
  const RefTensor in = uncertain({0.9999, 0.5, -0.0001}, 1e-3);
  EXPECT_EQ(run_one({"Floor"}, {&in}).bound, (std::vector<double>{1, 0, 1}));
  EXPECT_EQ(run_one({"Round"}, {&in}).bound, (std::vector<double>{0, 1, 0}));
  const RefTensor cast = run_one({"Cast", 17, {{"to", int64_t{6}}}}, {&in});
  EXPECT_EQ(cast.ints, (std::vector<int64_t>{0, 0, 0}));
  EXPECT_EQ(cast.bound, (std::vector<double>{1, 0, 0}));
}

TEST(Casts, RoundLikeAStoreAndMarkWhatOnnxLeavesOpen) {
  const RefTensor in = floats({4}, {70000, 1.0009765624, kNaN, -3.7});
  const RefTensor half = run_one({"Cast", 17, {{"to", int64_t{10}}}}, {&in});
  expect_same(half.value, {kInf, 1.0009765625, kNaN, -3.69921875});
  const RefTensor bytes = run_one({"Cast", 17, {{"to", int64_t{3}}}}, {&in});
  EXPECT_EQ(bytes.ints[3], -3);
  EXPECT_EQ(bytes.bound, (std::vector<double>{kInf, 0, kInf, 0}));
}

TEST(Shapes, TypesThatDoNotMixAreRefused) {
  RefTensor a = floats({2}, {1, 2}), b = floats({2}, {1, 2}), c = floats({3}, {1, 2, 3});
  b.dtype = DType::kF64;
  EXPECT_THROW(run_one({"Add"}, {&a, &b}), Refusal);
  EXPECT_THROW(run_one({"Add"}, {&a, &c}), Refusal);
  const RefTensor i = ints({2}, {1, 2});
  EXPECT_THROW(run_one({"Exp"}, {&i}), Refusal);
}

// Whatever the order: a kernel that leaves another number there is wrong.
TEST(Sum, AnInfiniteTermIsNotOpen) {
  const RefTensor a = floats({2}, {HUGE_VAL, 1}), b = floats({2}, {1, 2}), c = floats({2}, {-3, 4});
  const RefTensor y = run_one({"Sum", 13}, {&a, &b, &c});
  EXPECT_EQ(y.value[0], HUGE_VAL);
  for (const double bound : y.bound) EXPECT_LT(bound, 1e-5);
  const RefTensor opposite = floats({2}, {-HUGE_VAL, 1});
  EXPECT_TRUE(std::isnan(run_one({"Sum", 13}, {&a, &b, &opposite}).value[0]));
}

}  // namespace
}  // namespace amdahl

// What one honest order of arithmetic makes infinite or NaN and another does not: such values are open (their bound is infinite), and so is what is made of them.
#include <cmath>

#include "graph/oracle.h"
#include "tests/graph/op_fixture.h"

namespace amdahl {
namespace {

using namespace test;

RefTensor bounded(Shape shape, std::vector<double> value, std::vector<double> bound) {
  RefTensor t = floats(std::move(shape), std::move(value));
  t.bound = std::move(bound);
  return t;
}

TEST(OpenValues, StayOpenThroughArithmetic) {
  const RefTensor open = bounded({3}, {1, 1, 1}, {kInf, kInf, kInf}), other = floats({3}, {0, -5, 1e-30});
  for (const char* op : {"Add", "Sub", "Mul", "Div", "Max", "Min"})
    for (double bound : run_one({op, 14}, {&other, &open}).bound) EXPECT_EQ(bound, kInf) << op;
}

TEST(OpenValues, TimesZeroTwiceStayOpen) {  // 0 by an infinite bound is no number: what followed dropped it
  const RefTensor open = bounded({1}, {1}, {kInf}), zero = floats({1}, {0});
  const RefTensor once = run_one({"Mul", 14}, {&zero, &open});
  EXPECT_EQ(run_one({"Mul", 14}, {&once, &zero}).bound[0], kInf);
}

TEST(OpenValues, MayBeNaNForFunctionsThatHaveEnds) {
  const RefTensor open = bounded({1}, {1}, {kInf});
  for (const char* op : {"Tanh", "Sigmoid", "Relu", "Softsign", "Erf", "Sin", "Floor", "Abs", "HardSigmoid"})
    EXPECT_EQ(run_one({op, 13}, {&open}).bound[0], kInf) << op;
}

TEST(OpenValues, AnInfinityByWhatNeedNotBeZero) {
  const RefTensor infinity = floats({1, 1}, {kInf}), uncertain = bounded({1, 1}, {0}, {1e-9}), zero = floats({1, 1}, {0});
  for (const char* op : {"Mul", "MatMul"}) {
    EXPECT_EQ(run_one({op, 14}, {&uncertain, &infinity}).bound[0], kInf) << op;
    EXPECT_EQ(run_one({op, 14}, {&infinity, &uncertain}).bound[0], kInf) << op;
    EXPECT_TRUE(std::isnan(run_one({op, 14}, {&zero, &infinity}).value[0])) << op;
    EXPECT_EQ(run_one({op, 14}, {&zero, &infinity}).bound[0], 0) << op;
  }
}

TEST(OpenValues, BesideTheEdgeOfADomain) {
  const RefTensor near = bounded({2}, {-1e-9, -1}, {1e-8, 1e-8});
  const RefTensor root = run_one({"Sqrt", 13}, {&near});
  EXPECT_EQ(root.bound[0], kInf);
  EXPECT_TRUE(std::isnan(root.value[1]));
  EXPECT_EQ(root.bound[1], 0);
}

TEST(OpenValues, ANaNThatIsGivenStaysOne) {
  const RefTensor nan = floats({1}, {kNaN}), open = bounded({1}, {1}, {kInf});
  const RefTensor sum = run_one({"Add", 14}, {&nan, &open});
  EXPECT_TRUE(std::isnan(sum.value[0]));
  EXPECT_EQ(sum.bound[0], 0);
}

// Greater numbers than the type has inside a chain: another form need not make them. As the last value they are infinite.
TEST(OpenValues, WhatOverflowsInsideAWindow) {
  Graph graph;
  const ValueId x = graph.add_value("x", DType::kF32, {2}), twice = graph.add_value("twice", DType::kF32, {2}),
                half = graph.add_value("half", DType::kF32, {2});
  const ValueId two = graph.add_constant("two", from_doubles(DType::kF32, {}, {2})),
                a_half = graph.add_constant("a half", from_doubles(DType::kF32, {}, {0.5}));
  const auto product = [&](ValueId a, ValueId b, ValueId y) {
    Node node;
    node.op = "Mul";
    node.version = 14;
    node.inputs = {a, b};
    node.outputs = {y};
    graph.nodes.push_back(node);
  };
  product(x, two, twice);
  product(twice, a_half, half);
  const RefValues given{{x, floats({2}, {3e38, kInf})}};
  const RefTensor inside = evaluate(graph, {0, 1}, given, {half}, true).at(half), last = evaluate(graph, {0}, given, {twice}, true).at(twice);
  EXPECT_EQ(inside.bound[0], kInf);
  EXPECT_TRUE(std::isfinite(inside.value[0]));
  EXPECT_EQ(inside.value[1], kInf);
  EXPECT_EQ(inside.bound[1], 0);
  EXPECT_EQ(last.value[0], kInf);
  EXPECT_EQ(last.bound[0], 0);
}

// Weights of a half each: their sum may be divided by 2 after the values have been added up.
TEST(OpenValues, WhatAttentionMayDivideLater) {
  const RefTensor q = floats({1, 1, 1, 1}, {0}), k = floats({1, 1, 2, 1}, {0, 0});
  const auto attended = [&](double v) {
    const RefTensor values = floats({1, 1, 2, 1}, {v, v});
    return run_one({"Attention", 23}, {&q, &k, &values}).bound[0];
  };
  EXPECT_EQ(attended(2e38), kInf);
  EXPECT_LT(attended(1.5e38), 1e33);
  // The same in single steps.
  const RefTensor scores = floats({1, 2}, {0, 0}), weights = run_one({"Softmax", 13}, {&scores});
  const auto weighed = [&](const RefTensor& by, double v) {
    const RefTensor values = floats({2, 1}, {v, v});
    return run_one({"MatMul", 13}, {&by, &values}).bound[0];
  };
  EXPECT_EQ(weighed(weights, 2e38), kInf);
  EXPECT_LT(weighed(weights, 1.5e38), 1e33);
  EXPECT_LT(weighed(floats({1, 2}, {0.5, 0.5}), 2e38), 1e33);
}

// Squares overflow: the inverse of the deviation is zero, or it is not.
TEST(OpenValues, StatisticsOfRowsWithoutSquares) {
  const RefTensor x = floats({1, 4}, {1e30, -2e30, 1e30, 3e30}), scale = floats({4}, {1, 1, 1, 1});
  const std::vector<RefTensor> y = run_op({"LayerNormalization", 17, {}, 3}, {&x, &scale});
  EXPECT_EQ(y[2].bound[0], kInf);
  EXPECT_LT(y[1].bound[0], 1e25);
}

TEST(OpenValues, QuotientsOfWhatMayBeInfinite) {
  const RefTensor x = bounded({1, 2}, {1, -kInf}, {kInf, 0});
  EXPECT_EQ(run_one({"LpNormalization", 1}, {&x}).bound[0], kInf);
}

RefTensor doubles(Shape shape, std::vector<double> value) {
  RefTensor t = floats(std::move(shape), std::move(value));
  t.dtype = DType::kF64;
  return t;
}

// The oracle's own doubles end where a kernel's do: what it makes infinite, or NaN of infinities, need not be in another order.
TEST(OpenValues, SumsOfDoublesThatOverflow) {
  const RefTensor huge = doubles({1, 2}, {1e200, 1e200}), opposed = doubles({2, 1}, {1e200, -1e200}), most = doubles({1, 3}, {1.7e308, 1.7e308, -1.7e308});
  EXPECT_EQ(run_one({"MatMul", 13}, {&huge, &opposed}).bound[0], kInf);
  const std::map<std::string, Attribute> along{{"axes", std::vector<int64_t>{1}}};
  for (const char* op : {"ReduceL2", "ReduceProd"}) EXPECT_EQ(run_one({op, 13, along}, {&huge}).bound[0], kInf) << op;
  EXPECT_EQ(run_one({"ReduceMean", 13, along}, {&most}).bound[0], kInf);
  EXPECT_EQ(run_one({"LpNormalization", 1}, {&huge}).bound[0], kInf);
}

}  // namespace
}  // namespace amdahl

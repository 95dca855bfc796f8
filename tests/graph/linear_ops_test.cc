#include "graph/oracle.h"
#include "tests/graph/op_fixture.h"

namespace amdahl::test {
namespace {

std::vector<float> plain_matmul(const std::vector<float>& a, const std::vector<float>& b, int64_t m, int64_t n, int64_t k) {
  std::vector<float> c(static_cast<size_t>(m * n));
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      float s = 0;
      for (int64_t l = 0; l < k; ++l) s += a[static_cast<size_t>(i * k + l)] * b[static_cast<size_t>(l * n + j)];
      c[static_cast<size_t>(i * n + j)] = s;
    }
  return c;
}

TEST(MatMul, MultipliesMatrices) {
  const RefTensor a = floats({2, 3}, {1, 2, 3, 4, 5, 6}), b = floats({3, 2}, {1, 0, 0, 1, 2, 3});
  const RefTensor c = run_one({"MatMul"}, {&a, &b});
  EXPECT_EQ(c.shape, (Shape{2, 2}));
  expect_values(c, {7, 11, 16, 23});
}

TEST(MatMul, VectorsAreRowsOnTheLeftAndColumnsOnTheRight) {
  const RefTensor v = floats({3}, {1, 2, 3}), m = floats({3, 2}, {1, 0, 0, 1, 2, 3}), mt = floats({2, 3}, {1, 0, 2, 0, 1, 3});
  const RefTensor left = run_one({"MatMul"}, {&v, &m}), right = run_one({"MatMul"}, {&mt, &v}), dot = run_one({"MatMul"}, {&v, &v});
  EXPECT_EQ(left.shape, (Shape{2}));
  expect_values(left, {7, 11});
  EXPECT_EQ(right.shape, (Shape{2}));
  expect_values(right, {7, 11});
  EXPECT_EQ(dot.shape, (Shape{}));
  expect_values(dot, {14});
}

TEST(MatMul, BatchesBroadcast) {
  const RefTensor a = random_floats({5, 1, 2, 3}, 1), b = random_floats({4, 3, 6}, 2);
  const RefTensor c = run_one({"MatMul"}, {&a, &b});
  ASSERT_EQ(c.shape, (Shape{5, 4, 2, 6}));
  for (int64_t i = 0; i < 5; ++i)
    for (int64_t j = 0; j < 4; ++j)
      for (int64_t r = 0; r < 2; ++r)
        for (int64_t s = 0; s < 6; ++s) {
          double sum = 0;
          for (int64_t l = 0; l < 3; ++l) sum += a.value[static_cast<size_t>((i * 2 + r) * 3 + l)] * b.value[static_cast<size_t>((j * 3 + l) * 6 + s)];
          EXPECT_NEAR(c.value[static_cast<size_t>(((i * 4 + j) * 2 + r) * 6 + s)], sum, 1e-14);
        }
}

TEST(MatMul, IntegersAreExact) {
  const RefTensor a = ints({1, 2}, {int64_t{1} << 40, 3}), b = ints({2, 1}, {5, 7});
  EXPECT_EQ(run_one({"MatMul"}, {&a, &b}).ints, (std::vector<int64_t>{(int64_t{5} << 40) + 21}));
}

TEST(MatMul, OverNothingIsZero) {
  const RefTensor a = floats({2, 0}, {}), b = floats({0, 3}, {}), c = floats({3}, {1, 2, 3});
  expect_values(run_one({"MatMul"}, {&a, &b}), {0, 0, 0, 0, 0, 0});
  expect_values(run_one({"Gemm", 13, {{"beta", -0.5}}}, {&a, &b, &c}), {-0.5, -1, -1.5, -0.5, -1, -1.5});
}

// A window that computes a product over nothing, or nothing at all, is not given what its kernel does not read.
TEST(Oracle, WhatHasNoElementsNeedNotBeGiven) {
  const auto evaluated = [](Shape a, Shape b) {
    Graph graph;
    Node node{"node", "", "MatMul", 13, {}, {graph.add_value("a", DType::kF32, a), graph.add_value("b", DType::kF32, b)}, {}};
    node.outputs = {graph.add_value("y", DType::kF32, {a[0], b[1]})};
    graph.nodes.push_back(node);
    return evaluate(graph, {0}, {}, node.outputs, true).at(node.outputs[0]);
  };
  expect_values(evaluated({2, 0}, {0, 1}), {0, 0});
  EXPECT_EQ(evaluated({0, 3}, {3, 2}).shape, (Shape{0, 2}));
}

// alpha (A B) + beta C in IEEE's arithmetic, without C where beta is 0 (BLAS, onnx.reference and ONNX Runtime leave it out).
TEST(Gemm, FactorsThatAreNotFinite) {
  const double inf = HUGE_VAL, nan = std::nan("");
  const RefTensor a = floats({1, 2}, {3, -1}), b = floats({2, 3}, {1, 0, 0, 1, 0, 1}), c = floats({3}, {1, -2, 0});
  const auto run = [&](double alpha, double beta) { return run_one({"Gemm", 13, {{"alpha", alpha}, {"beta", beta}}}, {&a, &b, &c}); };
  const RefTensor infinite = run(inf, 1), beta = run(1, -inf), none = run(1, nan);  // A B = 2, 0, -1
  EXPECT_EQ(infinite.value[0], inf);
  EXPECT_TRUE(std::isnan(infinite.value[1]));
  EXPECT_EQ(infinite.value[2], -inf);
  EXPECT_EQ(infinite.bound, (std::vector<double>{inf, 0, inf})) << "what an infinite factor makes of a sum that rounding may move across zero is open";
  EXPECT_EQ(beta.value[0], -inf);
  EXPECT_EQ(beta.value[1], inf);
  EXPECT_TRUE(std::isnan(beta.value[2]));
  for (double v : none.value) EXPECT_TRUE(std::isnan(v));
  const RefTensor large = floats({3}, {inf, nan, 0});
  expect_values(run_one({"Gemm", 13, {{"beta", 0.0}}}, {&a, &b, &large}), {2, 0, -1});
}

TEST(MatMul, RefusesMismatchedInnerDimension) {
  const RefTensor a = floats({1, 2}, {1, 2}), b = floats({3, 1}, {1, 2, 3});
  EXPECT_THROW(run_one({"MatMul"}, {&a, &b}), Refusal);
}

TEST(MatMul, BoundCoversAnHonestLoopAndRejectsBf16) {
  for (int64_t k : {64, 768}) {
    const RefTensor a = random_floats({24, k}, 1), b = random_floats({k, 40}, 2);
    const RefTensor c = run_one({"MatMul"}, {&a, &b});
    expect_honest(c, plain_matmul(as_float(a), as_float(b), 24, 40, k));
    std::vector<float> ra = as_float(a), rb = as_float(b);
    for (float& v : ra) v = bf16_to_f32(f32_to_bf16(v));
    for (float& v : rb) v = bf16_to_f32(f32_to_bf16(v));
    EXPECT_GT(worst_ratio(c, plain_matmul(ra, rb, 24, 40, k)), 2.0);
  }
}

TEST(MatMul, BoundsOfInputsPropagate) {
  RefTensor a = random_floats({8, 32}, 1), b = random_floats({32, 8}, 2);
  a.bound.assign(a.value.size(), 1e-3);
  b.bound.assign(b.value.size(), 2e-3);
  const RefTensor c = run_one({"MatMul"}, {&a, &b});
  // The worst move: every element goes to the edge of its bound in the direction that grows one output.
  double moved = 0, first_order = 0;
  for (size_t l = 0; l < 32; ++l) {
    const double x = a.value[l], y = b.value[l * 8];
    moved += (x + (y > 0 ? 1e-3 : -1e-3)) * (y + (x > 0 ? 2e-3 : -2e-3)) - x * y;
    first_order += std::fabs(x) * 2e-3 + std::fabs(y) * 1e-3;
  }
  EXPECT_GE(c.bound[0], moved);
  EXPECT_LE(c.bound[0], 1.01 * first_order);
}

TEST(MatMul, NoBoundsUnlessAsked) {
  const RefTensor a = random_floats({4, 4}, 1);
  EXPECT_TRUE(run_one({"MatMul"}, {&a, &a}, false).bound.empty());
}

TEST(Gemm, TransposesScalesAndAdds) {
  const RefTensor a = floats({3, 2}, {1, 4, 2, 5, 3, 6}), b = floats({2, 3}, {1, 0, 2, 0, 1, 3}), c = floats({2}, {10, 20});
  const OpRun run{"Gemm", 13, {{"transA", int64_t{1}}, {"transB", int64_t{1}}, {"alpha", 2.0}, {"beta", 0.5}}};
  expect_values(run_one(run, {&a, &b, &c}), {19, 32, 37, 56});
  expect_values(run_one(run, {&a, &b}), {14, 22, 32, 46});
}

TEST(Gemm, AddendMayBeAColumnOrAScalar) {
  const RefTensor a = floats({2, 1}, {1, 2}), b = floats({1, 2}, {3, 4}), column = floats({2, 1}, {10, 20}), one = floats({}, {100});
  expect_values(run_one({"Gemm"}, {&a, &b, &column}), {13, 14, 26, 28});
  expect_values(run_one({"Gemm"}, {&a, &b, &one}), {103, 104, 106, 108});
}

TEST(Gemm, BoundCoversAnHonestLoop) {
  const RefTensor a = random_floats({16, 100}, 1), b = random_floats({100, 16}, 2), c = random_floats({16}, 3);
  std::vector<float> y = plain_matmul(as_float(a), as_float(b), 16, 16, 100);
  for (size_t i = 0; i < y.size(); ++i) y[i] += static_cast<float>(c.value[i % 16]);
  expect_honest(run_one({"Gemm"}, {&a, &b, &c}), y);
}

TEST(Einsum, ContractsTransposesAndTakesDiagonals) {
  const RefTensor a = floats({2, 3}, {1, 2, 3, 4, 5, 6}), b = floats({2, 2}, {1, 2, 3, 4});
  const auto einsum = [](std::string equation, const std::vector<const RefTensor*>& in) {
    return run_one({"Einsum", 12, {{"equation", std::move(equation)}}}, in);
  };
  expect_values(einsum("ij->ji", {&a}), {1, 4, 2, 5, 3, 6});
  expect_values(einsum("ij->i", {&a}), {6, 15});
  expect_values(einsum("ii->i", {&b}), {1, 4});
  expect_values(einsum("ii", {&b}), {5});
  expect_values(einsum("ki, kj -> ij", {&b, &a}), {13, 17, 21, 18, 24, 30});
  expect_values(einsum("ij,kl->", {&b, &a}), {210});
}

TEST(Einsum, AttentionScoresMatchMatMul) {
  const RefTensor q = random_floats({2, 5, 3, 4}, 1), k = random_floats({2, 6, 3, 4}, 2);
  const RefTensor s = run_one({"Einsum", 12, {{"equation", std::string("bqhd,bkhd->bhqk")}}}, {&q, &k});
  ASSERT_EQ(s.shape, (Shape{2, 3, 5, 6}));
  double sum = 0;  // b = 1, h = 2, q = 4, k = 5
  for (size_t d = 0; d < 4; ++d) sum += q.value[((1 * 5 + 4) * 3 + 2) * 4 + d] * k.value[((1 * 6 + 5) * 3 + 2) * 4 + d];
  EXPECT_NEAR(s.value.back(), sum, 1e-14);
}

TEST(Einsum, EllipsisBroadcasts) {
  const RefTensor a = random_floats({3, 1, 2, 4}, 1), b = random_floats({5, 4, 2}, 2);
  const RefTensor c = run_one({"Einsum", 12, {{"equation", std::string("...ij,...jk->...ik")}}}, {&a, &b});
  const RefTensor d = run_one({"MatMul"}, {&a, &b});
  EXPECT_EQ(c.shape, d.shape);
  expect_values(c, d.value, 1e-14);
}

}  // namespace
}  // namespace amdahl::test

#include <gtest/gtest.h>

#include "graph/graph.h"
#include "starter_kernels/kinds/pointwise.h"
#include "starter_kernels/text/program_text.h"

namespace amdahl {
namespace {

PointwiseProgram binary(const char* op) { return {2, {DType::kF32, DType::kF32}, {{op, {0, 1}}}, {2}}; }

TEST(PointwiseProgram, ComposeKeepsTheOtherInputsAroundTheSlot) {
  // outer = a - b, inner = c * d in place of b: inputs a, c, d.
  const PointwiseProgram p = compose(binary("sub"), 1, binary("mul"));
  EXPECT_EQ(p.inputs, 3);
  ASSERT_EQ(p.ops.size(), 2u);
  EXPECT_EQ(p.ops[0].op, "mul");
  EXPECT_EQ(p.ops[0].args, (std::vector<int>{1, 2}));
  EXPECT_EQ(p.ops[1].args, (std::vector<int>{0, 3}));
  EXPECT_EQ(p.results, std::vector<int>{4});
  // In place of a: inputs c, d, b.
  const PointwiseProgram q = compose(binary("sub"), 0, binary("mul"));
  EXPECT_EQ(q.ops[0].args, (std::vector<int>{0, 1}));
  EXPECT_EQ(q.ops[1].args, (std::vector<int>{3, 2}));
}

TEST(PointwiseProgram, ScalarConstantsAreBakedIn) {
  Graph g;
  const ValueId x = g.add_value("x", DType::kF32, {4, 3});
  const ValueId c = g.add_constant("c", Tensor::of<float>(DType::kF32, {1}, {0.5f}));
  const ValueId y = g.add_value("y", DType::kF32, {4, 3});
  g.nodes.push_back({"n", "", "Mul", 17, {}, {c, x}, {y}});
  const PointwiseProgram p = program_of(g, g.nodes[0]);
  EXPECT_EQ(p.inputs, 1);
  EXPECT_EQ(program_inputs(g, g.nodes[0]), std::vector<ValueId>{x});
  EXPECT_NE(emit_program(p, "f").find("0x1p-1f"), std::string::npos);
}

TEST(PointwiseProgram, OperatorsThatAreNotPointwiseGiveNone) {
  Graph g;
  const ValueId x = g.add_value("x", DType::kF32, {4, 3});
  const ValueId y = g.add_value("y", DType::kF32, {4, 3});
  g.nodes.push_back({"n", "", "Softmax", 17, {}, {x}, {y}});
  EXPECT_TRUE(program_of(g, g.nodes[0]).empty());
}

TEST(PointwiseProgram, LoadsUseStridesAndSkipBroadcastDimensions) {
  const Access a{DType::kBF16, {2, 3, 4}, {0, 1, 3}, 5};
  EXPECT_EQ(emit_load(a, "p", {"i", "j", "k"}), "scalar::from_bf16(((const uint16_t*)p)[5 + j + (k) * 3])");
  EXPECT_EQ(emit_load(Access::dense(DType::kF32, {}), "p", {}), "((const float*)p)[0]");
}

TEST(PointwiseProgram, EpilogueWithoutProgramReturnsTheAccumulatorInStorageForm) {
  Problem problem;
  problem.out = {Access::dense(DType::kBF16, {2, 3})};
  const std::string text = emit_epilogue(problem, 0);
  EXPECT_NE(text.find("uint16_t epilogue(float acc, const void* const* in, int64_t i0, int64_t i1)"), std::string::npos);
  EXPECT_NE(text.find("return scalar::to_bf16(acc);"), std::string::npos);
}

}  // namespace
}  // namespace amdahl

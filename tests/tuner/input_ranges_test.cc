// Which integers are drawn for inputs that select from something.

#include "tuner/validation/input_ranges.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "starter_kernels/examples/example_graph.h"

namespace amdahl {
namespace {

InputRange range_of(const Graph& graph) { return input_ranges(graph, graph.inputs).at(0); }

Graph gather(int version, DType dtype = DType::kI64) {
  ExampleGraph g("gather", version);
  const ValueId i = g.input(dtype, {6});
  return g.finish({g.node("Gather", {g.normal({50, 4}, 3), i})});
}

std::vector<int64_t> drawn(Distribution distribution, const InputRange& range) {
  std::byte* data;
  const Tensor t = Tensor::allocate(DType::kI64, {2000}, &data);
  fill_input(data, DType::kI64, {2000}, {distribution, 5}, 0, range);
  return to_ints(t);
}

TEST(InputRanges, PositionsMayBeCountedFromTheEnd) {
  for (DType dtype : {DType::kI64, DType::kI32}) {
    const InputRange range = range_of(gather(17, dtype));
    EXPECT_EQ(range.lo, 0);
    EXPECT_EQ(range.hi, 50);
    EXPECT_TRUE(range.from_the_end);
  }
}

// Before opset 11 the standard knows no negative positions.
TEST(InputRanges, NotBeforeTheStandardSaysSo) { EXPECT_FALSE(range_of(gather(10)).from_the_end); }

// Tokens of which the model also asks whether they are padding, say: what else reads them may not know what is before 0.
TEST(InputRanges, NotWhereSomethingElseReadsThem) {
  ExampleGraph g("two readers", 17);
  const ValueId i = g.input(DType::kI64, {6});
  const ValueId rows = g.node("Gather", {g.normal({50, 4}, 3), i}), other = g.node("Cast", {i}, {{"to", int64_t{1}}});
  const InputRange range = range_of(g.finish({rows, other}));
  EXPECT_EQ(range.hi, 50);
  EXPECT_FALSE(range.from_the_end);
}

TEST(InputRanges, LengthsOfARecurrenceReachToItsLastStep) {
  ExampleGraph g("lengths", 17);
  const ValueId lengths = g.input(DType::kI32, {2});
  const InputRange range = range_of(g.finish({g.node("RNN", {g.normal({7, 2, 3}, 1), g.normal({1, 4, 3}, 2), g.normal({1, 4, 4}, 3), kNoValue, lengths})}));
  EXPECT_EQ(range.hi, 8);
  EXPECT_FALSE(range.from_the_end);
}

TEST(InputRanges, AreOfTheSmallestDimensionThatIsSelectedFrom) {
  ExampleGraph g("tables", 17);
  const ValueId i = g.input(DType::kI64, {6, 2});
  const ValueId points = g.node("GatherND", {g.normal({30, 20, 4}, 3), i});
  const ValueId hot = g.node("OneHot", {g.node("Reshape", {i, g.ints({1}, {12})}), g.ints({1}, {9}), g.floats({2}, {0, 1})});
  const InputRange range = range_of(g.finish({points, hot}));
  EXPECT_EQ(range.hi, 9);
  EXPECT_TRUE(range.from_the_end);
}

TEST(InputRanges, SomeDrawsCountFromTheEndAndOthersDoNot) {
  const InputRange range = range_of(gather(17));
  for (Distribution distribution : {Distribution::kNormal, Distribution::kUniform, Distribution::kPowers}) {
    const auto x = drawn(distribution, range);
    EXPECT_EQ(*std::min_element(x.begin(), x.end()), 0) << name_of(distribution);
  }
  for (Distribution distribution : {Distribution::kHeavyTail, Distribution::kNeedle, Distribution::kSpecial, Distribution::kExponents}) {
    const auto x = drawn(distribution, range);
    EXPECT_EQ(*std::min_element(x.begin(), x.end()), -50) << name_of(distribution);
    EXPECT_EQ(*std::max_element(x.begin(), x.end()), 49) << name_of(distribution);
    EXPECT_NEAR(static_cast<double>(std::count_if(x.begin(), x.end(), [](int64_t v) { return v < 0; })), 1000, 150) << name_of(distribution);
  }
}

}  // namespace
}  // namespace amdahl

// Which pieces kernels of a card take of rows and points (starter_kernels/cuda/pieces.h), as their spaces and texts say it.

#include "starter_kernels/cuda/pieces.h"

#include <gtest/gtest.h>

#include "starter_kernels/kinds/kernel_kind.h"
#include "starter_kernels/kinds/pointwise.h"
#include "starter_kernels/kinds/softmax.h"
#include "tests/starter_kernels/absent_card.h"

namespace amdahl {
namespace {

using testing::ampere;

Problem softmax(const Access& in, const Access& out) {
  Problem p{"softmax", {in}, {out}};
  SoftmaxParams{1, false}.write(p);
  return p;
}

// In x + y; both types alike.
Problem sum(const Access& x, const Access& y, const Access& out) {
  Problem p{"pointwise", {x, y}, {out}};
  PointwiseParams{{2, {x.dtype, y.dtype}, {{"add", {0, 1}, x.dtype}}, {2}}}.write(p);
  return p;
}

int64_t widest(const Problem& problem) {
  const SearchSpace space = ampere().space(problem);
  const Knob* knob = space.find("PIECE");
  if (knob) {
    EXPECT_EQ(knob->starter, knob->values.back());
  }
  return knob ? knob->starter : 1;
}

Access dense(DType type, int64_t rows, int64_t columns) { return Access::dense(type, {rows, columns}); }

// Columns from `first` on of rows of `stride`.
Access part(DType type, int64_t rows, int64_t columns, int64_t stride, int64_t first) { return {type, {rows, columns}, {stride, 1}, first}; }

TEST(Pieces, OfRowsAreSixteenBytesWhereInputAndResultLieSo) {
  const DType half = DType::kF16;
  EXPECT_EQ(widest(softmax(dense(half, 5, 768), dense(half, 5, 768))), 8);
  EXPECT_EQ(widest(softmax(dense(DType::kF32, 5, 768), dense(DType::kF32, 5, 768))), 4);
  EXPECT_EQ(widest(softmax(dense(half, 5, 50), dense(half, 5, 50))), 2);
  EXPECT_EQ(widest(softmax(dense(half, 5, 51), dense(half, 5, 51))), 1);
  EXPECT_EQ(widest(softmax(part(half, 5, 64, 80, 16), dense(half, 5, 64))), 8);
  EXPECT_EQ(widest(softmax(part(half, 5, 64, 80, 4), dense(half, 5, 64))), 4);
  EXPECT_EQ(widest(softmax(part(half, 5, 64, 70, 8), dense(half, 5, 64))), 2);
  EXPECT_EQ(widest(softmax(dense(half, 5, 64), part(half, 5, 64, 80, 3))), 1);
  EXPECT_EQ(widest(softmax({half, {5, 64}, {1, 5}}, dense(half, 5, 64))), 1);  // across
  EXPECT_EQ(widest(softmax({half, {5, 64}, {1, 5}}, {half, {5, 64}, {1, 5}})), 1);
}

TEST(Pieces, OfPointsAreAsWideAsAllOperandsLet) {
  const DType half = DType::kF16;
  const Access x = dense(half, 6, 48);
  EXPECT_EQ(widest(sum(x, x, x)), 8);
  EXPECT_EQ(widest(sum(x, {half, {6, 48}, {0, 1}}, x)), 8);                               // a row for all
  EXPECT_EQ(widest(sum(x, {half, {6, 48}, {1, 0}}, x)), 8);                               // a number of each row
  EXPECT_EQ(widest(sum(x, {half, {6, 48}, {1, 6}}, x)), 1);                               // across
  EXPECT_EQ(widest(sum(x, part(half, 6, 48, 64, 2), x)), 2);                              // from an odd place
  EXPECT_EQ(widest(sum(x, x, dense(DType::kF32, 6, 48))), 4);                             // the widest type decides
  EXPECT_EQ(widest(sum(dense(half, 3, 17), dense(half, 3, 17), dense(half, 3, 17))), 1);  // 51 in all
}

// Sessions hold variants of before there were pieces: they are what they were.
TEST(Pieces, VariantsWithoutThemTakeOneElementAtATime) {
  size_t tried = 0;
  for (const char* kind : {"layernorm", "rmsnorm", "softmax", "pointwise"})
    for (const Graph& graph : kernel_kind(kind).examples())
      for (const Node& node : graph.nodes) {
        const auto lowering = kernel_kind(kind).lower(graph, node, 1);
        if (!lowering) continue;
        Variant one = lowering->variant;
        const SearchSpace space = ampere().space(one.problem);
        if (!space.find("PIECE")) continue;
        one.knobs = space.starters();
        one.knobs["PIECE"] = 1;
        Variant old = one;
        old.knobs.erase("PIECE");
        EXPECT_EQ(space.refuse(old.knobs), space.refuse(one.knobs)) << graph.name;
        EXPECT_EQ(ampere().source(old), ampere().source(one)) << graph.name;
        ++tried;
      }
  EXPECT_GT(tried, 20u);
}

}  // namespace
}  // namespace amdahl

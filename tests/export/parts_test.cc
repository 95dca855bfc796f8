#include "export/parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "starter_kernels/cpu/cpu_target.h"
#include "tests/export/products_and_short_steps.h"

namespace amdahl {
namespace {

class Parts : public ::testing::Test {
 protected:
  static Program program_of(const Graph& graph, const Plan& plan) {
    Blob blob;
    return model_program(graph, plan, std::vector<std::string>(plan.steps.size(), "k000"), &blob);
  }
  const Graph graph_ = testing::products_and_short_steps();
  const Plan plan_ = starter_plan(graph_, 2, cpu_target());
  const Program program_ = program_of(graph_, plan_);
};

std::string kind_of(const Plan& plan, const Program& program, size_t call) {
  return plan.steps[static_cast<size_t>(program.calls[call].step)].variant.problem.kind;
}

TEST_F(Parts, EndWithAStepThatIsWorthANodeAndCoverEveryCallOnce) {
  const std::vector<Part> parts = parts_of(program_, plan_);
  ASSERT_EQ(parts.size(), 3u);
  size_t next = 0;
  for (const Part& part : parts) {
    EXPECT_EQ(part.first, next);
    EXPECT_LT(part.first, part.end);
    next = part.end;
  }
  EXPECT_EQ(next, program_.calls.size());
  for (size_t p = 0; p < 2; ++p) EXPECT_EQ(kind_of(plan_, program_, parts[p].end - 1), "matmul");
  EXPECT_EQ(parts[0].end - parts[0].first, 1u);
}

// From the calls alone: what a part writes is inside it exactly when no other part reads it and it is no output of the model.
TEST_F(Parts, HandOnWhatIsReadElsewhereAndNothingElse) {
  const std::vector<Part> parts = parts_of(program_, plan_);
  size_t inside = 0;
  for (const Part& part : parts) {
    std::set<int> written, read, read_elsewhere(program_.outputs.begin(), program_.outputs.end());
    for (size_t c = 0; c < program_.calls.size(); ++c) {
      const bool mine = part.first <= c && c < part.end;
      for (int b : program_.calls[c].inputs) (mine ? read : read_elsewhere).insert(b);
      if (mine) written.insert(program_.calls[c].outputs.begin(), program_.calls[c].outputs.end());
    }
    for (int b : written) {
      EXPECT_EQ(std::count(part.outputs.begin(), part.outputs.end(), b) == 1, read_elsewhere.count(b) == 1) << program_.buffers[static_cast<size_t>(b)].name;
      inside += !read_elsewhere.count(b);
    }
    for (int b : read) EXPECT_EQ(std::count(part.inputs.begin(), part.inputs.end(), b), !written.count(b)) << b;
    for (int b : part.inputs) EXPECT_TRUE(read.count(b) && !written.count(b));
    for (int b : part.outputs) EXPECT_TRUE(written.count(b));
  }
  EXPECT_EQ(inside, 2u);  // of Neg and of Add
}

TEST_F(Parts, AreNamedAfterTheirFirstAndLastKernel) {
  const std::vector<CxxKernel> kernels = {{"k000_matmul.cpp", "", "", {}, false}, {"k001_pointwise.cpp", "", "", {}, false}};
  Program two;
  two.calls = {{0, 0, {}, {}}, {1, 1, {}, {}}};
  EXPECT_EQ(name_of_part({0, 2, {}, {}}, 7, two, kernels), "part007_k000_matmul_to_k001_pointwise");
  EXPECT_EQ(name_of_part({1, 2, {}, {}}, 8, two, kernels), "part008_k001_pointwise");
}

}  // namespace
}  // namespace amdahl

// Keys and values that attention reads where they were before they were put together from two pieces.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>

#include "graph/models/load_model.h"
#include "playbook/playbook.h"
#include "starter_kernels/cpu/cpu_target.h"
#include "starter_kernels/examples/example_graph.h"
#include "starter_kernels/kinds/attention.h"
#include "starter_kernels/kinds/kind_names.h"
#include "tests/plan/kernel_bench.h"
#include "tests/starter_kernels/absent_card.h"

namespace amdahl {
namespace {

// The rewrites wherever they match, one after the other. *refusal: the last one of the last rewrite.
Plan rewritten(const Graph& graph, Plan plan, const Target& target, std::initializer_list<std::string_view> names, std::string* refusal = nullptr) {
  const Uses uses = uses_of(graph);
  const std::vector<ValueId> storage = storage_of(graph);
  for (std::string_view name : names)
    for (bool again = true; again;) {
      again = false;
      const RewriteContext context = RewriteContext::of(graph, plan, target, uses, storage);
      for (size_t s = 0; s < plan.steps.size() && !again; ++s)
        if (const auto match = find_rewrite(name)->match(context, static_cast<int>(s), refusal)) {
          plan = replace(graph, plan, match->window, match->replacement);
          EXPECT_EQ(check(graph, plan), "") << name;
          again = true;
        }
    }
  return plan;
}

int count_copies(const Graph& graph, const Plan& plan, std::string_view op) {
  return static_cast<int>(std::count_if(plan.steps.begin(), plan.steps.end(), [&](const Step& s) {
    return s.variant.problem.kind == kind::kMovement && std::any_of(s.nodes.begin(), s.nodes.end(), [&](NodeId n) { return graph.node(n).op == op; });
  }));
}

std::vector<Step> attention_of(const Plan& plan) {
  std::vector<Step> steps;
  std::copy_if(plan.steps.begin(), plan.steps.end(), std::back_inserter(steps), [](const Step& s) { return s.variant.problem.kind == kind::kAttention; });
  return steps;
}

void expect_right(const Graph& graph, const Plan& plan) {
  const testing::Judgement j = testing::judge(graph, plan, 5);
  EXPECT_TRUE(j.within) << graph.name << ": " << j.reason;
}

class DecodeSteps : public ::testing::TestWithParam<const char*> {};

TEST_P(DecodeSteps, LoseTheirConcatenations) {
  const Graph graph = load_model(GetParam(), {});
  for (const Target& target : {cpu_target(), testing::hopper()}) {
    const Plan apart = rewritten(graph, starter_plan(graph, 2, target), target, {"fuse_rope", "fuse_attention"});
    EXPECT_EQ(count_copies(graph, apart, "Concat"), 4) << "keys and values of two layers";
    const Plan plan = rewritten(graph, apart, target, {"read_pieces"});
    EXPECT_EQ(count_copies(graph, plan, "Concat"), 0);
    EXPECT_EQ(plan.steps.size() + 4, apart.steps.size());
    const std::vector<Step> attention = attention_of(plan), before = attention_of(apart);
    ASSERT_EQ(attention.size(), 2u);
    for (size_t i = 0; i < 2; ++i) {
      const Problem &problem = attention[i].variant.problem, &together = before[i].variant.problem;
      EXPECT_EQ(problem.in[1].shape, (Shape{1, 4, 15, 16}));
      EXPECT_EQ(problem.in[3].shape, (Shape{1, 4, 1, 16}));
      EXPECT_EQ(AttentionSizes(problem).keys, AttentionSizes(together).keys);
      const Work work = kernel_kind(kind::kAttention).work(problem), of_together = kernel_kind(kind::kAttention).work(together);
      EXPECT_EQ(work.flops, of_together.flops);
      EXPECT_EQ(work.bytes, of_together.bytes);
    }
    if (target.backend == "cpu") expect_right(graph, plan);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, DecodeSteps, ::testing::Values("builtin:gpt2-decode-mini", "builtin:llama-decode-mini", "builtin:gpt2-decode-mini@fp16"),
                         [](const auto& info) { return fmt::format("{}", info.index); });

TEST(ReadPieces, NewKeysAreReadWhereTheirProductLeftThem) {
  const Graph graph = load_model("builtin:gpt2-decode-mini", {});
  for (const Target& target : {cpu_target(), testing::hopper()}) {
    const Plan plan = rewritten(graph, starter_plan(graph, 2, target), target, {"fuse_attention", "read_pieces", "absorb_movement"});
    for (const Step& step : attention_of(plan))
      for (size_t i : {3, 4}) {
        EXPECT_EQ(step.inputs[i], step.inputs[0]);
        EXPECT_EQ(step.variant.problem.in[i].offset, static_cast<int64_t>(64 * (i - 2)));
      }
    if (target.backend == "cpu") expect_right(graph, plan);
  }
}

TEST(ReadPieces, HalvesStayOnTensorCores) {
  const Graph graph = load_model("builtin:gpt2-decode@fp16", {});
  const Target target = testing::hopper();
  const std::vector<Step> before = attention_of(rewritten(graph, starter_plan(graph, 1, target), target, {"fuse_attention"}));
  const std::vector<Step> after = attention_of(rewritten(graph, starter_plan(graph, 1, target), target, {"fuse_attention", "read_pieces"}));
  ASSERT_EQ(after.size(), 12u);
  EXPECT_EQ(after[0].variant.knobs.at("FORM"), 1);
  EXPECT_EQ(after[0].variant.knobs, before[0].variant.knobs);
  EXPECT_TRUE(AttentionParams::of(after[0].variant.problem).appended);
}

using Together = std::function<ValueId(ExampleGraph&, ValueId earlier, ValueId own)>;

ValueId concat(ExampleGraph& g, std::vector<ValueId> pieces, int64_t axis) { return g.node("Concat", std::move(pieces), {{"axis", axis}}); }
ValueId along_keys(ExampleGraph& g, ValueId earlier, ValueId own) { return concat(g, {earlier, own}, 2); }

// One query of two heads to five keys; `outputs` of keys and values: they leave the model too.
Graph step_of(const Together& keys, const Together& values, bool outputs = false) {
  ExampleGraph g("one query", 23);
  const ValueId q = g.input({1, 2, 1, 8}), k = keys(g, g.input({1, 2, 4, 8}), g.input({1, 2, 1, 8}));
  const ValueId v = values(g, g.input({1, 2, 4, 8}), g.input({1, 2, 1, 8}));
  const ValueId y = g.node("Attention", {q, k, v});
  return g.finish(outputs ? std::vector<ValueId>{y, k, v} : std::vector<ValueId>{y});
}

// "" or why the attention of the graph's first plan is not offered to read pieces.
std::string refusal_of(const Graph& graph) {
  std::string refusal;
  const Plan starter = starter_plan(graph, 1, cpu_target());
  const Plan plan = rewritten(graph, starter, cpu_target(), {"read_pieces"}, &refusal);
  return plan.steps.size() == starter.steps.size() ? refusal : "";
}

TEST(ReadPieces, OnlyWhatIsPutTogetherAlongTheKeysForAttentionAlone) {
  EXPECT_EQ(refusal_of(step_of(along_keys, along_keys)), "");
  EXPECT_EQ(refusal_of(step_of(along_keys, along_keys, true)), "the copy is a result of the model");
  const auto three = [](ExampleGraph& g, ValueId earlier, ValueId own) { return concat(g, {earlier, own, own}, 2); };
  EXPECT_EQ(refusal_of(step_of(three, three)), "for what was put together from two pieces");
  const auto alone = [](ExampleGraph&, ValueId earlier, ValueId) { return earlier; };
  EXPECT_EQ(refusal_of(step_of(alone, alone)), "keys or values are no copy");
  const auto computed = [](ExampleGraph& g, ValueId earlier, ValueId own) { return g.node("Relu", {along_keys(g, earlier, own)}); };
  EXPECT_EQ(refusal_of(step_of(along_keys, computed)), "keys or values are no copy");
  const auto own_first = [](ExampleGraph& g, ValueId earlier, ValueId own) { return concat(g, {own, earlier}, 2); };
  EXPECT_EQ(refusal_of(step_of(along_keys, own_first)), "keys end where values do not");
  const auto along_heads = [](ExampleGraph& g, ValueId earlier, ValueId) {
    return concat(g, {g.node("Slice", {earlier, g.ints({1}, {0}), g.ints({1}, {1}), g.ints({1}, {1}), g.ints({1}, {1})}), g.input({1, 1, 4, 8})}, 1);
  };
  EXPECT_EQ(refusal_of(step_of(along_heads, along_heads)), "the pieces do not meet between two keys");
}

TEST(ReadPieces, WhatOthersReadTooIsCopiedAnyway) {
  ExampleGraph g("keys are their own queries", 23);
  const ValueId k = along_keys(g, g.input({1, 2, 4, 8}), g.input({1, 2, 1, 8})), v = along_keys(g, g.input({1, 2, 4, 8}), g.input({1, 2, 1, 8}));
  EXPECT_EQ(refusal_of(g.finish({g.node("Attention", {k, k, v})})), "the copy is read elsewhere too");
}

TEST(ReadPieces, KeysThatAreTheirValues) {
  ExampleGraph g("keys are values", 23);
  const ValueId q = g.input({1, 2, 3, 8}), k = along_keys(g, g.input({1, 2, 4, 8}), g.input({1, 2, 3, 8}));
  const Graph graph = g.finish({g.node("Attention", {q, k, k})});
  const Plan plan = rewritten(graph, starter_plan(graph, 2, cpu_target()), cpu_target(), {"read_pieces"});
  EXPECT_EQ(plan.steps.size(), 1u);
  expect_right(graph, plan);
}

// Keys as columns, put together along the last axis; a mask behind them.
TEST(ReadPieces, KeysThatLieTransposed) {
  ExampleGraph g("columns");
  const ValueId q = g.input({2, 3, 2, 8}), kt = concat(g, {g.input({2, 3, 8, 7}), g.input({2, 3, 8, 2})}, 3);
  const ValueId v = along_keys(g, g.input({2, 3, 7, 5}), g.input({2, 3, 2, 5}));
  const ValueId scores = g.node("Add", {g.node("MatMul", {q, kt}), g.input({2, 1, 1, 9})});
  const Graph graph = g.finish({g.node("MatMul", {g.node("Softmax", {scores}, {{"axis", int64_t{-1}}}), v})});
  const Plan plan = rewritten(graph, starter_plan(graph, 2, cpu_target()), cpu_target(), {"fuse_attention", "read_pieces"});
  ASSERT_EQ(plan.steps.size(), 1u);
  EXPECT_EQ(plan.steps[0].inputs.size(), 6u);
  expect_right(graph, plan);
}

}  // namespace
}  // namespace amdahl

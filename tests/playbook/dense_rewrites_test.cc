// The rewrites of the dense kinds on small graphs in the forms that exporters write: they match, the plan stays whole, and
// what they make is judged by the oracle.

#include <gtest/gtest.h>

#include <limits>

#include "graph/models/load_model.h"
#include "playbook/playbook.h"
#include "playbook/tuned_donor.h"
#include "starter_kernels/cpu/cpu_target.h"
#include "starter_kernels/examples/example_graph.h"
#include "starter_kernels/kinds/attention.h"
#include "tests/plan/kernel_bench.h"

namespace amdahl {
namespace {

constexpr double kLowest = std::numeric_limits<float>::lowest();

struct Applied {
  Plan plan;
  int times = 0;
  std::string refusal;  // the last one
};

// The rewrite wherever it matches, until it matches no more.
Applied apply(const Graph& graph, Plan plan, std::string_view name) {
  const Rewrite* rewrite = find_rewrite(name);
  if (!rewrite) throw std::runtime_error("no rewrite " + std::string(name));
  Applied result{std::move(plan)};
  const Uses uses = uses_of(graph);
  const std::vector<ValueId> storage = storage_of(graph);
  for (bool again = true; again && result.times < 20;) {
    again = false;
    const RewriteContext context = RewriteContext::of(graph, result.plan, cpu_target(), uses, storage);
    for (size_t s = 0; s < result.plan.steps.size() && !again; ++s)
      if (const auto match = rewrite->match(context, static_cast<int>(s), &result.refusal)) {
        result.plan = replace(graph, result.plan, match->window, match->replacement);
        EXPECT_EQ(check(graph, result.plan), "") << name;
        ++result.times;
        again = true;
      }
  }
  return result;
}

int count_kind(const Plan& plan, std::string_view kind) {
  return static_cast<int>(std::count_if(plan.steps.begin(), plan.steps.end(), [&](const Step& s) { return s.variant.problem.kind == kind; }));
}

void expect_right(const Graph& graph, const Plan& plan) {
  const testing::Judgement j = testing::judge(graph, plan, 5);
  EXPECT_TRUE(j.within) << graph.name << ": " << j.reason;
}

// ---- attention in the forms of exporters -----------------------------------------------------------------------------

using Ints = std::vector<int64_t>;
constexpr int64_t kSeq = 19, kHeads = 3, kHead = 8, kWidth = kHeads * kHead;

ValueId list(ExampleGraph& g, const Ints& v) { return g.ints({static_cast<int64_t>(v.size())}, v); }
ValueId scalar(ExampleGraph& g, double v) { return g.floats({}, {v}); }

// [1, seq, width] -> [1, heads, seq, head], then `perm` of it.
ValueId heads_of(ExampleGraph& g, ValueId x, const Ints& perm) {
  return g.node("Transpose", {g.node("Reshape", {x, list(g, {1, kSeq, kHeads, kHead})})}, {{"perm", perm}});
}
ValueId rows_of(ExampleGraph& g, ValueId y) { return g.node("Reshape", {g.node("Transpose", {y}, {{"perm", Ints{0, 2, 1, 3}}}), list(g, {1, kSeq, kWidth})}); }
std::vector<double> lower_triangle(double visible, double hidden) {
  std::vector<double> mask;
  for (int64_t i = 0; i < kSeq; ++i)
    for (int64_t j = 0; j < kSeq; ++j) mask.push_back(j <= i ? visible : hidden);
  return mask;
}

Graph gpt2_form() {
  ExampleGraph g("gpt2 form");
  const ValueId x = g.input({1, kSeq, 3 * kWidth});
  const ValueId q = g.node("Split", {x, list(g, {kWidth, kWidth, kWidth})}, {{"axis", int64_t{2}}}, 3);
  const ValueId k = g.output_of_last(1), v = g.output_of_last(2);
  const ValueId scores = g.node("Div", {g.node("MatMul", {heads_of(g, q, {0, 2, 1, 3}), heads_of(g, k, {0, 2, 3, 1})}), scalar(g, 3.0)});
  Ints visible;
  for (double m : lower_triangle(1, 0)) visible.push_back(static_cast<int64_t>(m));
  const ValueId mask = g.ints({1, 1, kSeq, kSeq}, visible, DType::kBool);
  const ValueId weights = g.node("Softmax", {g.node("Where", {mask, scores, scalar(g, kLowest)})}, {{"axis", int64_t{-1}}});
  return g.finish({rows_of(g, g.node("MatMul", {weights, heads_of(g, v, {0, 2, 1, 3})}))});
}

Graph bert_form() {
  ExampleGraph g("bert form");
  const ValueId q = g.input({1, kSeq, kWidth}), k = g.input({1, kSeq, kWidth}), v = g.input({1, kSeq, kWidth}), mask = g.input({1, 1, 1, kSeq});
  const ValueId scores = g.node("Div", {g.node("MatMul", {heads_of(g, q, {0, 2, 1, 3}), heads_of(g, k, {0, 2, 3, 1})}), scalar(g, 2.5)});
  const ValueId weights = g.node("Softmax", {g.node("Add", {scores, mask})}, {{"axis", int64_t{-1}}});
  return g.finish({rows_of(g, g.node("MatMul", {weights, heads_of(g, v, {0, 2, 1, 3})}))});
}

Graph llama_form() {
  ExampleGraph g("llama form");
  const Shape heads{1, kHeads, kSeq, kHead};
  const ValueId q = g.input(heads), k = g.input(heads), v = g.input({1, kSeq, kWidth});
  const ValueId product = g.node("MatMul", {q, g.node("Transpose", {k}, {{"perm", Ints{0, 1, 3, 2}}})});
  const ValueId scores = g.node("Mul", {product, scalar(g, 0.3)});
  const ValueId mask = g.floats({1, 1, kSeq, kSeq}, lower_triangle(0, kLowest));
  const ValueId weights = g.node("Softmax", {g.node("Add", {scores, mask})}, {{"axis", int64_t{-1}}});
  return g.finish({rows_of(g, g.node("MatMul", {weights, heads_of(g, v, {0, 2, 1, 3})}))});
}

Graph vit_form() {
  ExampleGraph g("vit form");
  const ValueId x = g.input({1, kSeq, 3 * kWidth});
  const ValueId qkv = g.node("Transpose", {g.node("Reshape", {x, list(g, {1, kSeq, 3, kHeads, kHead})})}, {{"perm", Ints{2, 0, 3, 1, 4}}});
  const ValueId q = g.node("Split", {qkv, list(g, {1, 1, 1})}, {{"axis", int64_t{0}}}, 3);
  const ValueId k = g.output_of_last(1), v = g.output_of_last(2);
  const auto squeeze = [&](ValueId part) { return g.node("Squeeze", {part, list(g, {0})}); };
  const ValueId scaled = g.node("Mul", {squeeze(q), scalar(g, 0.35)});
  const ValueId scores = g.node("MatMul", {scaled, g.node("Transpose", {squeeze(k)}, {{"perm", Ints{0, 1, 3, 2}}})});
  const ValueId weights = g.node("Softmax", {scores}, {{"axis", int64_t{-1}}});
  return g.finish({rows_of(g, g.node("MatMul", {weights, squeeze(v)}))});
}

// Scales on both operands and a guard against rows that see nothing, as torch.export writes it.
Graph sdpa_form() {
  ExampleGraph g("sdpa form");
  const Shape heads{1, kHeads, kSeq, kHead};
  const ValueId q = g.input(heads), k = g.input(heads), v = g.input(heads);
  const ValueId kt = g.node("Transpose", {k}, {{"perm", Ints{0, 1, 3, 2}}});
  const ValueId scores = g.node("MatMul", {g.node("Mul", {q, scalar(g, 0.6)}), g.node("Mul", {kt, scalar(g, 0.6)})});
  std::vector<double> mask = lower_triangle(0, -std::numeric_limits<double>::infinity());
  for (int64_t j = 0; j < kSeq; ++j) mask[static_cast<size_t>(4 * kSeq + j)] = -std::numeric_limits<double>::infinity();
  const ValueId masked = g.node("Add", {scores, g.floats({kSeq, kSeq}, mask)});
  const ValueId weights = g.node("Softmax", {masked}, {{"axis", int64_t{-1}}});
  const ValueId guarded = g.node("Where", {g.node("IsNaN", {weights}), scalar(g, 0), weights});
  return g.finish({g.node("MatMul", {guarded, v})});
}

class AttentionForms : public ::testing::TestWithParam<Graph (*)()> {};

TEST_P(AttentionForms, BecomeOneKernel) {
  const Graph graph = GetParam()();
  const Applied fused = apply(graph, starter_plan(graph, 2, cpu_target()), "fuse_attention");
  EXPECT_EQ(fused.times, 1) << graph.name << ": " << fused.refusal;
  EXPECT_EQ(fused.plan.steps.size(), 1u) << graph.name;
  EXPECT_EQ(count_kind(fused.plan, "attention"), 1);
  expect_right(graph, fused.plan);
  for (const char* name : {"skip_causal_tiles", "use_online_softmax", "use_avx512"})
    if (const Applied more = apply(graph, fused.plan, name); more.times) expect_right(graph, more.plan);
}

INSTANTIATE_TEST_SUITE_P(DenseRewrites, AttentionForms, ::testing::Values(gpt2_form, bert_form, llama_form, vit_form, sdpa_form));

TEST(FuseAttention, CausalMasksAreRecognised) {
  for (const Graph& graph : {gpt2_form(), llama_form()}) {
    const Applied fused = apply(graph, starter_plan(graph, 1, cpu_target()), "fuse_attention");
    ASSERT_EQ(fused.plan.steps.size(), 1u);
    EXPECT_TRUE(AttentionParams::of(fused.plan.steps[0].variant.problem).causal) << graph.name;
    EXPECT_EQ(fused.plan.steps[0].inputs.size(), 3u) << graph.name;
  }
  const Graph padded = bert_form();
  EXPECT_FALSE(AttentionParams::of(apply(padded, starter_plan(padded, 1, cpu_target()), "fuse_attention").plan.steps[0].variant.problem).causal);
}

TEST(FuseAttention, RefusesScoresThatAreReadElsewhere) {
  ExampleGraph g("scores are an output");
  const ValueId q = g.input({2, 5, 4}), kt = g.input({2, 4, 6}), v = g.input({2, 6, 3});
  const ValueId scores = g.node("MatMul", {q, kt}), weights = g.node("Softmax", {scores}, {{"axis", int64_t{-1}}});
  const ValueId y = g.node("MatMul", {weights, v});
  const Graph graph = g.finish({y, scores});
  const Applied fused = apply(graph, starter_plan(graph, 1, cpu_target()), "fuse_attention");
  EXPECT_EQ(fused.times, 0);
  EXPECT_NE(fused.refusal, "");
}

TEST(FuseAttention, RefusesASoftmaxOverAnotherAxis) {
  ExampleGraph g("softmax over queries");
  const ValueId q = g.input({2, 5, 4}), kt = g.input({2, 4, 6}), v = g.input({2, 6, 3});
  const ValueId weights = g.node("Softmax", {g.node("MatMul", {q, kt})}, {{"axis", int64_t{1}}});
  const Graph graph = g.finish({g.node("MatMul", {weights, v})});
  EXPECT_EQ(apply(graph, starter_plan(graph, 1, cpu_target()), "fuse_attention").times, 0);
}

TEST(AbsorbMovement, MatmulReadsTransposedSplitAndSlicedOperands) {
  ExampleGraph g("moved operands");
  const ValueId x = g.input({1, kSeq, 3 * kWidth});
  const ValueId q = g.node("Split", {x, list(g, {kWidth, kWidth, kWidth})}, {{"axis", int64_t{2}}}, 3);
  const ValueId k = g.output_of_last(1), v = g.output_of_last(2);
  const ValueId scores = g.node("MatMul", {heads_of(g, q, {0, 2, 1, 3}), heads_of(g, k, {0, 2, 3, 1})});
  const ValueId y = rows_of(g, g.node("MatMul", {scores, heads_of(g, v, {0, 2, 1, 3})}));
  const ValueId part = g.node("Slice", {y, list(g, {3}), list(g, {17}), list(g, {1}), list(g, {2})});
  const Graph graph = g.finish({g.node("MatMul", {part, g.normal({kWidth, 7}, 4)})});
  const Applied absorbed = apply(graph, starter_plan(graph, 2, cpu_target()), "absorb_movement");
  EXPECT_EQ(absorbed.plan.steps.size(), 3u);  // the products
  expect_right(graph, absorbed.plan);
}

TEST(AbsorbMovement, ACopyThatIsReadElsewhereStays) {
  ExampleGraph g("shared transpose");
  const ValueId x = g.input({6, 9});
  const ValueId t = g.node("Transpose", {x}, {{"perm", Ints{1, 0}}});
  const ValueId y = g.node("MatMul", {t, g.normal({6, 5}, 1)});
  const Graph graph = g.finish({y, t});
  const Applied absorbed = apply(graph, starter_plan(graph, 1, cpu_target()), "absorb_movement");
  EXPECT_EQ(absorbed.plan.steps.size(), 2u);
  expect_right(graph, absorbed.plan);
}

// ---- products of the same rows, which clean-up has made one of (graph/clean_up/clean_up_siblings.cc) ---------------------

Plan rewritten(const Graph& graph, std::initializer_list<std::string_view> names) {
  Plan plan = starter_plan(graph, 2, cpu_target());
  for (std::string_view name : names) plan = apply(graph, std::move(plan), name).plan;
  return plan;
}

int count_steps_of(const Graph& graph, const Plan& plan, std::string_view kind, std::string_view op) {
  return static_cast<int>(std::count_if(plan.steps.begin(), plan.steps.end(), [&](const Step& s) {
    return s.variant.problem.kind == kind && std::any_of(s.nodes.begin(), s.nodes.end(), [&](NodeId n) { return graph.node(n).op == op; });
  }));
}

TEST(SiblingProducts, AttentionReadsQueriesKeysAndValuesWhereOneProductLeftThem) {
  const Graph graph = load_model("builtin:bert-mini", {});
  const Plan plan = rewritten(graph, {"fuse_epilogue", "fuse_attention"});
  EXPECT_EQ(count_kind(plan, "attention"), 2);
  EXPECT_EQ(count_steps_of(graph, plan, "movement", "Split"), 0);
  for (const Step& s : plan.steps) {
    if (s.variant.problem.kind != "attention") continue;
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(s.inputs[i], s.inputs[0]);
      EXPECT_EQ(s.variant.problem.in[i].offset, static_cast<int64_t>(64 * i));
    }
  }
  expect_right(graph, plan);
}

TEST(SiblingProducts, RotaryPositionsAndGatedLayersAreFusedAsBefore) {
  const Graph graph = load_model("builtin:llama-mini", {});
  const Plan plan = rewritten(graph, {"fuse_rope", "fuse_attention", "fuse_pointwise_chain", "fuse_mlp"});
  EXPECT_EQ(count_kind(plan, "rotary_embedding"), 4);
  EXPECT_EQ(count_kind(plan, "attention"), 2);
  EXPECT_EQ(count_kind(plan, "fused_mlp"), 2);
  EXPECT_EQ(count_steps_of(graph, plan, "movement", "Split"), 0);
  EXPECT_EQ(count_kind(plan, "matmul"), 5);  // two a layer and the head
  expect_right(graph, plan);
}

// Without fusing anything: products and copies read the parts by strides, too.
TEST(SiblingProducts, CopiesOfPartsAreReadInPlace) {
  const Graph graph = load_model("builtin:bert-mini", {});
  const Plan plan = rewritten(graph, {"read_in_place"});
  EXPECT_EQ(count_steps_of(graph, starter_plan(graph, 2, cpu_target()), "movement", "Split"), 2);
  EXPECT_EQ(count_kind(plan, "matmul"), count_kind(starter_plan(graph, 2, cpu_target()), "matmul"));
  for (const Step& s : plan.steps) EXPECT_FALSE(s.nodes.size() == 1 && graph.node(s.nodes[0]).op == "Split");
  expect_right(graph, plan);
}

// ---- multi-layer perceptron ------------------------------------------------------------------------------------------

Graph mlp_form() {
  ExampleGraph g("mlp");
  const ValueId x = g.input({29, 20});
  const ValueId h = g.node("Gemm", {x, g.normal({20, 75}, 1), g.normal({75}, 2)});
  const ValueId y = g.node("Gemm", {g.node("Relu", {h}), g.normal({75, 33}, 3), g.normal({33}, 4)});
  return g.finish({y});
}
Graph gated_form() {
  ExampleGraph g("gated mlp");
  const ValueId x = g.input({1, 13, 24});
  const ValueId gate = g.node("MatMul", {x, g.normal({24, 70}, 1)}), up = g.node("MatMul", {x, g.normal({24, 70}, 2)});
  return g.finish({g.node("MatMul", {g.node("Mul", {gate, up}), g.normal({70, 18}, 3)})});
}

// 75 hidden columns are fewer vectors than 64 threads: some have none, and none may be divided by.
TEST(FuseMlp, CountsCyclesWhereThreadsHaveLessThanAVectorEach) {
  const Graph graph = mlp_form();
  const Applied fused = apply(graph, starter_plan(graph, 64, cpu_target()), "fuse_mlp");
  ASSERT_EQ(fused.times, 1);
  for (const Step& step : fused.plan.steps) {
    if (step.variant.problem.kind != "fused_mlp") continue;
    const SearchSpace space = cpu_target().space(step.variant.problem);
    for (const Knob& knob : space.knobs)
      for (int64_t value : knob.values) {
        Knobs knobs = space.starters();
        knobs["PARTITION"] = 2;
        knobs[knob.name] = value;
        EXPECT_GT(space.cycles(knobs), 0) << knob.name << " = " << value;
      }
  }
}

TEST(FuseMlp, TwoProductsAndAnActivationBecomeOneKernel) {
  for (const Graph& graph : {mlp_form(), gated_form()}) {
    const Applied fused = apply(graph, starter_plan(graph, 2, cpu_target()), "fuse_mlp");
    ASSERT_EQ(fused.plan.steps.size(), 1u) << graph.name << ": " << fused.refusal;
    expect_right(graph, fused.plan);
    const SearchSpace space = cpu_target().space(fused.plan.steps[0].variant.problem);
    for (const Knob& knob : space.knobs)
      for (int64_t value : knob.values)
        if (const auto varied = testing::with_knob(fused.plan, 0, knob.name, value)) {
          const testing::Judgement j = testing::judge(graph, *varied, 5);
          EXPECT_TRUE(j.within) << graph.name << " " << knob.name << "=" << value << ": " << j.reason;
        }
  }
}

TEST(FuseMlp, RefusesAHiddenLayerThatIsReadElsewhere) {
  ExampleGraph g("hidden layer is an output");
  const ValueId x = g.input({3, 8});
  const ValueId h = g.node("Relu", {g.node("MatMul", {x, g.normal({8, 9}, 1)})});
  const ValueId y = g.node("MatMul", {h, g.normal({9, 4}, 2)});
  const Graph graph = g.finish({y, h});
  const Applied fused = apply(graph, starter_plan(graph, 1, cpu_target()), "fuse_mlp");
  EXPECT_EQ(fused.times, 0);
}

// ---- knob rewrites ---------------------------------------------------------------------------------------------------

TEST(KnobRewrites, OpenKnobsThatTheKindHas) {
  const Graph graph = mlp_form();
  const Plan plan = starter_plan(graph, 2, cpu_target());
  const Uses uses = uses_of(graph);
  const std::vector<ValueId> storage = storage_of(graph);
  const RewriteContext context = RewriteContext::of(graph, plan, cpu_target(), uses, storage);
  for (const Rewrite* rewrite : playbook())
    for (size_t s = 0; s < plan.steps.size(); ++s) {
      std::string refusal;
      const auto match = rewrite->match(context, static_cast<int>(s), &refusal);
      if (!match) {
        EXPECT_NE(refusal, "") << rewrite->name() << " refuses without a reason";
        continue;
      }
      EXPECT_FALSE(match->window.steps.empty()) << rewrite->name();
      for (const Match::OpenKnob& open : match->search) {
        const Variant& variant = match->replacement.at(static_cast<size_t>(open.step)).variant;
        EXPECT_TRUE(variant.knobs.count(open.name)) << rewrite->name() << " opens " << open.name;
        EXPECT_FALSE(open.values.empty()) << rewrite->name() << " opens " << open.name;
      }
    }
}

TEST(KnobRewrites, RefuseWhatIsInPlace) {
  const Graph graph = mlp_form();
  Plan plan = starter_plan(graph, 1, cpu_target());
  EXPECT_EQ(apply(graph, plan, "pack_constant_weights").times, 0);
  for (Step& step : plan.steps)
    if (step.variant.knobs.contains("PACK_B")) step.variant.knobs["PACK_B"] = 0;
  const Applied packed = apply(graph, plan, "pack_constant_weights");
  EXPECT_EQ(packed.times, 2);  // once a product, then never again
  expect_right(graph, packed.plan);
}

TEST(KnobRewrites, WhatWasFoundForOneIsOfferedToItsNeighbours) {
  const Graph graph = mlp_form();
  Plan plan = starter_plan(graph, 1, cpu_target());
  EXPECT_EQ(apply(graph, plan, "adopt_knobs").times, 0);  // nothing has been found yet
  std::vector<size_t> products;
  for (size_t s = 0; s < plan.steps.size(); ++s)
    if (plan.steps[s].variant.problem.kind == "matmul") products.push_back(s);
  ASSERT_EQ(products.size(), 2u);
  plan.steps[products[1]].variant.knobs["PACK_B"] = 1;
  plan.steps[products[1]].variant.flags = {"-funroll-loops"};
  const Applied adopted = apply(graph, plan, "adopt_knobs");
  EXPECT_GE(adopted.times, 1);  // cache blocks of one may then fit the other better: it is offered back
  EXPECT_EQ(adopted.plan.steps[products[0]].variant.knobs.at("PACK_B"), 1);
  EXPECT_EQ(adopted.plan.steps[products[0]].variant.flags, plan.steps[products[1]].variant.flags);
  expect_right(graph, adopted.plan);
}

TEST(BeginAsTuned, WhereTheSearchForTheLikeHasEnded) {
  ExampleGraph g("three products");
  const ValueId x = g.input({32, 128}), y = g.node("MatMul", {x, g.normal({128, 192}, 1)}), z = g.node("MatMul", {y, g.normal({192, 256}, 2)});
  const Graph graph = g.finish({g.node("MatMul", {z, g.normal({256, 128}, 3)})});
  const Plan starter = starter_plan(graph, 1, cpu_target());
  const Rewrite& strassen = *find_rewrite("use_strassen");
  std::vector<int> products;
  const auto match_in = [&](const Plan& plan, int step) {
    const Uses uses = uses_of(graph);
    const std::vector<ValueId> storage = storage_of(graph);
    const RewriteContext context = RewriteContext::of(graph, plan, cpu_target(), uses, storage);
    std::string refusal;
    std::optional<Match> match = strassen.match(context, step, &refusal);
    if (match) begin_as_tuned(context, *match);
    return match;
  };
  for (size_t s = 0; s < starter.steps.size(); ++s)
    if (match_in(starter, static_cast<int>(s))) products.push_back(static_cast<int>(s));
  ASSERT_GE(products.size(), 2u);
  Plan plan = starter;
  Step& tuned = plan.steps[static_cast<size_t>(products[0])];
  tuned = match_in(starter, products[0])->replacement[0];
  const Knobs starters = tuned.variant.knobs;
  EXPECT_EQ(match_in(plan, products[1])->replacement[0].variant.knobs.at("NB"), starters.at("NB")) << "it stands as it started";
  tuned.variant.knobs["NB"] = 1;
  tuned.variant.flags = {"-funroll-loops"};
  const Match as_tuned = *match_in(plan, products[1]);
  ASSERT_EQ(as_tuned.others.size(), 1u);
  EXPECT_EQ(as_tuned.others[0][0].variant.knobs, match_in(starter, products[1])->replacement[0].variant.knobs);
  const Variant next = as_tuned.replacement[0].variant;
  EXPECT_EQ(next.knobs.at("NB"), 1);
  EXPECT_EQ(next.flags, tuned.variant.flags);
  // A plain product's knobs say nothing of the declared form.
  Plan plain = starter;
  plain.steps[static_cast<size_t>(products[0])].variant.knobs["MR"] = 1;
  EXPECT_EQ(match_in(plain, products[1])->replacement[0].variant.knobs, match_in(starter, products[1])->replacement[0].variant.knobs);
}

TEST(BlockByCount, LeavesNoBlockingThatCountsLess) {
  const Graph graph = mlp_form();
  const Plan plan = starter_plan(graph, 2, cpu_target());
  const Applied blocked = apply(graph, plan, "block_by_count");
  EXPECT_EQ(blocked.times, 2);  // once a product, then never again
  expect_right(graph, blocked.plan);
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    const Variant &before = plan.steps[s].variant, &after = blocked.plan.steps[s].variant;
    if (before.problem.kind != "matmul") continue;
    const SearchSpace space = cpu_target().space(before.problem);
    EXPECT_LT(space.cycles(after.knobs), space.cycles(before.knobs));
    for (const Knob& knob : space.knobs)
      for (int64_t value : knob.values) {
        if (knob.name == "KC" && value > 2 * knob.starter) continue;  // less exact than the judge allows
        Knobs other = after.knobs;
        other[knob.name] = value;
        if (knob.name == "GEMV" || knob.name == "SPLIT_K" || !space.refuse(other).empty()) continue;  // rewrites of their own
        EXPECT_GE(space.cycles(other), space.cycles(after.knobs)) << knob.name << " " << value;
      }
  }
}

TEST(BlockByCount, SaysWhyNot) {
  const Graph graph = mlp_form();
  const Plan plan = starter_plan(graph, 1, cpu_target());
  const Uses uses = uses_of(graph);
  const std::vector<ValueId> storage = storage_of(graph);
  const RewriteContext context = RewriteContext::of(graph, plan, cpu_target(), uses, storage);
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    std::string refusal;
    const bool matches = find_rewrite("block_by_count")->match(context, static_cast<int>(s), &refusal).has_value();
    EXPECT_EQ(matches, plan.steps[s].variant.problem.kind == "matmul") << refusal;
    EXPECT_EQ(refusal, matches ? "" : "for matmul, fused_mlp, this is " + plan.steps[s].variant.problem.kind);
  }
}

}  // namespace
}  // namespace amdahl

// The rewrites of memory-bound kinds on small graphs in the forms that exporters write: they match, the plan stays whole, it has
// the steps it should have, and what it computes is judged by the oracle.

#include <gtest/gtest.h>

#include "playbook/fusion.h"
#include "playbook/playbook.h"
#include "starter_kernels/cpu/cpu_target.h"
#include "starter_kernels/examples/example_graph.h"
#include "starter_kernels/kinds/normalization.h"
#include "starter_kernels/kinds/pointwise.h"
#include "starter_kernels/kinds/rotary_embedding.h"
#include "tests/plan/kernel_bench.h"

namespace amdahl {
namespace {

using Ints = std::vector<int64_t>;

ValueId list(ExampleGraph& g, const Ints& v) { return g.ints({static_cast<int64_t>(v.size())}, v); }
ValueId scalar(ExampleGraph& g, double v) { return g.floats({}, {v}); }

// The rewrites one after another, each wherever it matches until it matches no more; `times` counts all matches.
struct Applied {
  Plan plan;
  int times = 0;
};
Applied apply(const Graph& graph, std::initializer_list<std::string_view> names) {
  Applied a{starter_plan(graph, 2, cpu_target())};
  const Uses uses = uses_of(graph);
  const std::vector<ValueId> storage = storage_of(graph);
  for (std::string_view name : names) {
    const Rewrite* rewrite = find_rewrite(name);
    if (!rewrite) throw std::runtime_error("no rewrite " + std::string(name));
    for (bool again = true; again && a.times < 50;) {
      again = false;
      const RewriteContext context = RewriteContext::of(graph, a.plan, cpu_target(), uses, storage);
      for (size_t s = 0; s < a.plan.steps.size() && !again; ++s)
        if (const auto match = rewrite->match(context, static_cast<int>(s), nullptr)) {
          a.plan = replace(graph, a.plan, match->window, match->replacement);
          EXPECT_EQ(check(graph, a.plan), "") << name;
          ++a.times;
          again = true;
        }
    }
  }
  return a;
}

std::vector<std::string> kinds(const Plan& plan) {
  std::vector<std::string> out;
  for (const Step& s : plan.steps) out.push_back(s.variant.problem.kind);
  return out;
}

void expect_right(const Graph& graph, const Plan& plan) {
  const testing::Judgement j = testing::judge(graph, plan, 5);
  EXPECT_TRUE(j.within) << graph.name << ": " << j.reason;
}

using Kinds = std::vector<std::string>;

// 12 MiB in 32 of last-level cache: whoever called the model finds them there; what the model itself reads is the gate's to judge.
TEST(UseStreamingStores, LeavesResultsOfTheModelThatTheLastLevelCacheHolds) {
  Target target = cpu_target();
  target.device.l2_bytes = 1 << 20;
  const auto refusal_of = [&](const Graph& graph, int64_t l3_bytes, bool out_of_cache = false) {
    target.device.l3_bytes = l3_bytes;
    std::string refusal;
    const Plan plan = starter_plan(graph, 2, cpu_target());
    const Uses uses = uses_of(graph);
    const std::vector<ValueId> storage = storage_of(graph);
    RewriteContext context = RewriteContext::of(graph, plan, target, uses, storage);
    if (out_of_cache) context.out_of_cache = {plan.steps[0].outputs[0]};
    return find_rewrite("use_streaming_stores")->match(context, 0, &refusal) ? "" : refusal;
  };
  ExampleGraph alone("alone"), inside("inside");
  const Graph result = alone.finish({alone.node("Exp", {alone.input({1024, 3072})})});
  const ValueId hidden = inside.node("Exp", {inside.input({1024, 3072})});
  const Graph read = inside.finish({inside.node("Softmax", {hidden}, {{"axis", int64_t{-1}}})});
  EXPECT_EQ(refusal_of(result, 32 << 20), "the result of 12288 KiB stays in a cache");
  EXPECT_EQ(refusal_of(result, 16 << 20), "");
  EXPECT_EQ(refusal_of(result, 32 << 20, /*out_of_cache=*/true), "");
  EXPECT_EQ(refusal_of(read, 32 << 20), "");
}

// ---- carry_over --------------------------------------------------------------------------------------------------------

TEST(CarryOver, FollowsATransposeInTheCommonTensor) {
  // The tensor is seen as [3, 4] by B and transposed as [4, 3] by A; B's other operand is a row bias.
  const Access view = Access::dense(DType::kF32, {3, 4}), bias{DType::kF32, {3, 4}, {0, 1}};
  const Access target{DType::kF32, {4, 3}, {1, 4}};
  const auto carried = carry_over(view, bias, target);
  ASSERT_TRUE(carried);
  EXPECT_EQ(carried->strides, (Shape{1, 0}));
}

TEST(CarryOver, DividesDimensionsWhereTheViewDiffers) {
  // B sees [2, 5, 12], A sees the same memory as [10, 12]; a bias over the last dimension.
  const Access view = Access::dense(DType::kF32, {2, 5, 12}), bias{DType::kF32, {2, 5, 12}, {0, 0, 1}};
  const auto carried = carry_over(view, bias, Access::dense(DType::kF32, {10, 12}));
  ASSERT_TRUE(carried);
  EXPECT_EQ(carried->strides, (Shape{0, 1}));
}

TEST(CarryOver, RefusesWhatNoStridesExpress) {
  // Over [10, 12] an operand that changes with the second of [2, 5] only would need i % 5.
  const Access view = Access::dense(DType::kF32, {2, 5, 12}), inner{DType::kF32, {2, 5, 12}, {0, 1, 0}};
  EXPECT_FALSE(carry_over(view, inner, Access::dense(DType::kF32, {10, 12})));
  // A view that shows elements twice.
  const Access twice{DType::kF32, {2, 5}, {0, 1}};
  EXPECT_FALSE(carry_over(twice, twice, Access::dense(DType::kF32, {5})));
}

// ---- pointwise chains --------------------------------------------------------------------------------------------------

ValueId gelu_tanh(ExampleGraph& g, ValueId x) {
  const ValueId cubic = g.node("Mul", {g.node("Pow", {x, scalar(g, 3)}), scalar(g, 0.044715f)});
  const ValueId inner = g.node("Mul", {g.node("Add", {x, cubic}), scalar(g, 0.7978845608028654f)});
  return g.node("Mul", {g.node("Mul", {x, scalar(g, 0.5)}), g.node("Add", {g.node("Tanh", {inner}), scalar(g, 1)})});
}
ValueId gelu_erf(ExampleGraph& g, ValueId x) {
  const ValueId curve = g.node("Add", {g.node("Erf", {g.node("Div", {x, scalar(g, 1.4142135623730951f)})}), scalar(g, 1)});
  return g.node("Mul", {g.node("Mul", {x, curve}), scalar(g, 0.5)});
}

std::string program_text(const PointwiseProgram& program) { return Json(program).dump(); }

TEST(FusePointwiseChain, TakesAWholeDiamondAtOnce) {
  ExampleGraph g("gelu");
  const Graph graph = g.finish({gelu_tanh(g, g.input({5, 33}))});
  const Applied a = apply(graph, {"fuse_pointwise_chain"});
  EXPECT_EQ(kinds(a.plan), Kinds{"pointwise"});
  EXPECT_EQ(a.times, 1);
  EXPECT_EQ(a.plan.steps[0].inputs.size(), 1u) << "the input is read once";
  expect_right(graph, a.plan);
}

TEST(FuseGelu, RecognisesTheFormsOfExporters) {
  for (const char* form : {"gelu_tanh_product", "gelu_product"}) {
    ExampleGraph g(form);
    const ValueId x = g.input({5, 33});
    const ValueId y = form == std::string("gelu_tanh_product") ? gelu_tanh(g, x) : gelu_erf(g, x);
    const Graph graph = g.finish({y});
    const Applied a = apply(graph, {"fuse_pointwise_chain", "fuse_gelu"});
    EXPECT_NE(program_text(PointwiseParams::of(a.plan.steps[0].variant.problem).program).find(std::string("\"") + form + "\""), std::string::npos) << form;
    expect_right(graph, a.plan);
  }
}

// As half floats round them, GELU's numbers are others: those that stand there are kept.
TEST(FuseGelu, KeepsNumbersThatAreNotItsOwn) {
  ExampleGraph g("half precision");
  const auto number = [&](double x) { return g.floats({}, {x}, DType::kF16); };
  const ValueId x = g.input(DType::kF16, {5, 33}), cubic = g.node("Mul", {g.node("Mul", {g.node("Mul", {x, x}), x}), number(0.044715)});
  const ValueId inner = g.node("Mul", {g.node("Add", {x, cubic}), number(0.7978845608028654)});
  const ValueId y = g.node("Mul", {g.node("Mul", {x, number(0.5)}), g.node("Add", {g.node("Tanh", {inner}), number(1)})});
  const Graph graph = g.finish({g.node("Add", {y, g.input(DType::kF16, {33})})});
  const Applied a = apply(graph, {"fuse_pointwise_chain", "fuse_gelu"});
  EXPECT_EQ(kinds(a.plan), Kinds{"pointwise"});
  const std::string program = program_text(PointwiseParams::of(a.plan.steps[0].variant.problem).program);
  EXPECT_NE(program.find("sigmoid"), std::string::npos) << program;
  EXPECT_EQ(program.find("tanh"), std::string::npos) << program;
  EXPECT_EQ(a.times, 2);
  expect_right(graph, a.plan);
}

TEST(FuseGelu, KeepsARootOfTwoThatIsNotItsOwn) {
  ExampleGraph g("half precision");
  const auto number = [&](double x) { return g.floats({}, {x}, DType::kF16); };
  const ValueId x = g.input(DType::kF16, {5, 33}), curve = g.node("Add", {g.node("Erf", {g.node("Div", {x, number(1.4140625)})}), number(1)});
  const Graph graph = g.finish({g.node("Mul", {g.node("Mul", {x, curve}), number(0.5)})});
  const Applied a = apply(graph, {"fuse_pointwise_chain", "fuse_gelu"});
  const std::string program = program_text(PointwiseParams::of(a.plan.steps[0].variant.problem).program);
  EXPECT_NE(program.find("gelu_product"), std::string::npos) << program;
  EXPECT_EQ(program.find("erf"), std::string::npos) << program;
  EXPECT_EQ(a.times, 2);
  expect_right(graph, a.plan);
}

TEST(FusePointwiseChain, ClosesSiluEitherWayRound) {
  for (const bool gate_first : {false, true}) {
    ExampleGraph g("silu");
    const ValueId x = g.input({5, 33}), gate = g.node("Sigmoid", {x});
    const Graph graph = g.finish({g.node("Mul", gate_first ? std::vector{gate, x} : std::vector{x, gate})});
    const Applied a = apply(graph, {"fuse_pointwise_chain"});
    ASSERT_EQ(a.plan.steps.size(), 1u);
    const auto program = PointwiseParams::of(a.plan.steps[0].variant.problem).program;
    ASSERT_EQ(program.ops.size(), 1u) << program_text(program);
    EXPECT_EQ(program.ops[0].op, "swish_product");
    expect_right(graph, a.plan);
  }
}

TEST(FusePointwiseChain, KeepsAGateOfAnotherValue) {
  ExampleGraph g("gated");
  const ValueId x = g.input({5, 33}), y = g.input({5, 33});
  const Graph graph = g.finish({g.node("Mul", {x, g.node("Sigmoid", {y})})});
  const Applied a = apply(graph, {"fuse_pointwise_chain"});
  ASSERT_EQ(a.plan.steps.size(), 1u);
  EXPECT_EQ(program_text(PointwiseParams::of(a.plan.steps[0].variant.problem).program).find("swish"), std::string::npos);
  expect_right(graph, a.plan);
}

TEST(FusePointwiseChain, LeavesWhatOthersReadAndWhatWouldBeComputedAgain) {
  ExampleGraph g("shared");
  const ValueId x = g.input({6, 17}), row = g.input({17});
  const ValueId shared = g.node("Exp", {x}), small = g.node("Exp", {row});
  const Graph graph = g.finish({g.node("Add", {shared, small}), shared});
  const Applied a = apply(graph, {"fuse_pointwise_chain"});
  EXPECT_EQ(a.times, 0) << "a graph output and a broadcast producer stay";
}

TEST(FusePointwiseChain, ReadsBroadcastsOfItsProducersInPlace) {
  ExampleGraph g("broadcasts");
  const ValueId x = g.input({4, 5, 13}), a = g.input({5, 1}), b = g.input({4, 1, 13});
  const ValueId y = g.node("Max", {g.node("Mul", {g.node("Add", {x, a}), b}), g.node("Sub", {x, b})});
  const Graph graph = g.finish({y});
  const Applied applied = apply(graph, {"fuse_pointwise_chain"});
  EXPECT_EQ(kinds(applied.plan), Kinds{"pointwise"});
  expect_right(graph, applied.plan);
}

TEST(FusePointwiseChain, GoesThroughReshapes) {
  ExampleGraph g("reshape");
  const ValueId x = g.node("Add", {g.input({6, 20}), g.input({20})});
  const ValueId y = g.node("Mul", {g.node("Reshape", {x, list(g, {2, 3, 4, 5})}), g.input({3, 1, 1})});
  const Graph graph = g.finish({y});
  const Applied a = apply(graph, {"fuse_pointwise_chain"});
  EXPECT_EQ(a.plan.steps.size(), 1u);
  expect_right(graph, a.plan);
}

// ---- epilogues and prologues -------------------------------------------------------------------------------------------

TEST(FuseEpilogue, TakesBiasActivationAndResidualIntoAMatmul) {
  ExampleGraph g("linear");
  const ValueId x = g.input({1, 9, 24}), residual = g.input({1, 9, 40});
  const ValueId y = g.node("Add", {g.node("MatMul", {x, g.normal({24, 40}, 3)}), g.normal({40}, 4)});
  const Graph graph = g.finish({g.node("Add", {residual, gelu_tanh(g, y)})});
  const Applied a = apply(graph, {"fuse_epilogue", "fuse_gelu"});
  ASSERT_EQ(kinds(a.plan), Kinds{"matmul"});
  EXPECT_NE(program_text(epilogue_of(a.plan.steps[0].variant.problem).value()).find("gelu_tanh"), std::string::npos);
  expect_right(graph, a.plan);
}

TEST(FuseEpilogue, OffersShorterSumsWhereTuningMadeThemLongerThanTheStarters) {
  ExampleGraph g("long sums");
  const Graph graph = g.finish({g.node("Tanh", {g.node("MatMul", {g.input({8, 1024}), g.normal({1024, 32}, 3)})})});
  Plan plan = starter_plan(graph, 2, cpu_target());
  const Uses uses = uses_of(graph);
  const std::vector<ValueId> storage = storage_of(graph);
  const auto opened = [&](int64_t kc) {
    plan.steps[0].variant.knobs["KC"] = kc;
    return find_rewrite("fuse_epilogue")->match(RewriteContext::of(graph, plan, cpu_target(), uses, storage), 0, nullptr)->search;
  };
  const int64_t starter = plan.steps[0].variant.knobs.at("KC");
  ASSERT_EQ(starter, 256);
  EXPECT_TRUE(opened(starter).empty());
  const auto search = opened(1024);
  ASSERT_EQ(search.size(), 1u);
  EXPECT_EQ(search[0].name, "KC");
  EXPECT_EQ(search[0].values, (Ints{128, 192, 256, 1024}));
}

TEST(FuseEpilogue, ExtendsAnEpilogueThatIsThere) {
  ExampleGraph g("linear twice");
  const ValueId x = g.input({7, 24});
  const ValueId y = g.node("Add", {g.node("MatMul", {x, g.normal({24, 30}, 3)}), g.normal({30}, 4)});
  const ValueId z = g.node("Mul", {g.node("Relu", {y}), g.input({7, 1})});
  const Graph graph = g.finish({z});
  const Applied a = apply(graph, {"fuse_epilogue"});
  EXPECT_EQ(kinds(a.plan), Kinds{"matmul"});
  expect_right(graph, a.plan);
}

TEST(FuseEpilogue, WorksForConvolutionsNormalisationsAndReductions) {
  ExampleGraph g("epilogues");
  const ValueId c = g.node("Conv", {g.input({1, 3, 7, 8}), g.normal({5, 3, 3, 3}, 3)}, {{"pads", Ints{1, 1, 1, 1}}});
  const ValueId scaled = g.node("Relu", {g.node("Add", {g.node("Mul", {c, g.normal({5, 1, 1}, 4)}), g.input({1, 5, 7, 8})})});
  const ValueId n = g.node("LayerNormalization", {g.input({6, 20}), g.normal({20}, 5, 1)});
  const ValueId normed = g.node("Tanh", {g.node("Add", {n, g.input({6, 20})})});
  const ValueId s = g.node("ReduceMean", {g.input({6, 20}), list(g, {1})}, {{"keepdims", int64_t{0}}});
  const ValueId root = g.node("Sqrt", {g.node("Abs", {g.node("Add", {s, g.input({6})})})});
  const ValueId p = g.node("Mul", {g.node("Softmax", {g.input({4, 9})}, {{"axis", int64_t{-1}}}), g.input({4, 1})});
  const Graph graph = g.finish({scaled, normed, root, p});
  const Applied a = apply(graph, {"fuse_epilogue"});
  EXPECT_EQ(kinds(a.plan), (Kinds{"conv", "layernorm", "reduce", "softmax"}));
  expect_right(graph, a.plan);
}

TEST(FuseEpilogue, RefusesAResultThatIsReadElsewhere) {
  ExampleGraph g("read twice");
  const ValueId m = g.node("MatMul", {g.input({5, 8}), g.normal({8, 6}, 3)});
  const Graph graph = g.finish({g.node("Relu", {m}), g.node("Softmax", {m}, {{"axis", int64_t{-1}}})});
  EXPECT_EQ(apply(graph, {"fuse_epilogue"}).times, 0);
}

TEST(FusePrologue, TakesScaleAndMaskIntoASoftmax) {
  ExampleGraph g("masked softmax");
  const ValueId scores = g.input({2, 3, 7, 11}), mask = g.input({2, 1, 1, 11});
  const ValueId x = g.node("Add", {g.node("Div", {scores, scalar(g, 3)}), mask});
  const Graph graph = g.finish({g.node("Softmax", {x}, {{"axis", int64_t{-1}}})});
  const Applied a = apply(graph, {"fuse_prologue"});
  EXPECT_EQ(kinds(a.plan), Kinds{"softmax"});
  expect_right(graph, a.plan);
}

TEST(FusePrologue, TakesProducersIntoNormsAndReductions) {
  ExampleGraph g("prologues");
  const ValueId x = g.node("Mul", {g.node("Add", {g.input({6, 20}), g.input({20})}), g.input({6, 1})});
  const ValueId n = g.node("LayerNormalization", {x, g.normal({20}, 5, 1), g.normal({20}, 6)});
  const ValueId y = g.node("Exp", {g.input({3, 4, 5})});
  const ValueId s = g.node("ReduceSum", {y, list(g, {1})});
  const Graph graph = g.finish({n, s});
  const Applied a = apply(graph, {"fuse_prologue"});
  EXPECT_EQ(kinds(a.plan), (Kinds{"layernorm", "reduce"}));
  expect_right(graph, a.plan);
}

TEST(FuseResidualNorm, KeepsTheSumForItsOtherReaders) {
  for (const char* op : {"LayerNormalization", "RMSNormalization"}) {
    ExampleGraph g(op, 23);
    const ValueId sum = g.node("Add", {g.input({2, 5, 24}), g.input({2, 5, 24})});
    const ValueId n = g.node(op, {sum, g.normal({24}, 5, 1)});
    const ValueId y = g.node("MatMul", {n, g.normal({24, 24}, 6)});
    const Graph graph = g.finish({g.node("Add", {sum, y})});
    const Applied a = apply(graph, {"fuse_residual_norm", "fuse_epilogue"});
    EXPECT_EQ(a.plan.steps.size(), 2u) << op;
    expect_right(graph, a.plan);
  }
}

// ---- patterns ----------------------------------------------------------------------------------------------------------

TEST(FuseNorm, RecognisesLayerNormInPrimitives) {
  for (bool square_by_mul : {false, true}) {
    ExampleGraph g("layernorm in primitives");
    const ValueId x = g.input({2, 7, 24}), axis = list(g, {-1});
    const ValueId d = g.node("Sub", {x, g.node("ReduceMean", {x, axis})});
    const ValueId square = square_by_mul ? g.node("Mul", {d, d}) : g.node("Pow", {d, scalar(g, 2)});
    const ValueId root = g.node("Sqrt", {g.node("Add", {g.node("ReduceMean", {square, axis}), scalar(g, 1e-5)})});
    const ValueId y = g.node("Add", {g.node("Mul", {g.node("Div", {d, root}), g.normal({24}, 3, 1)}), g.normal({24}, 4)});
    const Graph graph = g.finish({y});
    const Applied a = apply(graph, {"fuse_layernorm"});
    EXPECT_EQ(kinds(a.plan), Kinds{"layernorm"});
    EXPECT_TRUE(NormalizationParams::of(a.plan.steps[0].variant.problem).shift);
    expect_right(graph, a.plan);
  }
}

TEST(FuseNorm, RecognisesRmsNormInPrimitives) {
  for (int form : {0, 1, 2}) {
    ExampleGraph g("rmsnorm in primitives");
    const ValueId x = g.input({2, 7, 24}), axis = list(g, {-1});
    const ValueId mean = g.node("ReduceMean", {g.node("Pow", {x, scalar(g, 2)}), axis});
    const ValueId root = g.node("Sqrt", {g.node("Add", {mean, scalar(g, 1e-6)})});
    const ValueId n = form == 0   ? g.node("Mul", {x, g.node("Div", {scalar(g, 1), root})})
                      : form == 1 ? g.node("Div", {x, root})
                                  : g.node("Mul", {g.node("Reciprocal", {root}), x});
    const Graph graph = g.finish({g.node("Mul", {g.normal({24}, 3, 1), n})});
    // Whatever was fused of it before.
    for (const auto& names : {std::initializer_list<std::string_view>{"fuse_rmsnorm"},
                              std::initializer_list<std::string_view>{"fuse_pointwise_chain", "fuse_prologue", "fuse_epilogue", "fuse_rmsnorm"}}) {
      const Applied a = apply(graph, names);
      EXPECT_EQ(kinds(a.plan), Kinds{"rmsnorm"}) << form;
      expect_right(graph, a.plan);
    }
  }
}

TEST(FuseRope, RecognisesTheRotationOfHalves) {
  ExampleGraph g("rope in primitives");
  const ValueId flat = g.input({1, 9, 24});
  const ValueId x = g.node("Transpose", {g.node("Reshape", {flat, list(g, {1, 9, 3, 8})})}, {{"perm", Ints{0, 2, 1, 3}}});
  const ValueId cos = g.normal({1, 1, 9, 8}, 3), sin = g.normal({1, 1, 9, 8}, 4);
  const auto slice = [&](int64_t from, int64_t to) { return g.node("Slice", {x, list(g, {from}), list(g, {to}), list(g, {3}), list(g, {1})}); };
  const ValueId turned = g.node("Concat", {g.node("Neg", {slice(4, INT64_MAX)}), slice(0, 4)}, {{"axis", int64_t{-1}}});
  const Graph graph = g.finish({g.node("Add", {g.node("Mul", {x, cos}), g.node("Mul", {turned, sin})})});
  for (const auto& names : {std::initializer_list<std::string_view>{"fuse_rope"}, std::initializer_list<std::string_view>{"fuse_pointwise_chain", "fuse_rope"},
                            std::initializer_list<std::string_view>{"read_in_place", "fuse_rope"}}) {
    const Applied a = apply(graph, names);
    EXPECT_EQ(kinds(a.plan), Kinds{"rotary_embedding"});
    expect_right(graph, a.plan);
  }
}

TEST(FuseRope, ReadsEachAngleOnceWhereTablesAreConstantAndHoldItTwice) {
  for (const bool twice : {true, false}) {
    ExampleGraph g("rope of tables");
    const ValueId x = g.input({1, 3, 9, 8});
    const auto table = [&](double first) {
      std::vector<double> rows;
      for (int i = 0; i < 9 * 8; ++i) rows.push_back(first + i / 8 + 0.1 * (i % 4));
      if (!twice) rows[13] += 1;
      return g.floats({9, 8}, rows);
    };
    const ValueId cos = table(0.25), sin = table(-0.5);
    const auto slice = [&](int64_t from, int64_t to) { return g.node("Slice", {x, list(g, {from}), list(g, {to}), list(g, {3}), list(g, {1})}); };
    const ValueId turned = g.node("Concat", {g.node("Neg", {slice(4, 8)}), slice(0, 4)}, {{"axis", int64_t{-1}}});
    const Graph graph = g.finish({g.node("Add", {g.node("Mul", {x, cos}), g.node("Mul", {turned, sin})})});
    const Applied a = apply(graph, {"fuse_rope"});
    ASSERT_EQ(kinds(a.plan), Kinds{"rotary_embedding"});
    const Problem& p = a.plan.steps[0].variant.problem;
    EXPECT_EQ(RotaryEmbeddingParams::of(p).full_cache, !twice);
    EXPECT_EQ(p.in[1].shape.back(), twice ? 4 : 8);
    expect_right(graph, a.plan);
  }
}

// ---- copies ------------------------------------------------------------------------------------------------------------

TEST(ReadInPlace, DropsTransposesAndSplits) {
  ExampleGraph g("copies");
  const ValueId x = g.input({4, 6, 10});
  const ValueId t = g.node("Transpose", {x}, {{"perm", Ints{0, 2, 1}}});
  const ValueId a = g.node("Add", {t, g.input({10, 6})});
  const ValueId first = g.node("Split", {g.input({5, 12}), list(g, {4, 8})}, {{"axis", int64_t{1}}}, 2), second = g.output_of_last(1);
  const ValueId b = g.node("Mul", {g.node("Exp", {first}), g.node("ReduceSum", {second, list(g, {1})})});
  const Graph graph = g.finish({a, b});
  const Applied applied = apply(graph, {"read_in_place"});
  const Kinds k = kinds(applied.plan);
  EXPECT_EQ(std::count(k.begin(), k.end(), "movement"), 0);
  expect_right(graph, applied.plan);
}

TEST(WriteInPlace, WritesWhereTheTransposeWould) {
  ExampleGraph g("copy behind");
  const ValueId t = g.node("Transpose", {g.node("Exp", {g.input({4, 6, 10})})}, {{"perm", Ints{2, 0, 1}}});
  const ValueId s = g.node("Transpose", {g.node("Softmax", {g.input({4, 6, 10})}, {{"axis", int64_t{-1}}})}, {{"perm", Ints{1, 0, 2}}});
  const Graph graph = g.finish({t, s});
  const Applied a = apply(graph, {"write_in_place"});
  EXPECT_EQ(kinds(a.plan), (Kinds{"pointwise", "softmax"}));
  expect_right(graph, a.plan);
}

TEST(ReadInPlace, RefusesAReaderThatNeedsItsOperandAsItIs) {
  ExampleGraph g("gather of a transpose");
  const ValueId t = g.node("Transpose", {g.input({6, 9})}, {{"perm", Ints{1, 0}}});
  const Graph graph = g.finish({g.node("Gather", {t, list(g, {2, 0})})});
  EXPECT_EQ(apply(graph, {"read_in_place"}).times, 0);
}

}  // namespace
}  // namespace amdahl

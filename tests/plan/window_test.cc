// Windows, signatures and replacement on plans whose steps are made by hand: no kernel is compiled here.

#include <gtest/gtest.h>

#include "base/error.h"
#include "plan/program.h"

namespace amdahl {
namespace {

// Two equal layers: x -> MatMul(w) -> Reshape -> Relu, twice, the second reading the first.
struct TwoLayers {
  Graph graph;
  Plan plan;
  std::vector<ValueId> product, flat, active;

  explicit TwoLayers(bool same_shape_of_mask = true) {
    ValueId x = graph.add_value("x", DType::kF32, {4, 32});
    graph.inputs = {x};
    for (int layer = 0; layer < 2; ++layer) {
      std::vector<float> weights(32 * 32);
      for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i) * 0.37f + static_cast<float>(layer);
      const ValueId w = graph.add_constant("w", Tensor::of(DType::kF32, {32, 32}, weights));
      const ValueId shape = graph.add_constant("s", Tensor::of<int64_t>(DType::kI64, {2}, {4, 32}));
      const ValueId mask = graph.add_constant("m", Tensor::of<float>(DType::kF32, {1}, {same_shape_of_mask || layer == 0 ? 0.0f : 1.0f}));
      product.push_back(graph.add_value("p", DType::kF32, {4, 32}));
      flat.push_back(graph.add_value("f", DType::kF32, {4, 32}));
      active.push_back(graph.add_value("a", DType::kF32, {4, 32}));
      add_node("MatMul", {x, w}, product.back());
      add_node("Reshape", {product.back(), shape}, flat.back());
      add_node("Max", {flat.back(), mask}, active.back());
      const int n = static_cast<int>(graph.nodes.size());
      add_step({n - 3}, {x, w}, product.back());
      add_step({n - 1}, {product.back(), mask}, active.back());
      x = active.back();
    }
    graph.outputs = {x};
  }

  void add_node(const std::string& op, std::vector<ValueId> in, ValueId out) {
    Node node;
    node.name = op + std::to_string(graph.nodes.size());
    node.op = op;
    node.version = 17;
    node.inputs = std::move(in);
    node.outputs = {out};
    graph.nodes.push_back(node);
  }
  void add_step(std::vector<NodeId> nodes, const std::vector<ValueId>& in, ValueId out) {
    Step step;
    step.nodes = std::move(nodes);
    step.variant.problem.kind = "fake";
    for (ValueId v : in) {
      step.inputs.push_back({v, ""});
      step.variant.problem.in.push_back(Access::dense(DType::kF32, graph.value(v).shape));
    }
    step.outputs = {{out, ""}};
    step.variant.problem.out = {Access::dense(DType::kF32, graph.value(out).shape)};
    plan.steps.push_back(step);
  }
};

TEST(Window, RenamingSharesStorage) {
  const TwoLayers t;
  EXPECT_EQ(storage_of(t.graph)[static_cast<size_t>(t.flat[0])], t.product[0]);
  EXPECT_EQ(check(t.graph, t.plan), "");
}

TEST(Window, IoNamesWhatCrossesItsBorder) {
  const TwoLayers t;
  const WindowIo io = io_of(t.graph, t.plan, {{0, 1}});
  ASSERT_EQ(io.inputs.size(), 1u);
  EXPECT_EQ(io.inputs[0].value, t.graph.inputs[0]);
  ASSERT_EQ(io.outputs.size(), 1u);
  EXPECT_EQ(io.outputs[0].value, t.active[0]);
  EXPECT_EQ(io.constants.size(), 2u);
  EXPECT_EQ(io.nodes, (std::vector<NodeId>{0, 1, 2}));  // with the Reshape between
}

TEST(Window, EqualLayersShareASignature) {
  const TwoLayers t;
  EXPECT_EQ(signature(t.graph, t.plan, {{0, 1}}), signature(t.graph, t.plan, {{2, 3}}));
  EXPECT_NE(signature(t.graph, t.plan, {{0}}), signature(t.graph, t.plan, {{1}}));
}

TEST(Window, SmallConstantsAreJudgedByContent) {
  const TwoLayers t(false);
  EXPECT_NE(signature(t.graph, t.plan, {{0, 1}}), signature(t.graph, t.plan, {{2, 3}}));
}

TEST(Window, AWinIsTransferredToItsTwin) {
  const TwoLayers t;
  Step fused;
  fused.nodes = {0, 2};
  fused.inputs = {t.plan.steps[0].inputs[0], t.plan.steps[0].inputs[1], t.plan.steps[1].inputs[1]};
  fused.outputs = {t.plan.steps[1].outputs[0]};
  fused.variant.problem.kind = "fake-fused";
  fused.variant.problem.in.resize(3);
  fused.variant.problem.out.resize(1);
  const std::vector<Step> twin = transfer(t.graph, t.plan, {{0, 1}}, {{2, 3}}, {fused});
  EXPECT_EQ(twin[0].nodes, (std::vector<NodeId>{3, 5}));
  EXPECT_EQ(twin[0].outputs[0].value, t.active[1]);

  const Plan once = replace(t.graph, t.plan, {{2, 3}}, twin);
  EXPECT_EQ(check(t.graph, once), "");
  EXPECT_EQ(once.steps.size(), 3u);
  const Plan both = replace(t.graph, once, {{0, 1}}, {fused});
  EXPECT_EQ(check(t.graph, both), "");
  EXPECT_EQ(both.steps.size(), 2u);
  EXPECT_EQ(both.steps[0].outputs[0].value, t.active[0]);
}

// With its own numbers a replacement leaves the graph that it was made for.
TEST(Window, AWinIsTakenToAnotherGraph) {
  const TwoLayers here;
  TwoLayers there;
  there.graph.add_value("more", DType::kF32, {1});
  const Window first{{0, 1}}, second{{2, 3}};
  const std::vector<Step> steps{there.plan.steps[2], there.plan.steps[3]};
  const std::vector<Step> local = localized(here.graph, here.plan, first, {here.plan.steps[0], here.plan.steps[1]});
  EXPECT_TRUE(Json(placed(there.graph, there.plan, second, local)) == Json(steps));
  std::vector<Step> foreign = local;
  foreign[0].inputs[0].value = 99;
  EXPECT_THROW(placed(there.graph, there.plan, second, foreign), Error);
  EXPECT_THROW(localized(here.graph, here.plan, first, {here.plan.steps[3]}), Error);
}

TEST(Window, TransferBetweenDifferentWindowsIsRefused) {
  const TwoLayers t;
  EXPECT_THROW(transfer(t.graph, t.plan, {{0}}, {{1}}, {}), Error);
}

TEST(Window, AReplacementThatReadsItselfIsRefused) {
  const TwoLayers t;
  Step a = t.plan.steps[0], b = t.plan.steps[1];
  a.inputs[0] = b.outputs[0];
  EXPECT_THROW(replace(t.graph, t.plan, {{0, 1}}, {a, b}), Error);
}

TEST(Window, StepsThatNobodyReadsAreDropped) {
  const TwoLayers t;
  Step direct = t.plan.steps[3];
  direct.inputs[0] = {t.graph.inputs[0], ""};
  const Plan p = replace(t.graph, t.plan, {{3}}, {direct});
  EXPECT_EQ(p.steps.size(), 1u);  // layers before it are dead
}

TEST(Check, NamesAReadBeforeTheWrite) {
  TwoLayers t;
  std::swap(t.plan.steps[0], t.plan.steps[3]);
  EXPECT_NE(check(t.graph, t.plan).find("before it is written"), std::string::npos);
}

TEST(Plan, JsonRoundTrips) {
  const TwoLayers t;
  const Json j = t.plan;
  EXPECT_EQ(Json(j.get<Plan>()), j);
}

TEST(Program, WindowSeedsWeightsAndShipsStructuralConstants) {
  const TwoLayers t;
  Blob blob;
  const Window window{{0, 1}};
  const Program p = window_program(t.graph, io_of(t.graph, t.plan, window), {t.plan.steps[0], t.plan.steps[1]}, {"a", "b"}, 1, &blob);
  int seeded = 0, shipped = 0;
  for (const Program::Buffer& b : p.buffers) {
    if (b.role != Program::Role::kConstant) continue;
    (b.blob_offset >= 0 ? shipped : seeded) += 1;
    EXPECT_GT(b.deviation, 0);
  }
  EXPECT_EQ(seeded, 1);
  EXPECT_EQ(shipped, 1);
  const Json j = p;
  EXPECT_EQ(Json(j.get<Program>()), j);
}

TEST(Program, ModelPlacesEveryTemporary) {
  const TwoLayers t;
  Blob blob;
  const Program p = model_program(t.graph, t.plan, {"a", "b", "a", "b"}, &blob);
  EXPECT_EQ(p.libraries.size(), 2u);
  EXPECT_EQ(p.calls.size(), 4u);
  for (const Program::Buffer& b : p.buffers)
    if (b.role == Program::Role::kTemporary) {
      EXPECT_GE(b.arena_offset, 0);
    }
  EXPECT_GT(p.arena_bytes, 0u);
}

}  // namespace
}  // namespace amdahl

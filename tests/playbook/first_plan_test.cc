// What a session begins with on a card: what is fused before anything is measured, in models of every family.

#include "playbook/first_plan.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "graph/models/builders.h"
#include "starter_kernels/cpu/cpu_target.h"
#include "starter_kernels/kinds/kind_names.h"
#include "tests/starter_kernels/absent_card.h"

namespace amdahl {
namespace {

using testing::hopper;

Graph model(const char* name) { return build_shipped_model(name, {}).value(); }

std::map<std::string, int> kinds_of(const Plan& plan) {
  std::map<std::string, int> count;
  for (const Step& s : plan.steps) ++count[std::string(s.variant.problem.kind)];
  return count;
}

// All nodes (what only moves numbers may be in several steps), by steps that the target computes as they stand.
void expect_whole(const Graph& graph, const Plan& plan, const Target& target) {
  EXPECT_EQ(check(graph, plan), "");
  std::set<NodeId> nodes, once;
  for (const Step& s : starter_plan(graph, 1, target).steps) once.insert(s.nodes.begin(), s.nodes.end());
  for (const Step& s : plan.steps) {
    nodes.insert(s.nodes.begin(), s.nodes.end());
    const SearchSpace space = target.space(s.variant.problem);
    EXPECT_EQ(space.refuse ? space.refuse(s.variant.knobs) : "", "") << s.variant.problem.canonical();
  }
  EXPECT_EQ(nodes, once);
}

TEST(FirstPlan, OfATransformerHasSevenStepsALayerOnACard) {
  const Graph graph = model("gpt2-mini@fp16");
  const Plan plan = first_plan(graph, 1, hopper());
  expect_whole(graph, plan, hopper());
  std::map<std::string, int> kinds = kinds_of(plan);
  constexpr int kLayers = 2;
  EXPECT_EQ(kinds["attention"], kLayers);
  EXPECT_EQ(kinds["layernorm"], 2 * kLayers + 1);
  EXPECT_EQ(kinds["matmul"], 4 * kLayers + 1);
  EXPECT_EQ(kinds["softmax"], 0);
  EXPECT_EQ(kinds["pointwise"], 1) << "words and places are added";
}

// Activations written out in primitive operators are closed, also where half floats round their numbers.
TEST(FirstPlan, HasActivationsInClosedForm) {
  for (const char* name : {"gpt2-mini@fp16", "bert-mini@fp16", "vit-mini@bf16", "vit-mini"})
    for (const Step& s : first_plan(model(name), 1, hopper()).steps) {
      const std::string problem = Json(s.variant.problem).dump();
      EXPECT_EQ(problem.find("\"erf\""), std::string::npos) << name;
      if (s.variant.problem.kind == kind::kMatmul && s.nodes.size() > 4) EXPECT_EQ(problem.find("\"tanh\""), std::string::npos) << name;
    }
}

// fuse_rmsnorm() matches what it has made: the plan ends all the same.
TEST(FirstPlan, OfAGatedTransformerHasNormsAndRotationsOfOneStep) {
  const Graph graph = model("llama-mini@fp16");
  const Plan plan = first_plan(graph, 1, hopper());
  expect_whole(graph, plan, hopper());
  std::map<std::string, int> kinds = kinds_of(plan);
  constexpr int kLayers = 2;
  EXPECT_EQ(kinds["attention"], kLayers);
  EXPECT_EQ(kinds["rmsnorm"], 2 * kLayers + 1);
  EXPECT_EQ(kinds["rotary_embedding"], 2 * kLayers);
  EXPECT_EQ(kinds["reduce"], 0);
  EXPECT_EQ(kinds["pointwise"], 0);
}

// Keys and values of earlier tokens are read where they lie.
TEST(FirstPlan, OfAStepBehindOthersCopiesNoKeys) {
  for (const char* name : {"gpt2-decode-mini@fp16", "llama-decode-mini@fp16"}) {
    const Graph graph = model(name);
    const Plan plan = first_plan(graph, 1, hopper());
    expect_whole(graph, plan, hopper());
    for (const Step& s : plan.steps) {
      if (s.variant.problem.kind == kind::kMovement) EXPECT_NE(s.variant.problem.out[0].shape, (Shape{1, 2, 16, 32})) << name;
      if (s.variant.problem.kind == kind::kAttention) EXPECT_EQ(s.variant.problem.in.size(), 5u) << name;
    }
  }
}

TEST(FirstPlan, OfAConvolutionalNetworkHasPointwiseStepsInEpilogues) {
  for (const char* name : {"resnet50-mini@fp16", "resnet50-mini"}) {
    const Graph graph = model(name);
    const Plan plan = first_plan(graph, 1, hopper());
    expect_whole(graph, plan, hopper());
    EXPECT_EQ(kinds_of(plan)["pointwise"], 0) << name;
  }
}

TEST(FirstPlan, IsAKernelANodeOnAProcessor) {
  const Graph graph = model("gpt2-mini");
  EXPECT_EQ(first_plan(graph, 1, cpu_target()).steps.size(), starter_plan(graph, 1, cpu_target()).steps.size());
}

}  // namespace
}  // namespace amdahl

// Every kind that an NVIDIA card computes, every example, every value of every knob: compiled, run on the card, judged by the float64 oracle with
// bounds, as tests/plan/kernel_conformance_test.cc does on the processor. Needs a card.

#include <gtest/gtest.h>

#include "base/cuda/cards.h"
#include "base/error.h"
#include "plan/cuda_device.h"
#include "starter_kernels/cuda/cuda_target.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/toolchain/cuda_toolchain.h"
#include "tests/plan/made_plans.h"

namespace amdahl {
namespace {

// Throws Error(kNoDevice) without a card.
const testing::KernelBench& card_bench() {
  static const CudaToolchain toolchain(default_cache_dir(), cuda_target(cuda::cards()[0]));
  static const testing::KernelBench bench{toolchain, [] { return make_cuda_device(0); }};
  return bench;
}

bool can_run(const Plan& plan, const Target& target) {
  return std::all_of(plan.steps.begin(), plan.steps.end(), [&](const Step& s) {
    const SearchSpace space = target.space(s.variant.problem);
    return !space.refuse || space.refuse(s.variant.knobs).empty();
  });
}

// Tails, strides and alignments of half floats on tensor cores; every way in which attention cuts its operands. Processors would only take time for them.
std::vector<Graph> graphs_for_tiles(std::string_view kind) {
  std::vector<Graph> graphs;
  const auto product = [&](const char* name, DType type, const Shape& a, const Shape& b, ExampleGraph::Attributes attributes = {}, const Shape& c = {}) {
    ExampleGraph g(name);
    std::vector<ValueId> in{g.input(type, a), g.normal(b, 3, 0, 1, type)};
    if (!c.empty()) in.push_back(g.input(type, c));
    const char* op = attributes.empty() ? "MatMul" : "Gemm";
    graphs.push_back(g.finish({g.node(op, in, std::move(attributes))}));
  };
  const auto convolution = [&](const char* name, DType type, const Shape& x, const Shape& w, ExampleGraph::Attributes attributes) {
    ExampleGraph g(name, 29);
    const std::vector<ValueId> in{g.input(type, x), g.normal(w, 3, 0, 1, type), g.normal({w[0]}, 4, 0, 1, type)};
    graphs.push_back(g.finish({g.node("Conv", in, std::move(attributes))}));
  };
  const auto attention = [&](const char* name, DType type, const Shape& q, const Shape& k, const Shape& v, ExampleGraph::Attributes attributes = {}) {
    ExampleGraph g(name, 23);
    const std::vector<ValueId> in{g.input(type, q), g.input(type, k), g.input(type, v)};
    graphs.push_back(g.finish({g.node("Attention", in, std::move(attributes))}));
  };
  const Attribute yes = int64_t{1};
  if (kind == kind::kMatmul)
    for (const DType type : {DType::kF16, DType::kBF16}) {
      product("tails", type, {70, 131}, {131, 77});
      product("whole vectors", type, {96, 160}, {160, 200});
      product("half vectors", type, {33, 84}, {84, 36});
      product("transposed B, bias", type, {40, 136}, {90, 136}, {{"transB", yes}}, {90});
      product("transposed A, scaled", type, {136, 72}, {136, 40}, {{"transA", yes}, {"alpha", 0.5}});
      product("both transposed, odd", type, {45, 50}, {31, 45}, {{"transA", yes}, {"transB", yes}}, {50, 31});
      product("a row, many steps", type, {1, 1100}, {1100, 130});
      product("heads", type, {2, 3, 20, 48}, {2, 3, 48, 36});
      product("several tiles", type, {300, 520}, {520, 400});
    }
  if (kind == kind::kConv)
    for (const DType type : {DType::kF16, DType::kBF16}) {
      const auto numbers = [](std::vector<int64_t> n) { return Attribute(std::move(n)); };
      convolution("3 x 3, tails", type, {2, 40, 13, 11}, {70, 40, 3, 3}, {{"pads", numbers({1, 1, 1, 1})}, {"strides", numbers({2, 2})}});
      convolution("3 x 3, whole lines", type, {1, 128, 14, 14}, {192, 128, 3, 3}, {{"pads", numbers({1, 1, 1, 1})}});
      convolution("1 x 1, several tiles", type, {3, 200, 7, 9}, {130, 200, 1, 1}, {});
      convolution("few channels, large window", type, {1, 3, 33, 31}, {64, 3, 7, 7}, {{"pads", numbers({3, 3, 3, 3})}, {"strides", numbers({2, 2})}});
      convolution("apart, along a row", type, {2, 33, 50}, {20, 33, 5}, {{"dilations", numbers({3})}, {"pads", numbers({4, 6})}});
    }
  if (kind == kind::kAttention) {
    attention("rows in pieces", DType::kF32, {1, 2, 20, 200}, {1, 2, 40, 200}, {1, 2, 40, 150});
    attention("rows of doubles in pieces", DType::kF64, {1, 2, 20, 100}, {1, 2, 40, 100}, {1, 2, 40, 70});
    attention("bfloat16", DType::kBF16, {1, 2, 70, 40}, {1, 2, 70, 40}, {1, 2, 70, 33});
    attention("tiles left out", DType::kF32, {1, 1, 260, 16}, {1, 1, 300, 16}, {1, 1, 300, 16}, {{"is_causal", yes}});
    for (const DType type : {DType::kF16, DType::kBF16}) {
      attention("whole tiles of halves", type, {1, 3, 128, 64}, {1, 3, 128, 64}, {1, 3, 128, 64}, {{"is_causal", yes}});
      attention("tails of halves", type, {2, 2, 45, 36}, {2, 2, 77, 36}, {2, 2, 77, 100});
      attention("odd widths of halves", type, {1, 2, 33, 33}, {1, 2, 20, 33}, {1, 2, 20, 17});
      attention("tiles of halves left out", type, {1, 1, 200, 16}, {1, 1, 300, 16}, {1, 1, 300, 16}, {{"is_causal", yes}});
    }
    attention("one query, keys in parts", DType::kF16, {1, 4, 1, 64}, {1, 4, 700, 64}, {1, 4, 700, 64});
  }
  return graphs;
}

class KindOnCard : public ::testing::TestWithParam<const KernelKind*> {
 protected:
  void SetUp() override {
    if (!testing::kind_selected(GetParam()->name())) GTEST_SKIP() << "not selected by AMDAHL_KINDS";
    try {
      bench_ = &card_bench();
    } catch (const Error& error) {
      if (error.code() != ExitCode::kNoDevice && error.code() != ExitCode::kNoCompiler) throw;
      GTEST_SKIP() << "this test needs an NVIDIA card: " << error.what();
    }
    if (!bench_->target().computes(GetParam()->name())) GTEST_SKIP() << bench_->target().lacks(GetParam()->name());
  }
  // With the kind's steps in it, and nothing that the card lacks.
  std::vector<testing::Case> examples() const {
    std::vector<testing::Case> cases;
    for (const Graph& graph : graphs()) {
      const Plan plan = starter_plan(graph, 1, bench_->target());
      if (can_run(plan, bench_->target())) cases.push_back({fmt::format("example {} ({})", cases.size(), graph.name), graph, plan, 11 + cases.size()});
    }
    for (testing::Case& c : made()) cases.push_back(std::move(c));
    return cases;
  }
  std::vector<Graph> graphs() const {
    std::vector<Graph> all = GetParam()->examples();
    for (Graph& graph : graphs_for_tiles(GetParam()->name())) all.push_back(std::move(graph));
    return all;
  }
  std::vector<testing::Case> made() const { return testing::made_of_several(std::string(GetParam()->name()), bench_->target(), ""); }

  const testing::KernelBench* bench_ = nullptr;
};

TEST_P(KindOnCard, StartersPassEveryExample) {
  const std::vector<testing::Case> cases = examples();
  EXPECT_EQ(cases.size(), graphs().size() + made().size());
  testing::expect_within(cases, *bench_);
}

TEST_P(KindOnCard, EveryKnobValuePasses) {
  std::vector<testing::Case> cases;
  const std::vector<testing::Case> of = examples();
  testing::Turns turns(of.size());
  for (const testing::Case& c : of) {
    turns.begin_case();
    for (size_t s = 0; s < c.plan.steps.size(); ++s) {
      const Problem& problem = c.plan.steps[s].variant.problem;
      if (problem.kind != GetParam()->name()) continue;
      for (const Knob& knob : bench_->target().space(problem).knobs)
        for (int64_t value : knob.values)
          if (turns.takes_next_value())
            if (const auto varied = testing::with_knob(c.plan, s, knob.name, value, bench_->target()))
              cases.push_back({fmt::format("{} {}={}", c.name, knob.name, value), c.graph, *varied, c.seed});
    }
  }
  testing::expect_within(cases, *bench_);
}

INSTANTIATE_TEST_SUITE_P(Kinds, KindOnCard, ::testing::ValuesIn(kernel_kinds()), [](const auto& info) { return std::string(info.param->name()); });

}  // namespace
}  // namespace amdahl

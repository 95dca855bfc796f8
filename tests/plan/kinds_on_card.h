#pragma once
// What a kind must pass on a card, whichever it is (cuda_conformance_test.cc, tests/emulated_card/conformance_test.cc): every example, every value of every
// knob, judged by the float64 oracle with bounds.

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "starter_kernels/kinds/kind_names.h"
#include "tests/plan/channels_last_cases.h"
#include "tests/plan/made_plans.h"
#include "tests/plan/row_cases.h"

namespace amdahl::testing {

inline bool can_run(const Plan& plan, const Target& target) {
  return std::all_of(plan.steps.begin(), plan.steps.end(), [&](const Step& s) {
    const SearchSpace space = target.space(s.variant.problem);
    return !space.refuse || space.refuse(s.variant.knobs).empty();
  });
}

// Tails, strides and alignments of half floats on tensor cores; every way in which attention cuts its operands. Processors would only take time for them.
inline std::vector<Graph> graphs_for_tiles(std::string_view kind) {
  std::vector<Graph> graphs;
  const auto product = [&](const char* name, DType type, const Shape& a, const Shape& b, ExampleGraph::Attributes attributes = {}, const Shape& c = {}) {
    ExampleGraph g(name);
    std::vector<ValueId> in{g.input(type, a), g.normal(b, 3, 0, 1, type)};
    if (!c.empty()) in.push_back(g.input(type, c));
    const char* op = attributes.empty() ? "MatMul" : "Gemm";
    graphs.push_back(g.finish({g.node(op, in, std::move(attributes))}));
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
      product("more tiles than blocks, bias", type, {70, 72}, {72, 30001}, {{"beta", 1.0}}, {30001});
      product("parts of many steps, residual", type, {100, 1600}, {1600, 136}, {{"beta", 1.0}}, {100, 136});
    }
  if (kind == kind::kConv)
    for (const DType type : {DType::kF16, DType::kBF16}) {
      const auto numbers = [](std::vector<int64_t> n) { return Attribute(std::move(n)); };
      const auto convolution = [&](const char* name, const Shape& x, const Shape& w, ExampleGraph::Attributes attributes) {
        ExampleGraph g(name, 29);
        const std::vector<ValueId> in{g.input(type, x), g.normal(w, 3, 0, 1, type), g.normal({w[0]}, 4, 0, 1, type)};
        graphs.push_back(g.finish({g.node("Conv", in, std::move(attributes))}));
      };
      convolution("3 x 3, tails", {2, 40, 13, 11}, {70, 40, 3, 3}, {{"pads", numbers({1, 1, 1, 1})}, {"strides", numbers({2, 2})}});
      convolution("3 x 3, whole lines", {1, 128, 14, 14}, {192, 128, 3, 3}, {{"pads", numbers({1, 1, 1, 1})}});
      convolution("1 x 1, several tiles", {3, 200, 7, 9}, {130, 200, 1, 1}, {});
      convolution("few channels, large window", {1, 3, 33, 31}, {64, 3, 7, 7}, {{"pads", numbers({3, 3, 3, 3})}, {"strides", numbers({2, 2})}});
      convolution("apart, along a row", {2, 33, 50}, {20, 33, 5}, {{"dilations", numbers({3})}, {"pads", numbers({4, 6})}});
    }
  if (kind == kind::kAttention) {
    for (const DType type : {DType::kF16, DType::kBF16}) {
      attention("whole tiles of halves", type, {1, 3, 128, 64}, {1, 3, 128, 64}, {1, 3, 128, 64}, {{"is_causal", yes}});
      attention("tails of halves", type, {2, 2, 45, 36}, {2, 2, 77, 36}, {2, 2, 77, 100});
      attention("odd widths of halves", type, {1, 2, 33, 33}, {1, 2, 20, 33}, {1, 2, 20, 17});
      attention("tiles of halves left out", type, {1, 1, 200, 16}, {1, 1, 300, 16}, {1, 1, 300, 16}, {{"is_causal", yes}});
    }
    attention("rows in pieces", DType::kF32, {1, 2, 20, 200}, {1, 2, 40, 200}, {1, 2, 40, 150});
    attention("rows of doubles in pieces", DType::kF64, {1, 2, 20, 100}, {1, 2, 40, 100}, {1, 2, 40, 70});
    attention("bfloat16", DType::kBF16, {1, 2, 70, 40}, {1, 2, 70, 40}, {1, 2, 70, 33});
    attention("tiles left out", DType::kF32, {1, 1, 260, 16}, {1, 1, 300, 16}, {1, 1, 300, 16}, {{"is_causal", yes}});
    {
      ExampleGraph g("tiles with values that are no numbers", 23);
      const Shape shape{1, 2, 300, 8};
      std::vector<double> values(static_cast<size_t>(numel(shape)), 0.5);
      values[290 * 8] = values[(300 + 150) * 8 + 3] = std::nan("");
      graphs.push_back(g.finish({g.node("Attention", {g.input(shape), g.input(shape), g.floats(shape, values)}, {{"is_causal", yes}})}));
    }
    attention("one query, keys in parts", DType::kF16, {1, 4, 1, 64}, {1, 4, 700, 64}, {1, 4, 700, 64});
  }
  if (kind == kind::kPlain) {
    ExampleGraph elements("updates that meet");
    graphs.push_back(elements.finish({elements.node(
        "ScatterElements", {elements.input({4, 3}), elements.ints({3, 3}, {0, 1, 2, 0, 1, 1, 3, 1, 2}), elements.input({3, 3})}, {{"axis", int64_t{0}}})}));
    ExampleGraph slices("slices that meet");
    graphs.push_back(slices.finish({slices.node("ScatterND", {slices.input({5, 3}), slices.ints({4, 1}, {4, 2, 4, 4}), slices.input({4, 3})})}));
  }
  return graphs;
}

// A kind's examples, and for some kinds more that only cards need.
inline std::vector<Graph> graphs_on_card(const KernelKind& kind) {
  std::vector<Graph> all = kind.examples();
  for (Graph& graph : graphs_for_tiles(kind.name())) all.push_back(std::move(graph));
  for (Graph& graph : graphs_of_rows(kind.name())) all.push_back(std::move(graph));
  return all;
}

// A product of columns from `first` on, read where they lie: their rows begin at addresses that are less even than their strides.
inline Case product_of_columns(DType type, int64_t first, const Target& target) {
  const std::string name = fmt::format("columns from {} on", first);
  ExampleGraph g(name);
  const ValueId x = g.input(type, {40, 136}), w = g.normal({64, 48}, 3, 0, 1, type);
  const ValueId columns = g.node("Slice", {x, g.ints({1}, {first}), g.ints({1}, {first + 64}), g.ints({1}, {1}), g.ints({1}, {1})});
  Case made{name, g.finish({g.node("MatMul", {columns, w})})};
  made.plan = starter_plan(made.graph, 1, target);
  Step slice = made.plan.steps.at(0), product = made.plan.steps.at(1);
  product.nodes.insert(product.nodes.begin(), slice.nodes[0]);
  product.inputs[0] = slice.inputs[0];
  Access& a = product.variant.problem.in[0];
  a.strides = {136, 1};
  a.offset = first;
  product.variant.knobs = target.space(product.variant.problem).starters();
  made.plan.steps = {product};
  return made;
}

// What no single node lowers to.
inline std::vector<Case> made_on_card(const KernelKind& kind, const Target& target) {
  std::vector<Case> cases = made_of_several(std::string(kind.name()), target, "");
  for (Case& c : fused_rows(kind.name(), target)) cases.push_back(std::move(c));
  for (Case& c : cases_channels_last(kind, target)) cases.push_back(std::move(c));
  if (kind.name() == kind::kMatmul)
    for (DType type : {DType::kF32, DType::kF16})
      for (int64_t first : {3, 4}) cases.push_back(product_of_columns(type, first, target));
  return cases;
}

// With the kind's steps in it, and nothing that the card lacks.
inline std::vector<Case> cases_on_card(const KernelKind& kind, const KernelBench& bench) {
  std::vector<Case> cases;
  for (const Graph& graph : graphs_on_card(kind)) {
    const Plan plan = starter_plan(graph, 1, bench.target());
    if (can_run(plan, bench.target())) cases.push_back({fmt::format("example {} ({})", cases.size(), graph.name), graph, plan, 11 + cases.size()});
  }
  for (Case& c : made_on_card(kind, bench.target())) cases.push_back(std::move(c));
  return cases;
}

inline void expect_starters_pass(const KernelKind& kind, const KernelBench& bench) {
  const std::vector<Case> cases = cases_on_card(kind, bench);
  EXPECT_EQ(cases.size(), graphs_on_card(kind).size() + made_on_card(kind, bench.target()).size());
  expect_within(cases, bench);
}

inline void expect_knob_values_pass(const KernelKind& kind, const KernelBench& bench) {
  std::vector<Case> cases;
  const std::vector<Case> of = cases_on_card(kind, bench);
  Turns turns(of.size());
  for (const Case& c : of) {
    turns.begin_case();
    for (size_t s = 0; s < c.plan.steps.size(); ++s) {
      const Problem& problem = c.plan.steps[s].variant.problem;
      if (problem.kind != kind.name()) continue;
      for (const Knob& knob : bench.target().space(problem).knobs)
        for (int64_t value : knob.values)
          if (turns.takes_next_value())
            if (const auto varied = with_knob(c.plan, s, knob.name, value, bench.target()))
              cases.push_back({fmt::format("{} {}={}", c.name, knob.name, value), c.graph, *varied, c.seed});
    }
  }
  expect_within(cases, bench);
}

}  // namespace amdahl::testing

#pragma once
// Rows of which a card takes pieces: lengths that these divide and that they do not, operands that begin at odd places, lie across the row, or have one value
// for it, on the way in and on the way out.

#include <string>
#include <vector>

#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/normalization.h"
#include "starter_kernels/kinds/pointwise.h"
#include "tests/plan/made_plans.h"

namespace amdahl::testing {

inline ValueId normalized_rows(ExampleGraph& g, std::string_view kind, DType type, ValueId x, int64_t length) {
  if (kind == kind::kSoftmax) return g.node("Softmax", {x}, {{"axis", int64_t{-1}}});
  const ValueId scale = g.normal({length}, 3, 1, 0.5, type);
  if (kind == kind::kRmsNorm) return g.node("RMSNormalization", {x, scale}, {{"axis", int64_t{-1}}});
  return g.node("LayerNormalization", {x, scale, g.normal({length}, 4, 0, 1, type)}, {{"axis", int64_t{-1}}});
}

inline bool folds_kept_rows(std::string_view kind) { return kind == kind::kSoftmax || kind == kind::kRmsNorm || kind == kind::kLayerNorm; }

// Whole pieces and what is left of them; a warp's row, several warps' rows, rows of which the last warp has fewer; and elements that stand alone.
inline std::vector<Graph> graphs_of_rows(std::string_view kind) {
  std::vector<Graph> graphs;
  for (const DType type : {DType::kF16, DType::kBF16}) {
    if (folds_kept_rows(kind))
      for (const Shape& shape : {Shape{5, 768}, Shape{3, 51}, Shape{7, 36}, Shape{130, 64}, Shape{2, 4104}}) {
        ExampleGraph g(fmt::format("{} rows of {}", shape[0], shape[1]), 23);
        const ValueId x = g.node("Add", {g.input(type, shape), g.floats({}, {30}, type)});  // a mean far from 0
        graphs.push_back(g.finish({normalized_rows(g, kind, type, x, shape[1])}));
      }
    if (kind == kind::kPointwise) {
      ExampleGraph g("pieces of broadcasts");
      const ValueId x = g.input(type, {9, 40}), y = g.input(type, {7, 66}), z = g.input(type, {3, 1000});
      graphs.push_back(g.finish({g.node("Add", {x, g.input(type, {40})}), g.node("Mul", {x, g.input(type, {9, 1})}), g.node("Sub", {y, g.input(type, {66})}),
                                 g.node("Mul", {z, g.input(type, {3, 1000})}), g.node("Cast", {x}, {{"to", int64_t{1}}})}));
    }
  }
  return graphs;
}

// columns of x + across^T are normalised, times a number of each row, plus columns of `more`: one kernel, and the sum is kept where the kind can.
inline Case fused_rows(std::string_view kind, DType type, int64_t rows, int64_t length, int64_t first, int64_t first_more, const Target& target) {
  const std::string name = fmt::format("{} rows of {}, columns from {} and {} on", rows, length, first, first_more);
  ExampleGraph g(name, 23);
  const int64_t wide = length + 16;
  const ValueId x = g.input(type, {rows, wide}), more = g.input(type, {rows, wide}), across = g.input(type, {length, rows}), factor = g.input(type, {rows, 1});
  const auto columns = [&](ValueId of, int64_t from) {
    return g.node("Slice", {of, g.ints({1}, {from}), g.ints({1}, {from + length}), g.ints({1}, {1}), g.ints({1}, {1})});
  };
  const ValueId part = columns(x, first), part_of_more = columns(more, first_more), turned = g.node("Transpose", {across});
  const ValueId sum = g.node("Add", {part, turned}), norm = normalized_rows(g, kind, type, sum, length);
  const ValueId y = g.node("Add", {g.node("Mul", {norm, factor}), part_of_more});
  const bool keeps = kind != kind::kSoftmax;
  Case made{name, keeps ? g.finish({y, sum}) : g.finish({y})};
  made.plan = starter_plan(made.graph, 1, target);
  const std::vector<Step>& steps = made.plan.steps;
  const Step &add = steps.at(3), &mul = steps.at(5), &last = steps.at(6);
  const auto program = [](const Step& step) { return PointwiseParams::of(step.variant.problem).program; };
  Step fused = steps.at(4);
  Problem& p = fused.variant.problem;
  PointwiseProgram prologue = program(add);
  if (keeps) {
    prologue.ops.push_back({"cast", {prologue.results.at(0)}, type});
    prologue.results = {prologue.inputs + static_cast<int>(prologue.ops.size()) - 1};
    NormalizationParams params = NormalizationParams::of(p);
    params.keep_input = true;
    params.write(p);
    p.out.push_back(Access::dense(type, {rows, length}));
    fused.outputs.push_back(add.outputs.at(0));
  }
  set_prologue(p, prologue);
  set_epilogue(p, compose(program(last), 0, program(mul)));
  p.in[0] = {type, {rows, length}, {1, rows}};
  p.in.insert(p.in.begin(), {type, {rows, length}, {wide, 1}, first});
  p.in.push_back(mul.variant.problem.in.at(1));
  p.in.push_back({type, {rows, length}, {wide, 1}, first_more});
  fused.inputs[0] = steps.at(2).inputs.at(0);
  fused.inputs.insert(fused.inputs.begin(), steps.at(0).inputs.at(0));
  fused.inputs.push_back(mul.inputs.at(1));
  fused.inputs.push_back(steps.at(1).inputs.at(0));
  fused.outputs[0] = last.outputs.at(0);
  fused.nodes.clear();
  for (const Step& step : steps) fused.nodes.insert(fused.nodes.end(), step.nodes.begin(), step.nodes.end());
  fused.variant.knobs = target.space(p).starters();
  made.plan.steps = {fused};
  return made;
}

inline std::vector<Case> fused_rows(std::string_view kind, const Target& target) {
  if (!folds_kept_rows(kind)) return {};
  return {fused_rows(kind, DType::kF16, 5, 200, 8, 4, target), fused_rows(kind, DType::kBF16, 6, 196, 4, 3, target),
          fused_rows(kind, DType::kF16, 3, 64, 3, 0, target), fused_rows(kind, DType::kF32, 9, 1304, 4, 2, target)};
}

}  // namespace amdahl::testing

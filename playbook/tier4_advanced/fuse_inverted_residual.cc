// Three convolutions on channel blocks, 1x1 to more channels, depthwise, 1x1 to fewer, become one kernel: the two wide images between them, the
// largest of MobileNetV2's, are made and consumed row by row in each core's L2. Anchored at the depthwise one. What is widened at the border between
// two threads is widened twice, so small images may be faster apart: a race like any other.
#include <algorithm>

#include "playbook/playbook.h"
#include "starter_kernels/cpu/inverted_residual.h"
#include "starter_kernels/kinds/inverted_residual.h"
#include "starter_kernels/kinds/kind_names.h"

namespace amdahl {
namespace {

class FuseInvertedResidual final : public Rewrite {
 public:
  int tier() const override { return 4; }
  std::string_view name() const override { return "fuse_inverted_residual"; }
  std::string_view backend() const override { return "cpu"; }
  std::string_view target() const override { return "depthwise conv between two 1x1 conv"; }
  std::string_view precondition() const override {
    return "channel blocks, nobody else reads what passes between, weights fit half of L2, no algorithm of other bounds";
  }
  bool structural() const override { return true; }

  std::optional<Match> offer(const RewriteContext& context, int anchor, std::string* refusal) const override {
    const auto refused = [&](std::string reason) {
      if (refusal) *refusal = std::move(reason);
      return std::nullopt;
    };
    const auto step = [&](int s) -> const Step& { return context.plan.steps[static_cast<size_t>(s)]; };
    const Step& depthwise = step(anchor);
    if (depthwise.variant.problem.kind != kind::kConv) return refused("no convolution");
    const auto writer = context.writer.find(depthwise.inputs[0]);
    const int before = writer == context.writer.end() ? -1 : writer->second, after = context.sole_consumer(anchor);
    if (before < 0 || context.sole_consumer(before) != anchor) return refused("what it reads is read elsewhere too");
    if (after < 0 || step(after).inputs[0] != depthwise.outputs[0] ||
        std::count(step(after).inputs.begin(), step(after).inputs.end(), depthwise.outputs[0]) > 1)
      return refused("what it writes is read elsewhere too");
    const Step &expand = step(before), &project = step(after);
    for (const Step* s : {&expand, &depthwise, &project})
      if (!s->variant.source_override.empty()) return refused("the kernel's text was edited");
    const Problem &first = expand.variant.problem, &wide = depthwise.variant.problem, &last = project.variant.problem;
    if (std::string why = refused_as_inverted_residual(first, wide, last, context.target.device); !why.empty()) return refused(std::move(why));
    if (std::count(depthwise.inputs.begin() + 1, depthwise.inputs.end(), expand.outputs[0])) return refused("its epilogue reads what it is made from");

    // Every row of the result meets all weights of both products: from L2, or not at all faster. On Zen 3 (512 KiB) 576 channels between 96 of
    // 14 x 14, 442 KB, lost all of 18 races by 6% to 33%; 384 between 64, 197 KB, won by 19%.
    const int64_t weights = size_of(DType::kF32) * (numel(first.in[1].shape) + numel(last.in[1].shape));
    if (weights > context.target.device.l2_bytes / 2) return refused("the weights of both products do not fit half of L2");

    Step fused;
    fused.variant.problem = inverted_residual_problem(first, wide, last);
    fused.inputs = {expand.inputs[0], expand.inputs[1], depthwise.inputs[1], project.inputs[1]};
    for (const Step* s : {&expand, &depthwise, &project}) {
      fused.inputs.insert(fused.inputs.end(), s->inputs.begin() + 2, s->inputs.end());
      fused.nodes.insert(fused.nodes.end(), s->nodes.begin(), s->nodes.end());
    }
    std::sort(fused.nodes.begin(), fused.nodes.end());
    fused.outputs = project.outputs;
    const SearchSpace space = context.target.space(fused.variant.problem);
    fused.variant.knobs = space.starters();

    Match match;
    match.window.steps = {before, anchor, after};
    std::sort(match.window.steps.begin(), match.window.steps.end());
    match.replacement = {fused};
    for (const Knob& knob : space.knobs) match.search.push_back({0, knob.name, knob.values});
    return match;
  }
};

}  // namespace

const Rewrite* fuse_inverted_residual() {
  static const FuseInvertedResidual rewrite;
  return &rewrite;
}

}  // namespace amdahl

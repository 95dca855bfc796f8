// A consumer that reads by strides reads a transposed, sliced, split or expanded tensor where it was before it was moved: the
// copy is dropped. Anchored at the consumer; all of its operands that can be are read through.
#include <algorithm>

#include "playbook/node_window.h"
#include "playbook/playbook.h"
#include "playbook/strided_view.h"

namespace amdahl {
namespace {

class AbsorbMovement final : public Rewrite {
 public:
  int tier() const override { return 2; }
  std::string_view name() const override { return "absorb_movement"; }
  std::string_view target() const override { return "matmul, attention"; }
  std::string_view precondition() const override { return "an operand is a transposed, sliced, split or expanded copy, or is transposed after"; }
  bool structural() const override { return true; }

  std::optional<Match> offer(const RewriteContext& context, int anchor, std::string* refusal) const override {
    const Step& step = context.plan.steps[static_cast<size_t>(anchor)];
    Problem problem = step.variant.problem;
    if (!traits_of(problem).reads_strides || !step.variant.source_override.empty()) {
      if (refusal) *refusal = "for matmul and attention, this is " + problem.kind;
      return std::nullopt;
    }
    Step fused = step;
    std::set<NodeId> absorbed;
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      if (context.graph.is_constant(step.inputs[i].value)) continue;
      const ReadThrough r = furthest_available(context, read_through(context, step.inputs[i], problem.in[i], false));
      fused.inputs[i] = r.from;
      fused.variant.problem.in[i] = r.access;
      absorbed.insert(r.nodes.begin(), r.nodes.end());
    }
    // Extras of an epilogue are stated over the output's shape, not its layout: writing elsewhere does not concern them.
    if (step.outputs.size() == 1)
      if (const auto w = write_through(context, step.outputs[0], problem.out[0])) {
        fused.outputs[0] = w->to;
        fused.variant.problem.out[0] = w->access;
        absorbed.insert(w->nodes.begin(), w->nodes.end());
      }
    if (absorbed.empty()) {
      if (refusal) *refusal = "no operand is a moved copy";
      return std::nullopt;
    }
    // Movement that this step has absorbed before may be covered by others too.
    std::set<NodeId> nodes(step.nodes.begin(), step.nodes.end()), core;
    for (NodeId n : nodes) (view_of(context.graph, context.graph.node(n), 0) ? absorbed : core).insert(n);
    nodes.insert(absorbed.begin(), absorbed.end());
    fused.nodes.assign(nodes.begin(), nodes.end());
    // Knobs that the new strides rule out go back to where a starter would have them.
    const SearchSpace space = context.target.space(fused.variant.problem);
    for (const Knob& knob : space.knobs)
      if (!std::count(knob.values.begin(), knob.values.end(), fused.variant.knobs[knob.name])) fused.variant.knobs[knob.name] = knob.starter;
    auto match = replace_nodes(context, core, absorbed, fused, refusal);
    if (match) open_knobs(context, *match, match->replacement.size() - 1, {"PACK_A", "PACK_KV"});
    return match;
  }
};

}  // namespace

const Rewrite* absorb_movement() {
  static const AbsorbMovement rewrite;
  return &rewrite;
}

}  // namespace amdahl

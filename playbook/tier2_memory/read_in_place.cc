// A copy (transpose, slice, split, expand) is dropped: its readers walk the source by strides instead. Anchored at the copy;
// all readers must be able to.
#include <algorithm>

#include "playbook/fusion.h"
#include "playbook/playbook.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/movement.h"

namespace amdahl {
namespace {

// Whether input `i` of a step may have any strides.
bool reads_strides(const Step& step, size_t i) {
  const Problem& p = step.variant.problem;
  if (!step.variant.source_override.empty()) return false;
  if (traits_of(p).has_expression) return true;
  if (p.kind == kind::kRotaryEmbedding) return i < 3;
  return p.kind == kind::kMovement && MovementParams::of(p).is_view();
}

class ReadInPlace final : public Rewrite {
 public:
  int tier() const override { return 2; }
  std::string_view name() const override { return "read_in_place"; }
  std::string_view target() const override { return "movement, read by pointwise and row kinds"; }
  std::string_view precondition() const override { return "every reader can walk the source by strides"; }
  bool structural() const override { return true; }

  std::optional<Match> offer(const RewriteContext& context, int anchor, std::string* refusal) const override {
    const auto refused = [&](std::string reason) {
      if (refusal) *refusal = std::move(reason);
      return std::nullopt;
    };
    const Step& copy_step = context.plan.steps[static_cast<size_t>(anchor)];
    const Problem& movement = copy_step.variant.problem;
    if (movement.kind != kind::kMovement || MovementParams::of(movement).gather) return refused("for strided copies");
    const std::vector<StridedCopy> copies = copies_of(movement);

    std::set<int> readers;
    for (size_t r = 0; r < copy_step.outputs.size(); ++r) {
      if (context.is_graph_output(copy_step.outputs[r])) return refused("the copy is a result of the model");
      const auto found = context.readers.find(copy_step.outputs[r]);
      if (found != context.readers.end()) readers.insert(found->second.begin(), found->second.end());
    }
    Match match;
    for (int reader : readers) {
      Step step = context.plan.steps[static_cast<size_t>(reader)];
      for (size_t i = 0; i < step.inputs.size(); ++i) {
        const auto output = std::find(copy_step.outputs.begin(), copy_step.outputs.end(), step.inputs[i]);
        if (output == copy_step.outputs.end()) continue;
        if (!reads_strides(step, i)) return refused("a reader (" + step.variant.problem.kind + ") needs its operand as it is");
        const auto r = static_cast<int>(output - copy_step.outputs.begin());
        const auto of_output = [&](const StridedCopy& c) { return c.out == r; };
        if (std::count_if(copies.begin(), copies.end(), of_output) != 1) return refused("put together from several pieces");
        const StridedCopy& c = *std::find_if(copies.begin(), copies.end(), of_output);
        if (c.in < 0) return refused("filled with a constant");
        const Access& source = movement.in[static_cast<size_t>(c.in)];
        const Access view{source.dtype, c.shape, c.out_strides, c.out_offset, false};
        const Access operand{source.dtype, c.shape, c.in_strides, c.in_offset, source.constant};
        const auto carried = carry_over(view, operand, step.variant.problem.in[i]);
        if (!carried) return refused("no strides express it for a reader");
        step.variant.problem.in[i] = *carried;
        step.inputs[i] = copy_step.inputs[static_cast<size_t>(c.in)];
      }
      std::set<NodeId> nodes(step.nodes.begin(), step.nodes.end());
      nodes.insert(copy_step.nodes.begin(), copy_step.nodes.end());
      step.nodes.assign(nodes.begin(), nodes.end());
      repair_knobs(context, step);
      match.replacement.push_back(std::move(step));
    }
    if (match.replacement.empty()) return refused("nobody reads it");
    readers.insert(anchor);
    match.window.steps.assign(readers.begin(), readers.end());
    return match;
  }
};

}  // namespace

const Rewrite* read_in_place() {
  static const ReadInPlace rewrite;
  return &rewrite;
}

}  // namespace amdahl

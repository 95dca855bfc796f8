// A result that is only read by one copy (a transpose) is written where the copy would have put it.
#include "playbook/fusion.h"
#include "playbook/playbook.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/movement.h"

namespace amdahl {
namespace {

class WriteInPlace final : public Rewrite {
 public:
  int tier() const override { return 2; }
  std::string_view name() const override { return "write_in_place"; }
  std::string_view target() const override { return "pointwise, softmax, layernorm, rmsnorm, rotary_embedding"; }
  std::string_view precondition() const override { return "the only reader is a copy of the whole result"; }
  bool structural() const override { return true; }

  std::optional<Match> offer(const RewriteContext& context, int anchor, std::string* refusal) const override {
    const auto refused = [&](std::string reason) {
      if (refusal) *refusal = std::move(reason);
      return std::nullopt;
    };
    Step step = context.plan.steps[static_cast<size_t>(anchor)];
    Problem& problem = step.variant.problem;
    if (!traits_of(problem).writes_strides) return refused("this kind writes in row-major order");
    if (!step.variant.source_override.empty()) return refused("the kernel's text was edited");
    const int reader = context.sole_consumer(anchor);
    if (reader < 0) return refused("several readers");
    const Step& copy_step = context.plan.steps[static_cast<size_t>(reader)];
    const Problem& movement = copy_step.variant.problem;
    if (movement.kind != kind::kMovement || !MovementParams::of(movement).is_view()) return refused("the reader is not a plain copy");
    if (numel(movement.in[0].shape) != numel(problem.out[0].shape)) return refused("the copy takes a part of the result");
    const auto carried = carry_over(movement.in[0], movement.out[0], problem.out[0]);
    if (!carried) return refused("no strides express where the copy puts it");
    problem.out[0] = *carried;
    problem.out[0].constant = false;
    step.outputs = copy_step.outputs;
    std::set<NodeId> nodes(step.nodes.begin(), step.nodes.end());
    nodes.insert(copy_step.nodes.begin(), copy_step.nodes.end());
    step.nodes.assign(nodes.begin(), nodes.end());
    return match_of(context, {anchor, reader}, std::move(step));
  }
};

}  // namespace

const Rewrite* write_in_place() {
  static const WriteInPlace rewrite;
  return &rewrite;
}

}  // namespace amdahl

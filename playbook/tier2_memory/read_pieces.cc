// Attention reads keys and values where they were before they were put together from two pieces: those of earlier tokens and the new ones'. The copies are
// dropped. Anchored at attention; of its keys as of its values there must be two pieces, and nothing else reads the copies.
#include <algorithm>

#include "playbook/fusion.h"
#include "playbook/playbook.h"
#include "starter_kernels/kinds/attention.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/movement.h"

namespace amdahl {
namespace {

// Two tensors in place of one [batch, heads, keys, width]: the first has so many of the keys, and the other the rest.
struct TwoPieces {
  int64_t first_keys = 0;
  Operand from[2];
  Access access[2];
};

// `together`, which `copy_step` writes, as the two that it is made of.
std::optional<TwoPieces> pieces_of(const Step& copy_step, const Access& together, std::string* refusal) {
  const auto refused = [&](const char* reason) {
    if (refusal) *refusal = reason;
    return std::nullopt;
  };
  const Problem& movement = copy_step.variant.problem;
  if (movement.kind != kind::kMovement || MovementParams::of(movement).gather || copy_step.outputs.size() != 1) return refused("keys or values are no copy");
  std::vector<StridedCopy> copies = copies_of(movement);
  if (copies.size() != 2 || copies[0].in < 0 || copies[1].in < 0) return refused("for what was put together from two pieces");
  std::sort(copies.begin(), copies.end(), [](const StridedCopy& a, const StridedCopy& b) { return a.out_offset < b.out_offset; });

  const int64_t keys = together.shape[2], all = numel(copies[0].shape) + numel(copies[1].shape);
  TwoPieces pieces;
  pieces.first_keys = all > 0 ? numel(copies[0].shape) * keys / all : 0;
  if (pieces.first_keys == 0 || pieces.first_keys == keys) return refused("one piece has all keys");
  for (size_t i = 0; i < 2; ++i) {
    const StridedCopy& c = copies[i];
    const Access& source = movement.in[static_cast<size_t>(c.in)];
    Access rows = together;
    if (i == 1) rows.offset += pieces.first_keys * rows.strides[2];
    rows.shape[2] = i == 0 ? pieces.first_keys : keys - pieces.first_keys;
    const auto carried =
        carry_over({source.dtype, c.shape, c.out_strides, c.out_offset, false}, {source.dtype, c.shape, c.in_strides, c.in_offset, source.constant}, rows);
    if (!carried) return refused("the pieces do not meet between two keys");
    pieces.from[i] = copy_step.inputs[static_cast<size_t>(c.in)];
    pieces.access[i] = *carried;
  }
  return pieces;
}

class ReadPieces final : public Rewrite {
 public:
  int tier() const override { return 2; }
  std::string_view name() const override { return "read_pieces"; }
  std::string_view target() const override { return "attention"; }
  std::string_view precondition() const override { return "keys and values were each put together from two pieces along the keys, for it alone"; }
  bool structural() const override { return true; }

  std::optional<Match> offer(const RewriteContext& context, int anchor, std::string* refusal) const override {
    const auto refused = [&](std::string reason) {
      if (refusal) *refusal = std::move(reason);
      return std::nullopt;
    };
    const Step& step = context.plan.steps[static_cast<size_t>(anchor)];
    if (step.variant.problem.kind != kind::kAttention) return refused("for attention, this is " + step.variant.problem.kind);
    if (!step.variant.source_override.empty()) return refused("the kernel's text was edited");
    AttentionParams params = AttentionParams::of(step.variant.problem);
    if (params.appended) return refused("keys are in two tensors already");

    std::set<int> steps{anchor};
    std::set<NodeId> nodes(step.nodes.begin(), step.nodes.end());
    TwoPieces of[2];  // keys, values
    for (size_t i : {1, 2}) {
      const Operand& together = step.inputs[i];
      const auto writer = context.writer.find(together);
      if (writer == context.writer.end()) return refused("keys or values are no copy");
      if (context.is_graph_output(together)) return refused("the copy is a result of the model");
      if (context.readers.at(together).size() > 1 || together == step.inputs[0]) return refused("the copy is read elsewhere too");
      const Step& copy_step = context.plan.steps[static_cast<size_t>(writer->second)];
      const auto pieces = pieces_of(copy_step, step.variant.problem.in[i], refusal);
      if (!pieces) return std::nullopt;
      of[i - 1] = *pieces;
      steps.insert(writer->second);
      nodes.insert(copy_step.nodes.begin(), copy_step.nodes.end());
    }
    if (of[0].first_keys != of[1].first_keys) return refused("keys end where values do not");

    Step fused = step;
    Problem& problem = fused.variant.problem;
    for (size_t i : {1, 2}) fused.inputs[i] = of[i - 1].from[0], problem.in[i] = of[i - 1].access[0];
    for (const TwoPieces& pieces : of) fused.inputs.push_back(pieces.from[1]), problem.in.push_back(pieces.access[1]);
    params.appended = true;
    params.write(problem);
    fused.nodes.assign(nodes.begin(), nodes.end());
    return match_of(context, steps, std::move(fused));
  }
};

}  // namespace

const Rewrite* read_pieces() {
  static const ReadPieces rewrite;
  return &rewrite;
}

}  // namespace amdahl

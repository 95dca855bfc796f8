#pragma once
// Reading through movement: a Transpose, Slice or Split is a change of strides and offset for a consumer that reads by strides,
// so its copy need not be made.

#include <optional>
#include <vector>

#include "playbook/rewrite.h"

namespace amdahl {

// `outer` reads storage whose elements, in row-major order of `shape`, lie where `inner` (over `shape`) says: one access that
// reads the same elements through inner's storage. nullopt when no strides can express it.
std::optional<Access> compose(const Access& outer, const Shape& shape, const Access& inner);

// How output `output` of a movement node lies in the storage of its first input; nullopt for what is not a view (padding,
// gathering, negative steps) or is a plain renaming.
std::optional<Access> view_of(const Graph& graph, const Node& node, size_t output);

// The tensors that `access` to `operand` could be read from instead, nearest first; entry 0 is the operand itself.
struct ReadThrough {
  Operand from;
  Access access;
  std::vector<NodeId> nodes;  // movement (and scaling) nodes in between, not computed any more for this reader
  double factor = 1;          // product of the scalar constants met on the way, when `through_scaling`
};
std::vector<ReadThrough> read_through(const RewriteContext& context, const Operand& operand, const Access& access, bool through_scaling);

// The furthest of these that exists under the plan: written by a step, an input or a constant of the graph.
ReadThrough furthest_available(const RewriteContext& context, const std::vector<ReadThrough>& choices);

// If `value` is only read by one Transpose, the same elements stored as the Transpose would: where and how to write.
struct WriteThrough {
  Operand to;
  Access access;
  std::vector<NodeId> nodes;
};
std::optional<WriteThrough> write_through(const RewriteContext& context, const Operand& value, const Access& access);

// A float scalar constant (one element), or nullopt.
std::optional<double> scalar_constant(const Graph& graph, ValueId value);

}  // namespace amdahl

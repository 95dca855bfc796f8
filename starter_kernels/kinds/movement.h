#pragma once
// What movement kernels do, as data: shared by the kind, its lowering, and the rewrites that absorb copies.

#include "graph/graph.h"
#include "starter_kernels/kinds/kernel_kind.h"
#include "starter_kernels/kinds/problem.h"

namespace amdahl {

// out[out][out_offset + Σ i_d out_strides[d]] = in[in][in_offset + Σ i_d in_strides[d]] for every point of `shape`.
struct StridedCopy {
  int in = 0, out = 0;  // operand numbers; in = -1: the constant of params["fill"]
  Shape shape, in_strides, out_strides;
  int64_t in_offset = 0, out_offset = 0;
};
void to_json(Json& j, const StridedCopy& c);
void from_json(const Json& j, StridedCopy& c);

// The copies of a movement problem that is not a gather.
std::vector<StridedCopy> copies_of(const Problem& problem);

// Operands and parameters of a movement node (kind, threads and knobs not yet set), or nullopt.
std::optional<Lowering> movement_of_node(const Graph& graph, const Node& node);

}  // namespace amdahl

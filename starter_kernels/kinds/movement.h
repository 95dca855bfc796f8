#pragma once
// What movement kernels do, as data: shared by the kind, its lowering, and the rewrites that absorb copies.

#include <optional>
#include <vector>

#include "graph/graph.h"
#include "starter_kernels/kinds/kernel_kind.h"
#include "starter_kernels/kinds/problem.h"

namespace amdahl {

// out[out][out_offset + Σ i_d out_strides[d]] = in[in][in_offset + Σ i_d in_strides[d]] for every point of `shape`.
struct StridedCopy {
  int in = 0, out = 0;  // operand numbers; in = -1: the constant `fill`
  Shape shape, in_strides, out_strides;
  int64_t in_offset = 0, out_offset = 0;
};
void to_json(Json& j, const StridedCopy& c);
void from_json(const Json& j, StridedCopy& c);

// out[o, i, k] = in[0][o, in[1][i], k], in elements.
struct GatherSizes {
  int64_t outer = 0, size = 0, count = 0, inner = 0;  // of o, of what in[1] chooses from, of i, of k
};

// At most one of `copies` and `gather`; neither: out[0] = in[0] as their Accesses lie.
struct MovementParams {
  std::optional<std::vector<StridedCopy>> copies;  // between pieces of the operands
  std::optional<uint64_t> fill;                    // the bits of the constant, where there may be one
  std::optional<GatherSizes> gather;

  static MovementParams of(const Problem& problem);
  void write(Problem& problem) const;

  bool is_view() const { return !copies && !gather; }
};

// The copies of a movement problem that is not a gather.
std::vector<StridedCopy> copies_of(const Problem& problem);

// Operands and parameters of a movement node (kind, threads and knobs not yet set), or nullopt.
std::optional<Lowering> movement_of_node(const Graph& graph, const Node& node);

}  // namespace amdahl

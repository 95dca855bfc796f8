// Format conversion of an operand [N, C, spatial…]: in[0] and out[0] hold the same values, one of them row-major, the other in channel blocks (CPUs, f32)
// or channels last (cards, elements of any type). Without parameters but its formats. Covers no node of the graph; plans get it from the rewrites that
// carry such layouts.

#include "graph/graph.h"
#include "starter_kernels/kinds/kernel_kind.h"
#include "starter_kernels/kinds/kernel_kinds.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/problem.h"

namespace amdahl {
namespace {

class Reorder : public KernelKind {
 public:
  std::string_view name() const override { return kind::kReorder; }
  std::string_view summary() const override { return "storage format conversion: row-major to channel blocks or channels last, and back"; }
  Traits traits() const override { return {}; }

  Work work(const Problem& problem) const override {
    return {0, 2.0 * static_cast<double>(numel(problem.in[0].shape)) * static_cast<double>(size_of(problem.in[0].dtype))};
  }

  std::optional<Lowering> lower(const Graph&, const Node&, int) const override { return std::nullopt; }
  std::vector<Graph> examples() const override { return {}; }  // no node lowers to it
};

}  // namespace

const KernelKind* reorder_kind() {
  static const Reorder kind;
  return &kind;
}

}  // namespace amdahl

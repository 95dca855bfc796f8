// Clean-up is what needs no judgement: it does not make a model slower and keeps its meaning. Everything that may or may
// not pay is a rewrite of the playbook, measured; but for products of the same rows, which a plan has no values for
// (docs/decisions/0046-siblings-are-one-product.md).

#include "graph/clean_up/clean_up.h"

#include "graph/clean_up/clean_up_passes.h"
#include "graph/clean_up/fold.h"

namespace amdahl {

void clean_up(Graph& graph) {
  FoldBudget budget(graph);
  clean_up(graph, budget);
}

void clean_up(Graph& graph, FoldBudget& budget) {
  drop_unused(graph);
  // One pass feeds the next: a folded shape makes a Reshape a no-op, a removed no-op makes two nodes equal. Real
  // exports settle in two or three rounds; every change removes or simplifies nodes, so it ends.
  for (bool changed = true; changed;) {
    changed = fold_constants(graph, budget);
    changed |= lower_normalization(graph);
    changed |= lower_image_means(graph);
    changed |= lower_einsum(graph);
    changed |= remove_no_ops(graph);
    changed |= simplify_movement(graph);
    changed |= merge_equal(graph);
    changed |= drop_unused(graph);
    if (!changed) changed = merge_sibling_products(graph, budget);  // looks at who reads what, so when that has settled
  }
}

}  // namespace amdahl

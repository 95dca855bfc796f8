// Families whose operators are all made of others, but for quantized numbers: a file each.

#include "graph/ops/composed.h"

#include "graph/ops/families.h"

namespace amdahl {

std::vector<OpDef> composed_ops() {
  std::vector<OpDef> all;
  for (auto family : {gather_block_quantized_ops, microsoft_attention_ops, grouped_attention_ops, microsoft_products_ops, microsoft_normalization_ops,
                      microsoft_pointwise_ops, signal_ops, grids_ops, deform_conv_ops, rare_ops}) {
    const std::vector<OpDef> rows = family();
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return all;
}

}  // namespace amdahl

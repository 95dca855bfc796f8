#include "graph/ops/families.h"

namespace amdahl {

const std::vector<OpDef>& op_list() {
  static const std::vector<OpDef> list = [] {
    std::vector<OpDef> all;
    for (auto family : {pointwise_ops,    movement_ops,    indexing_ops,  shape_ops,        linear_ops,
                        einsum_ops,       convolution_ops, pooling_ops,   softmax_ops,      normalization_ops,
                        channel_norm_ops, reduction_ops,   attention_ops, rotary_ops,       loss_ops,
                        resize_ops,       grid_sample_ops, region_ops,    quantization_ops, microsoft_quantization_ops,
                        composed_ops,     recurrence_ops}) {
      const std::vector<OpDef> rows = family();
      all.insert(all.end(), rows.begin(), rows.end());
    }
    return all;
  }();
  return list;
}

}  // namespace amdahl

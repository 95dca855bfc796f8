#pragma once
// What the layernorm and rmsnorm kinds share.
//
// in[0 … p-1]: inputs of the prologue (p = 1 without), then the scale and the shift, if there are any, then the extra inputs of the epilogue.
// out[0]: the result; then what is kept, in this order: the input, as the prologue made it (a residual sum that others read), the means, the inverse
// divisors, one of each a row (Accesses over the space with stride 0 along a row). All Accesses over out[0].shape.

#include <optional>
#include <vector>

#include "graph/graph.h"
#include "starter_kernels/kinds/kernel_kind.h"
#include "starter_kernels/kinds/problem.h"

namespace amdahl {

struct NormalizationParams {
  // What a row is divided by: of its elements, layernorm: of their distances from the mean.
  enum class Divisor {
    kRoot,       // sqrt(mean square + epsilon)
    kDeviation,  // sqrt(mean square) + epsilon
    kL1,         // the sum of magnitudes; a row of zeros stays zero
    kL2          // sqrt(sum of squares); a row of zeros stays zero
  };

  int64_t axis = 0;                          // rows are the dimensions from here on, counted from the front …
  std::optional<std::vector<int64_t>> axes;  // … or these alone
  double epsilon = 0;                        // in the unit of what it is added to; the norms ignore it
  Divisor divisor = Divisor::kRoot;
  bool scale = false, shift = false;  // inputs: factors and addends of the result
  bool keep_input = false, keep_mean = false, keep_inverse = false;

  static NormalizationParams of(const Problem& problem);
  void write(Problem& problem) const;
};

Work normalization_work(const Problem& problem);

// LayerNormalization, RMSNormalization and SimplifiedLayerNormalization (rows from the attribute axis on), and the channel
// forms InstanceNormalization and GroupNormalization.
std::optional<Lowering> lower_layer(const Graph& graph, const Node& node);
std::optional<Lowering> lower_channels(const Graph& graph, const Node& node);
// Those without learned rows: MeanVarianceNormalization over any axes, LpNormalization over one.
std::optional<Lowering> lower_mean_variance(const Graph& graph, const Node& node);
std::optional<Lowering> lower_lp(const Graph& graph, const Node& node);

}  // namespace amdahl

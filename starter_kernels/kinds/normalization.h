#pragma once
// What the layernorm and rmsnorm kinds share.
//
// in[0 … p-1]: inputs of the prologue (p = 1 without), then the scale and the shift if params "scale" and "shift" are set,
// then the extra inputs of the epilogue. out[0]: the result; then, if params say so, in this order: "keep_input": what
// the prologue made (a residual sum that others read), "keep_mean", "keep_inverse": the statistics, one of each a row (Accesses over
// the space with stride 0 along a row). All Accesses over out[0].shape; rows are its dimensions from params["axis"] on,
// or those of params["axes"].
//
// A row is divided by the root of its mean square (layernorm: of the distances from the mean) plus params["epsilon"], or by
// params["divisor"]: "deviation", where epsilon is added to the root; "l1", "l2", the norm, where a row of zeros stays zero.

#include "graph/graph.h"
#include "starter_kernels/kinds/kernel_kind.h"
#include "starter_kernels/kinds/problem.h"

namespace amdahl {

Work normalization_work(const Problem& problem);

// LayerNormalization, RMSNormalization and SimplifiedLayerNormalization (rows from the attribute axis on), and the channel
// forms InstanceNormalization and GroupNormalization.
std::optional<Lowering> lower_layer(const Graph& graph, const Node& node);
std::optional<Lowering> lower_channels(const Graph& graph, const Node& node);
// Those without learned rows: MeanVarianceNormalization over any axes, LpNormalization over one.
std::optional<Lowering> lower_mean_variance(const Graph& graph, const Node& node);
std::optional<Lowering> lower_lp(const Graph& graph, const Node& node);

}  // namespace amdahl

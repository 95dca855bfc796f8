#pragma once
// What the layernorm and rmsnorm kinds share.
//
// in[0 … p-1]: inputs of the prologue (p = 1 without), then the scale and the shift if params "scale" and "shift" are set,
// then the extra inputs of the epilogue. out[0]: the result; then, if params say so, in this order: "keep_input": what
// the prologue made (a residual sum that others read), "keep_mean", "keep_inverse": the statistics, one of each a row (Accesses over
// the space with stride 0 along a row). All Accesses over out[0].shape; rows are its dimensions from params["axis"] on.
// params["epsilon"] is added under the root.

#include "starter_kernels/row_space.h"

namespace amdahl {

Work normalization_work(const Problem& problem);
SearchSpace normalization_space(const Problem& problem, const MachineInfo& machine, bool welford);
std::string normalization_source(const Variant& variant, std::string_view body);

// LayerNormalization, RMSNormalization and SimplifiedLayerNormalization (rows from the attribute axis on), and the channel
// forms InstanceNormalization and GroupNormalization.
std::optional<Lowering> lower_layer(const Graph& graph, const Node& node);
std::optional<Lowering> lower_channels(const Graph& graph, const Node& node);

}  // namespace amdahl

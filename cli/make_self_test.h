#pragma once
// Inputs and the outputs that are right for them, for what an export carries.

#include "cli/commands.h"
#include "export/exporter.h"

namespace amdahl {

// |got - want| / |want|, over what is not equal or NaN in both.
double relative_norm(const Tensor& got, const Tensor& want);

// By the float64 interpreter, in the order of graph.outputs.
std::vector<Tensor> reference_outputs(const Graph& graph, const std::vector<Tensor>& inputs);

// Runs the plan on example inputs beside the float64 interpreter. `milliseconds`: median of a run, here and now.
SelfTestCase make_self_test(const Graph& graph, const Plan& plan, const GlobalOptions& global, double* milliseconds);

}  // namespace amdahl

#include "cli/make_self_test.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/statistics.h"
#include "cli/prepare_model.h"
#include "graph/oracle.h"

namespace amdahl {

double relative_norm(const Tensor& got, const Tensor& want) {
  const std::vector<double> g = to_doubles(got), w = to_doubles(want);
  double difference = 0, size = 0;
  for (size_t i = 0; i < g.size(); ++i) {
    if (g[i] == w[i] || (std::isnan(g[i]) && std::isnan(w[i]))) continue;
    difference += (g[i] - w[i]) * (g[i] - w[i]);
    size += w[i] * w[i];
  }
  return size > 0 ? std::sqrt(difference / size) : std::sqrt(difference);
}

std::vector<Tensor> reference_outputs(const Graph& graph, const std::vector<Tensor>& inputs) {
  RefValues given;
  for (size_t i = 0; i < inputs.size(); ++i) given[graph.inputs[i]] = RefTensor::of(inputs[i]);
  std::vector<NodeId> nodes(graph.nodes.size());
  std::iota(nodes.begin(), nodes.end(), 0);
  const RefValues want = evaluate(graph, nodes, given, graph.outputs, false);
  std::vector<Tensor> outputs;
  for (ValueId v : graph.outputs) outputs.push_back(want.at(v).to_tensor());
  return outputs;
}

SelfTestCase make_self_test(const Graph& graph, const Plan& plan, const GlobalOptions& global, double* milliseconds) {
  PreparedModel model(graph, plan, global);
  SelfTestCase test;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    test.inputs.push_back(example_input(graph, graph.inputs[i], 1));
    model.set_input(static_cast<int>(i), test.inputs.back());
  }
  std::vector<double> ms;
  for (int r = 0; r < 7; ++r) {
    double seconds = 0;
    for (double s : model.run_timed()) seconds += s;
    ms.push_back(1e3 * seconds);
  }
  *milliseconds = median(std::move(ms));
  test.expected = reference_outputs(graph, test.inputs);
  for (size_t o = 0; o < graph.outputs.size(); ++o)
    test.relative_norm = std::max(test.relative_norm, relative_norm(model.output(static_cast<int>(o)), test.expected[o]));
  return test;
}

}  // namespace amdahl

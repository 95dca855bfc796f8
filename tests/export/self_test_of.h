#pragma once
// The self-test's case of a graph, from seeded inputs.

#include <numeric>

#include "base/random.h"
#include "export/exporter.h"
#include "graph/oracle.h"

namespace amdahl::testing {

inline SelfTestCase self_test_of(const Graph& graph) {
  SelfTestCase test;
  RefValues given;
  Random random(3);
  for (ValueId id : graph.inputs) {
    const Value& v = graph.value(id);
    if (is_float(v.dtype)) {
      std::vector<double> x(static_cast<size_t>(numel(v.shape)));
      for (double& e : x) e = random.normal();
      test.inputs.push_back(from_doubles(v.dtype, v.shape, x));
    } else {
      test.inputs.push_back(from_ints(v.dtype, v.shape, std::vector<int64_t>(static_cast<size_t>(numel(v.shape)), 1)));
    }
    given[id] = RefTensor::of(test.inputs.back());
  }
  std::vector<NodeId> nodes(graph.nodes.size());
  std::iota(nodes.begin(), nodes.end(), 0);
  const RefValues want = evaluate(graph, nodes, given, graph.outputs, false);
  for (ValueId id : graph.outputs) test.expected.push_back(want.at(id).to_tensor());
  test.relative_norm = 2e-6;  // what a starter plan reaches on these models
  return test;
}

}  // namespace amdahl::testing

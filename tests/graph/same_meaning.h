#pragma once
// Two graphs mean the same when the oracle gives the same outputs, by name, on the same random inputs.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "base/random.h"
#include "graph/oracle.h"

namespace amdahl::testing {

inline RefTensor random_ref(const Value& value, uint64_t seed) {
  Random random(seed);
  RefTensor t;
  t.dtype = value.dtype;
  t.shape = value.shape;
  const auto n = static_cast<size_t>(t.numel());
  for (size_t i = 0; i < n; ++i) {
    if (t.is_float()) t.value.push_back(static_cast<float>(random.normal()));
    else t.ints.push_back(static_cast<int64_t>(random.below(2)));
  }
  return t;
}

// Outputs by name. Inputs are drawn by their position, so that two graphs of one model get the same.
inline std::map<std::string, RefTensor> run(const Graph& graph, uint64_t seed) {
  RefValues given;
  for (size_t i = 0; i < graph.inputs.size(); ++i) given[graph.inputs[i]] = random_ref(graph.value(graph.inputs[i]), seed + i);
  std::vector<NodeId> all(graph.nodes.size());
  std::iota(all.begin(), all.end(), 0);
  const RefValues results = evaluate(graph, all, given, graph.outputs, false);
  std::map<std::string, RefTensor> named;
  for (ValueId v : graph.outputs) named[graph.value(v).name] = results.at(v);
  return named;
}

// `tolerance`: relative to the largest element; 0 asks for equal values.
inline void expect_same_meaning(const Graph& a, const Graph& b, double tolerance = 0) {
  for (uint64_t seed : {1u, 77u}) {
    const auto left = run(a, seed), right = run(b, seed);
    ASSERT_EQ(left.size(), right.size());
    for (const auto& [name, x] : left) {
      ASSERT_TRUE(right.count(name)) << name;
      const RefTensor& y = right.at(name);
      EXPECT_EQ(x.dtype, y.dtype) << name;
      ASSERT_EQ(x.shape, y.shape) << name;
      EXPECT_EQ(x.ints, y.ints) << name;
      double largest = 0, difference = 0;
      for (size_t i = 0; i < x.value.size(); ++i) {
        largest = std::max(largest, std::fabs(x.value[i]));
        difference = std::max(difference, std::fabs(x.value[i] - y.value[i]));
        ASSERT_EQ(std::isnan(x.value[i]), std::isnan(y.value[i])) << name;
      }
      EXPECT_LE(difference, tolerance * largest) << name;
    }
  }
}

}  // namespace amdahl::testing

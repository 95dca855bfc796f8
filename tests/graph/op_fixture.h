#pragma once
// One operator at a time: shape rule and float64 value on given tensors.

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "graph/op.h"

namespace amdahl::test {

inline constexpr double kInf = HUGE_VAL, kNaN = __builtin_nan("");

struct OpRun {
  std::string op;
  int version = 17;
  std::map<std::string, Attribute> attributes;
  size_t outputs = 1;
  std::string domain;
};

// An absent optional input is nullptr. Integer inputs are constants of the graph, so that shape rules can read axes.
inline std::vector<RefTensor> run_op(const OpRun& run, const std::vector<const RefTensor*>& inputs, bool bounds = true) {
  Graph graph;
  Node node{"node", run.domain, run.op, run.version, run.attributes, {}, {}};
  for (const RefTensor* in : inputs) {
    if (!in) node.inputs.push_back(kNoValue);
    else if (in->is_float()) node.inputs.push_back(graph.add_value("x", in->dtype, in->shape));
    else node.inputs.push_back(graph.add_constant("c", in->to_tensor()));
  }
  for (size_t i = 0; i < run.outputs; ++i) node.outputs.push_back(graph.add_value("y", DType::kF32, {}));
  EvalContext context{node, bounds, inputs, {}};
  for (const auto& type : infer_node(graph, node)) {
    RefTensor out;
    out.dtype = type.dtype;
    out.shape = type.shape;
    context.outputs.push_back(std::move(out));
  }
  find_op(run.domain, run.op)->eval(context);
  for (const RefTensor& out : context.outputs) {
    const auto n = static_cast<size_t>(out.numel());
    EXPECT_EQ(out.is_float() ? out.value.size() : out.ints.size(), n) << run.op;
    EXPECT_TRUE(out.bound.size() == n || out.bound.empty()) << run.op;
  }
  return context.outputs;
}

inline RefTensor run_one(const OpRun& run, const std::vector<const RefTensor*>& inputs, bool bounds = true) { return run_op(run, inputs, bounds)[0]; }

inline RefTensor floats(Shape shape, std::vector<double> values) {
  RefTensor t;
  t.shape = std::move(shape);
  t.value = std::move(values);
  return t;
}
inline RefTensor ints(Shape shape, std::vector<int64_t> values) {
  RefTensor t;
  t.dtype = DType::kI64;
  t.shape = std::move(shape);
  t.ints = std::move(values);
  return t;
}
// fp32 numbers, exactly representable, so that a float computation and the oracle see the same inputs.
inline RefTensor random_floats(Shape shape, uint64_t seed, double lo = -1, double hi = 1) {
  Random random(seed);
  RefTensor t;
  t.shape = std::move(shape);
  for (int64_t i = 0; i < t.numel(); ++i) t.value.push_back(static_cast<float>(random.uniform(lo, hi)));
  return t;
}
inline std::vector<float> as_float(const RefTensor& t) { return {t.value.begin(), t.value.end()}; }

inline void expect_values(const RefTensor& t, const std::vector<double>& expected, double tolerance = 1e-12) {
  ASSERT_EQ(t.value.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(t.value[i], expected[i], tolerance) << "element " << i;
}

// Largest |computed - value| / bound; an error where the bound is zero counts as infinite.
inline double worst_ratio(const RefTensor& t, const std::vector<float>& computed) {
  double worst = 0;
  for (size_t i = 0; i < computed.size(); ++i) {
    const double error = std::fabs(static_cast<double>(computed[i]) - t.value[i]);
    if (error > 0) worst = std::max(worst, error / t.bound_at(static_cast<int64_t>(i)));
  }
  return worst;
}

// A plain fp32 loop must lie within the bound, and the bound must not be useless: within 50 times of what the loop shows.
inline void expect_honest(const RefTensor& t, const std::vector<float>& computed) {
  ASSERT_EQ(t.bound.size(), computed.size());
  const double ratio = worst_ratio(t, computed);
  EXPECT_LE(ratio, 1.0);
  EXPECT_GE(ratio, 1.0 / 50);
}

}  // namespace amdahl::test

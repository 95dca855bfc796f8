#include "graph/models/narrowed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "graph/models/builders.h"
#include "graph/oracle.h"

namespace amdahl {
namespace {

int64_t count_of(const Graph& graph, DType dtype) {
  return std::count_if(graph.values.begin(), graph.values.end(), [&](const Value& v) { return v.dtype == dtype; });
}

TEST(NarrowFloats, EveryFloatBecomesTheTypeAndNothingElse) {
  for (const ShippedModel& model : shipped_models()) {
    if (model.name.find("mini") == std::string_view::npos) continue;
    const Graph wide = model.build({});
    for (const DType type : {DType::kF16, DType::kBF16}) {
      Graph narrow = wide;
      narrow_floats(narrow, type);
      EXPECT_EQ(count_of(narrow, DType::kF32), 0) << model.name;
      EXPECT_EQ(count_of(narrow, type), count_of(wide, DType::kF32)) << model.name;
      EXPECT_EQ(count_of(narrow, DType::kI64), count_of(wide, DType::kI64)) << model.name;
      for (const Value& v : narrow.values) {
        if (v.constant) {
          EXPECT_EQ(v.constant->dtype(), v.dtype) << v.name;
        }
      }
    }
  }
}

TEST(NarrowFloats, WeightsAreRoundedToNearestAndCastsFollow) {
  Graph graph;
  const ValueId x = graph.add_value("x", DType::kI64, {2});
  const ValueId w = graph.add_constant("w", Tensor::of<float>(DType::kF32, {2}, {1.0f + 0x1p-12f, -1e9f}));
  const ValueId y = graph.add_value("y", DType::kF32, {2});
  const ValueId z = graph.add_value("z", DType::kF32, {2});
  Node cast, add;
  cast.op = "Cast", cast.inputs = {x}, cast.outputs = {y}, cast.attributes["to"] = int64_t{1};
  add.op = "Add", add.inputs = {y, w}, add.outputs = {z};
  graph.nodes = {cast, add};
  narrow_floats(graph, DType::kF16);
  EXPECT_EQ(to_doubles(*graph.value(w).constant), (std::vector<double>{1, -65504}));
  EXPECT_EQ(std::get<int64_t>(graph.nodes[0].attributes.at("to")), 10);
}

// Masks of the lowest float are none of infinity, which times zero is no number: a model of NaNs agrees with every other.
TEST(NarrowFloats, ModelsStayFinite) {
  for (const ShippedModel& model : shipped_models()) {
    if (model.name.find("mini") == std::string_view::npos) continue;
    for (const char* type : {"fp16", "bf16"}) {
      const Graph graph = build_shipped_model(std::string(model.name) + "@" + type, {}).value();
      RefValues given;
      for (const ValueId v : graph.inputs) {
        std::vector<double> values(static_cast<size_t>(numel(graph.value(v).shape)));
        for (size_t i = 0; i < values.size(); ++i)
          values[i] = is_float(graph.value(v).dtype) ? 0.1 * static_cast<double>(i % 7) - 0.3 : static_cast<double>(i % 2);
        given[v] = RefTensor::of(from_doubles(graph.value(v).dtype, graph.value(v).shape, values));
      }
      std::vector<NodeId> nodes(graph.nodes.size());
      std::iota(nodes.begin(), nodes.end(), 0);
      for (const auto& [v, output] : evaluate(graph, nodes, given, graph.outputs, /*bounds=*/false))
        EXPECT_TRUE(std::all_of(output.value.begin(), output.value.end(), [](double x) { return std::isfinite(x); })) << model.name << ' ' << type;
    }
  }
}

TEST(BuildShippedModel, KnowsTypesByTheirSuffix) {
  EXPECT_TRUE(build_shipped_model("gpt2-mini@fp16", {}));
  EXPECT_EQ(build_shipped_model("gpt2-mini@bf16", {})->value(build_shipped_model("gpt2-mini@bf16", {})->outputs[0]).dtype, DType::kBF16);
  EXPECT_FALSE(build_shipped_model("gpt2-mini@fp8", {}));
  EXPECT_FALSE(build_shipped_model("gpt9@fp16", {}));
}

}  // namespace
}  // namespace amdahl

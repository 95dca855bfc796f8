// The shipped architectures: they build, their FLOPs and parameters are those of the published models, and they compute
// something.

#include "graph/models/builders.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "base/error.h"
#include "base/random.h"
#include "graph/clean_up/clean_up.h"
#include "graph/models/load_model.h"
#include "graph/onnx/onnx_save.h"
#include "graph/op.h"
#include "graph/oracle.h"
#include "tests/graph/same_meaning.h"
#include "tests/graph/temporary_folder.h"

namespace amdahl {
namespace {

// Multiply-adds of MatMul, Gemm and Conv, two operations each.
double gigaflops(const Graph& g) {
  double flops = 0;
  for (const Node& n : g.nodes) {
    if (n.op != "MatMul" && n.op != "Gemm" && n.op != "Conv") continue;
    const Shape &w = g.value(n.inputs[1]).shape, &y = g.value(n.outputs[0]).shape;
    double k = static_cast<double>(n.op == "MatMul" ? w[w.size() - 2] : w[1]);
    if (n.op == "Conv") k *= static_cast<double>(w[2] * w[3]);
    flops += 2.0 * k * static_cast<double>(numel(y));
  }
  return flops / 1e9;
}

double million_parameters(const Graph& g) {
  double n = 0;
  for (const Value& v : g.values)
    if (v.constant && v.name.find("mask") == std::string::npos && v.name.find("rotary") == std::string::npos) n += static_cast<double>(numel(v.shape));
  return n / 1e6;
}

RefValues random_inputs(const Graph& g, uint64_t seed) {
  Random random(seed);
  RefValues given;
  for (ValueId v : g.inputs) {
    RefTensor t;
    t.dtype = g.value(v).dtype;
    t.shape = g.value(v).shape;
    const int64_t limit = g.value(v).name == "input_ids" ? 300 : 2;
    for (int64_t i = 0; i < t.numel(); ++i) {
      if (t.is_float()) t.value.push_back(static_cast<float>(random.normal()));
      else t.ints.push_back(static_cast<int64_t>(random.below(static_cast<uint64_t>(limit))));
    }
    given[v] = std::move(t);
  }
  return given;
}

RefValues run(const Graph& g, uint64_t seed) {
  std::vector<NodeId> all;
  for (size_t n = 0; n < g.nodes.size(); ++n) all.push_back(static_cast<NodeId>(n));
  return evaluate(g, all, random_inputs(g, seed), g.outputs, false);
}

double deviation(const RefTensor& t) {
  double mean = 0, square = 0;
  const auto n = static_cast<double>(t.value.size());
  for (double v : t.value) mean += v / n, square += v * v / n;
  return std::sqrt(square - mean * mean);
}

struct Published {
  const char* name;
  double gflop, parameters;
};

class PublishedSizes : public ::testing::TestWithParam<Published> {};

TEST_P(PublishedSizes, FlopsAndParametersMatch) {
  const Graph g = find_shipped_model(GetParam().name)->build({});
  EXPECT_NEAR(gigaflops(g), GetParam().gflop, 0.02 * GetParam().gflop);
  EXPECT_NEAR(million_parameters(g), GetParam().parameters, 0.005 * GetParam().parameters);
}

INSTANTIATE_TEST_SUITE_P(Models, PublishedSizes,
                         ::testing::Values(Published{"gpt2", 32.2, 124.4}, Published{"bert-base", 22.4, 109.5}, Published{"llama-160m", 35.9, 162.4},
                                           Published{"resnet50", 8.2, 25.53}, Published{"mobilenet-v2", 0.6, 3.49}, Published{"vit-b16", 35.1, 86.57}),
                         [](const auto& info) {
                           std::string name = info.param.name;
                           for (char& c : name)
                             if (c == '-') c = '_';
                           return name;
                         });

class EveryMini : public ::testing::TestWithParam<ShippedModel> {};

TEST_P(EveryMini, IsSmallAndWellFormed) {
  const Graph g = GetParam().build({});
  EXPECT_LT(million_parameters(g), 0.25);
  std::set<std::string> nodes, values;
  for (const Node& n : g.nodes) EXPECT_TRUE(nodes.insert(n.name).second) << n.name;
  for (const Value& v : g.values) EXPECT_TRUE(values.insert(v.name).second) << v.name;
  const Uses uses = uses_of(g);
  for (size_t v = 0; v < g.values.size(); ++v) {
    const bool is_output = std::find(g.outputs.begin(), g.outputs.end(), static_cast<ValueId>(v)) != g.outputs.end();
    EXPECT_TRUE(is_output || !uses.consumers[v].empty()) << "nobody reads " << g.values[v].name;
  }
  EXPECT_EQ(fingerprint(g), fingerprint(GetParam().build({})));
}

TEST_P(EveryMini, ComputesFiniteOutputsThatDependOnTheInput) {
  const Graph g = GetParam().build({});
  const RefValues a = run(g, 1), b = run(g, 2);
  for (ValueId v : g.outputs) {
    const RefTensor &x = a.at(v), &y = b.at(v);
    for (double value : x.value) ASSERT_TRUE(std::isfinite(value));
    EXPECT_GT(deviation(x), 0.05) << g.value(v).name;
    EXPECT_LT(deviation(x), 20.0) << g.value(v).name;
    RefTensor difference = x;
    for (size_t i = 0; i < x.value.size(); ++i) difference.value[i] -= y.value[i];
    EXPECT_GT(deviation(difference), 0.02) << g.value(v).name;
  }
}

TEST_P(EveryMini, SavedFileIsTheSameModel) {
  const testing::TemporaryFolder dir;
  const Graph g = GetParam().build({});
  save_onnx(g, dir / "model.onnx", true);
  LoadOptions as_it_is;
  as_it_is.clean = false;
  EXPECT_EQ(fingerprint(load_model(dir / "model.onnx", as_it_is)), fingerprint(g));
  EXPECT_EQ(fingerprint(load_model(dir / "model.onnx", {})), fingerprint(load_model("builtin:" + std::string(GetParam().name), {})));
}

TEST_P(EveryMini, CleanUpKeepsTheMeaning) {
  Graph clean = GetParam().build({});
  clean_up(clean);
  testing::expect_same_meaning(GetParam().build({}), clean, 1e-12);
}

TEST_P(EveryMini, BatchSizeIsFree) {
  const Graph one = GetParam().build({}), two = GetParam().build({2, 0, 0});
  for (size_t i = 0; i < one.outputs.size(); ++i) {
    Shape expected = one.value(one.outputs[i]).shape;
    expected[0] = 2;
    EXPECT_EQ(two.value(two.outputs[i]).shape, expected);
  }
  EXPECT_NEAR(gigaflops(two), 2 * gigaflops(one), 1e-9);
}

std::vector<ShippedModel> minis() {
  std::vector<ShippedModel> list;
  for (const ShippedModel& b : shipped_models())
    if (b.name.ends_with("-mini")) list.push_back(b);
  return list;
}

INSTANTIATE_TEST_SUITE_P(Builders, EveryMini, ::testing::ValuesIn(minis()), [](const auto& info) {
  std::string name(info.param.name);
  for (char& c : name)
    if (c == '-') c = '_';
  return name;
});

TEST(Builders, EveryArchitectureHasAMini) { EXPECT_EQ(2 * minis().size(), shipped_models().size()); }

TEST(Builders, LaterTokensDoNotReachEarlierLogits) {
  for (const char* name : {"gpt2-mini", "llama-mini"}) {
    const Graph g = find_shipped_model(name)->build({});
    std::vector<NodeId> all;
    for (size_t n = 0; n < g.nodes.size(); ++n) all.push_back(static_cast<NodeId>(n));
    RefValues given = random_inputs(g, 1);
    const RefTensor before = evaluate(g, all, given, g.outputs, false).at(g.outputs[0]);
    int64_t& last = given.begin()->second.ints.back();
    last = (last + 1) % 300;
    const RefTensor after = evaluate(g, all, given, g.outputs, false).at(g.outputs[0]);
    const size_t row = static_cast<size_t>(before.shape[2]), earlier = before.value.size() - row;
    for (size_t i = 0; i < earlier; ++i) ASSERT_EQ(before.value[i], after.value[i]) << name;
    EXPECT_NE(before.value[earlier], after.value[earlier]) << name;
  }
}

RefValues evaluate_all(const Graph& g, const RefValues& given) {
  std::vector<NodeId> all;
  for (size_t n = 0; n < g.nodes.size(); ++n) all.push_back(static_cast<NodeId>(n));
  return evaluate(g, all, given, g.outputs, false);
}

// [1, heads, tokens, head] of what as many steps gave, [1, heads, 1, head] each.
RefTensor one_behind_another(const std::vector<RefTensor>& steps) {
  RefTensor all = steps[0];
  all.shape[2] = static_cast<int64_t>(steps.size());
  all.value.clear();
  const auto head = static_cast<ptrdiff_t>(all.shape[3]);
  for (ptrdiff_t h = 0; h < all.shape[1]; ++h)
    for (const RefTensor& step : steps) all.value.insert(all.value.end(), step.value.begin() + h * head, step.value.begin() + (h + 1) * head);
  return all;
}

// Token by token, each behind the keys and values that the steps before it gave.
TEST(Builders, DecodeStepsGiveTheLogitsOfTheWhole) {
  for (const auto& [model, decode] : {std::pair{"gpt2-mini", "gpt2-decode-mini"}, {"llama-mini", "llama-decode-mini"}}) {
    const int64_t tokens = 4;
    const Graph whole = find_shipped_model(model)->build({0, tokens, 0});
    const RefValues ids = random_inputs(whole, 1);
    const RefTensor logits = evaluate_all(whole, ids).at(whole.outputs[0]);
    std::map<std::string, std::vector<RefTensor>> past;  // by what stands behind "past." and "new."
    for (int64_t t = 0; t < tokens; ++t) {
      const Graph step = find_shipped_model(decode)->build({0, t + 1, 0});
      RefValues given;
      for (ValueId v : step.inputs) {
        const std::string& name = step.value(v).name;
        if (name == "input_ids") {
          given[v] = ids.at(whole.inputs[0]);
          given[v].shape = {1, 1};
          given[v].ints = {ids.at(whole.inputs[0]).ints[static_cast<size_t>(t)]};
        } else {
          given[v] = one_behind_another(past.at(name.substr(5)));
        }
        EXPECT_EQ(given[v].shape, step.value(v).shape) << name;
      }
      const RefValues got = evaluate_all(step, given);
      for (ValueId v : step.outputs)
        if (const std::string& name = step.value(v).name; name.starts_with("new.")) past[name.substr(4)].push_back(got.at(v));
      const std::vector<double>& row = got.at(step.outputs[0]).value;
      for (size_t i = 0; i < row.size(); ++i) ASSERT_NEAR(row[i], logits.value[static_cast<size_t>(t) * row.size() + i], 1e-9) << decode << " token " << t;
    }
  }
}

TEST(Builders, SizesOutOfRangeAreUsageErrors) {
  const auto code = [](const char* name, BuilderSizes sizes) {
    try {
      find_shipped_model(name)->build(sizes);
    } catch (const Error& e) {
      return e.code();
    }
    return ExitCode::kOk;
  };
  EXPECT_EQ(code("gpt2-mini", {0, 65, 0}), ExitCode::kUsage);
  EXPECT_EQ(code("gpt2-mini", {0, 64, 0}), ExitCode::kOk);
  EXPECT_EQ(code("gpt2-mini", {0, 0, 32}), ExitCode::kUsage);
  EXPECT_EQ(code("vit-mini", {0, 0, 36}), ExitCode::kUsage);
  EXPECT_EQ(code("resnet50-mini", {-1, 0, 0}), ExitCode::kUsage);
}

}  // namespace
}  // namespace amdahl

// Movement, indexing and resizing: what ONNX's own cases (onnx_conformance_test.cc) do not reach: bounds travel with their
// elements, older and newer opsets, and decisions between uncertain values.

#include <gtest/gtest.h>

#include "base/error.h"
#include "graph/oracle.h"
#include "tests/graph/op_fixture.h"

namespace amdahl {
namespace {

using test::floats;
using test::ints;
using test::run_one;
using test::run_op;
using Ints = std::vector<int64_t>;
using Doubles = std::vector<double>;

// 0, 1, 2, … with bounds 0, 0.01, 0.02, …: an element that lost its bound shows.
RefTensor counted(Shape shape) {
  RefTensor t = floats(shape, {});
  for (int64_t i = 0; i < t.numel(); ++i) {
    t.value.push_back(static_cast<double>(i));
    t.bound.push_back(0.01 * static_cast<double>(i));
  }
  return t;
}

void expect_bounds_travel(const RefTensor& t) {
  ASSERT_EQ(t.bound.size(), t.value.size());
  for (size_t i = 0; i < t.value.size(); ++i) EXPECT_DOUBLE_EQ(t.bound[i], 0.01 * t.value[i]);
}

TEST(Movement, CarriesBounds) {
  const RefTensor x = counted({2, 3, 4});
  const RefTensor shape = ints({2}, {4, -1}), axes = ints({1}, {0}), target = ints({4}, {2, 2, 3, 4}), repeats = ints({3}, {2, 1, 3});
  const RefTensor indices = ints({2}, {2, -3}), starts = ints({1}, {-1}), ends = ints({1}, {-100}), steps = ints({1}, {-2});
  for (const RefTensor& out : {
           run_one({"Reshape"}, {&x, &shape}),
           run_one({"Unsqueeze"}, {&x, &axes}),
           run_one({"Transpose", 17, {{"perm", Ints{2, 0, 1}}}}, {&x}),
           run_one({"Expand"}, {&x, &target}),
           run_one({"Tile"}, {&x, &repeats}),
           run_one({"Concat", 17, {{"axis", int64_t{1}}}}, {&x, &x}),
           run_one({"Gather", 17, {{"axis", int64_t{1}}}}, {&x, &indices}),
           run_one({"Slice"}, {&x, &starts, &ends, &axes, &steps}),
           run_one({"Identity"}, {&x}),
       })
    expect_bounds_travel(out);
}

TEST(Movement, ConcatOfExactAndUncertainIsBoth) {
  const RefTensor a = floats({2}, {7, 8}), b = counted({2});
  EXPECT_EQ(run_one({"Concat", 17, {{"axis", int64_t{0}}}}, {&a, &b}).bound, (Doubles{0, 0, 0, 0.01}));
}

TEST(Reshape, ZeroCopiesUnlessAllowed) {
  const RefTensor x = floats({2, 0, 3}, {}), shape = ints({3}, {3, 0, -1});
  EXPECT_THROW(run_one({"Reshape", 17, {{"allowzero", int64_t{1}}}}, {&x, &shape}).shape, Refusal);
  const RefTensor y = floats({2, 3}, {1, 2, 3, 4, 5, 6}), copy = ints({2}, {0, -1}), wrong = ints({2}, {4, 2});
  EXPECT_EQ(run_one({"Reshape"}, {&y, &copy}).shape, (Shape{2, 3}));
  EXPECT_THROW(run_one({"Reshape"}, {&y, &wrong}), Refusal);
}

TEST(Squeeze, AxesAreAnAttributeBeforeOpset13) {
  const RefTensor x = floats({1, 2, 1}, {1, 2}), axes = ints({1}, {-1});
  EXPECT_EQ(run_one({"Squeeze", 11, {{"axes", Ints{0}}}}, {&x}).shape, (Shape{2, 1}));
  EXPECT_EQ(run_one({"Squeeze", 13}, {&x, &axes}).shape, (Shape{1, 2}));
  EXPECT_EQ(run_one({"Squeeze", 13}, {&x}).shape, (Shape{2}));
  EXPECT_EQ(run_one({"Unsqueeze", 11, {{"axes", Ints{0, -1}}}}, {&x}).shape, (Shape{1, 1, 2, 1, 1}));
}

TEST(Split, LastOfUnevenPartsIsSmallerFromOpset18) {
  const RefTensor x = counted({5});
  const auto parts = run_op({"Split", 18, {{"num_outputs", int64_t{2}}}, 2}, {&x});
  EXPECT_EQ(parts[0].value, (Doubles{0, 1, 2}));
  EXPECT_EQ(parts[1].value, (Doubles{3, 4}));
  expect_bounds_travel(parts[1]);
  EXPECT_THROW(run_op({"Split", 13, {}, 2}, {&x}), Refusal);
  const auto old = run_op({"Split", 11, {{"split", Ints{1, 4}}}, 2}, {&x});
  EXPECT_EQ(old[1].value, (Doubles{1, 2, 3, 4}));
}

TEST(Slice, AttributesBeforeOpset10) {
  const RefTensor x = counted({2, 4});
  const RefTensor out = run_one({"Slice", 9, {{"starts", Ints{1}}, {"ends", Ints{-1}}, {"axes", Ints{1}}}}, {&x});
  EXPECT_EQ(out.value, (Doubles{1, 2, 5, 6}));
}

TEST(Slice, HugeStepsAndEndsDoNotOverflow) {
  const RefTensor x = counted({4}), starts = ints({1}, {1}), ends = ints({1}, {INT64_MAX}), axes = ints({1}, {0});
  const RefTensor step = ints({1}, {INT64_MAX}), back_start = ints({1}, {INT64_MAX}), back_end = ints({1}, {INT64_MIN});
  const RefTensor back = ints({1}, {-1});
  EXPECT_EQ(run_one({"Slice"}, {&x, &starts, &ends, &axes, &step}).value, (Doubles{1}));
  EXPECT_EQ(run_one({"Slice"}, {&x, &back_start, &back_end, &axes, &back}).value, (Doubles{3, 2, 1, 0}));
}

TEST(Slice, BackwardsFromBeforeTheFirstElementTakesTheFirst) {
  const RefTensor x = counted({3}), starts = ints({1}, {-5}), ends = ints({1}, {INT64_MIN}), axes = ints({1}, {0}), back = ints({1}, {-2});
  EXPECT_EQ(run_one({"Slice"}, {&x, &starts, &ends, &axes, &back}).value, (Doubles{0}));
  const RefTensor none = counted({0});
  EXPECT_EQ(run_one({"Slice"}, {&none, &starts, &ends, &axes, &back}).shape, (Shape{0}));
}

TEST(Pad, EveryMode) {
  const RefTensor x = counted({3}), pads = ints({2}, {2, 3});
  const auto padded = [&](const char* mode) { return run_one({"Pad", 19, {{"mode", std::string(mode)}}}, {&x, &pads}); };
  EXPECT_EQ(padded("constant").value, (Doubles{0, 0, 0, 1, 2, 0, 0, 0}));
  EXPECT_EQ(padded("edge").value, (Doubles{0, 0, 0, 1, 2, 2, 2, 2}));
  EXPECT_EQ(padded("reflect").value, (Doubles{2, 1, 0, 1, 2, 1, 0, 1}));
  EXPECT_EQ(padded("wrap").value, (Doubles{1, 2, 0, 1, 2, 0, 1, 2}));
  expect_bounds_travel(padded("reflect"));
  const RefTensor crop = ints({2}, {-1, 1}), fill = floats({}, {9});
  EXPECT_EQ(run_one({"Pad", 13}, {&x, &crop, &fill}).value, (Doubles{1, 2, 9}));
  EXPECT_EQ(run_one({"Pad", 9, {{"pads", Ints{1, 0}}, {"value", 5.0}}}, {&x}).value, (Doubles{5, 0, 1, 2}));
}

TEST(Pad, AxesFromOpset18) {
  const RefTensor x = counted({1, 2}), pads = ints({2}, {1, 0}), axes = ints({1}, {-1});
  const RefTensor out = run_one({"Pad", 18}, {&x, &pads, nullptr, &axes});
  EXPECT_EQ(out.shape, (Shape{1, 3}));
  EXPECT_EQ(out.value, (Doubles{0, 0, 1}));
}

TEST(Gather, IndexOutOfRangeIsAnErrorOfTheInput) {
  const RefTensor x = counted({3}), index = ints({1}, {3});
  EXPECT_THROW(run_one({"Gather"}, {&x, &index}), Error);
}

TEST(Gather, UncertainIndexPicksAnything) {
  const RefTensor x = floats({3}, {1, 2, 3});
  RefTensor index = ints({2}, {0, 2});
  index.bound = {HUGE_VAL, 0};
  EXPECT_EQ(run_one({"Gather"}, {&x, &index}).bound, (Doubles{HUGE_VAL, 0}));
}

TEST(Scatter, SumsCarryBoundsAndRounding) {
  const RefTensor x = floats({2}, {1, 1}), index = ints({2}, {0, 0});
  RefTensor updates = floats({2}, {2, 3});
  updates.bound = {0.1, 0.2};
  const RefTensor out = run_one({"ScatterElements", 18, {{"reduction", std::string("add")}}}, {&x, &index, &updates});
  EXPECT_EQ(out.value, (Doubles{6, 1}));
  EXPECT_NEAR(out.bound[0], 0.3, 1e-5);
  EXPECT_GT(out.bound[0], 0.3);
  EXPECT_EQ(out.bound[1], 0);
}

TEST(Ranking, CloseValuesMakeIndicesUncertain) {
  RefTensor x = floats({4}, {1, 5, 3, 4.999});
  x.bound.assign(4, 0.01);
  const RefTensor k = ints({1}, {3});
  const auto top = run_op({"TopK", 11, {}, 2}, {&x, &k});
  EXPECT_EQ(top[0].value, (Doubles{5, 4.999, 3}));
  EXPECT_EQ(top[1].ints, (Ints{1, 3, 2}));
  EXPECT_EQ(top[0].bound, (Doubles{0.01, 0.01, 0.01}));
  EXPECT_EQ(top[1].bound, (Doubles{HUGE_VAL, HUGE_VAL, 0}));
  EXPECT_EQ(run_one({"ArgMax"}, {&x}).bound, (Doubles{HUGE_VAL}));
  EXPECT_EQ(run_one({"ArgMin"}, {&x}).bound, (Doubles{0}));
}

// The value that just missed may change places with the last one in.
TEST(Ranking, LastPlaceIsUncertainToo) {
  RefTensor x = floats({3}, {1, 2, 1.999});
  x.bound.assign(3, 0.01);
  const RefTensor k = ints({1}, {1});
  EXPECT_EQ(run_op({"TopK", 11, {}, 2}, {&x, &k})[1].bound, (Doubles{HUGE_VAL}));
}

TEST(Ranking, ExactTiesTakeTheFirstOrTheLast) {
  const RefTensor x = floats({4}, {2, 7, 7, 1});
  EXPECT_EQ(run_one({"ArgMax"}, {&x}).ints, (Ints{1}));
  EXPECT_EQ(run_one({"ArgMax", 13, {{"select_last_index", int64_t{1}}}}, {&x}).ints, (Ints{2}));
  const RefTensor nan = floats({3}, {1, std::nan(""), 9});
  EXPECT_EQ(run_one({"ArgMax"}, {&nan}).ints, (Ints{1}));
}

TEST(CumSum, Fp32LoopLiesWithinTheBound) {
  const RefTensor x = test::random_floats({4, 1000}, 9), axis = ints({}, {1});
  const RefTensor out = run_one({"CumSum", 14}, {&x, &axis});
  std::vector<float> computed;
  for (size_t r = 0; r < 4; ++r) {
    float sum = 0;
    for (size_t i = 0; i < 1000; ++i) computed.push_back(sum += static_cast<float>(x.value[r * 1000 + i]));
  }
  EXPECT_LE(test::worst_ratio(out, computed), 1.0);
}

TEST(Range, CountsAsOnnxDoes) {
  Graph graph;
  const auto range = [&](std::vector<int64_t> v) {
    const RefTensor a = ints({}, {v[0]}), b = ints({}, {v[1]}), c = ints({}, {v[2]});
    return run_one({"Range"}, {&a, &b, &c}).ints;
  };
  EXPECT_EQ(range({3, 9, 3}), (Ints{3, 6}));
  EXPECT_EQ(range({10, 4, -2}), (Ints{10, 8, 6}));
  EXPECT_EQ(range({5, 5, 1}), (Ints{}));
}

TEST(Compress, ConditionMustBeConstant) {
  const RefTensor x = counted({3}), uncertain = floats({3}, {1, 0, 1});
  RefTensor condition = ints({3}, {1, 0, 1});
  condition.dtype = DType::kBool;
  EXPECT_EQ(run_one({"Compress"}, {&x, &condition}).value, (Doubles{0, 2}));
  EXPECT_THROW(run_one({"Compress"}, {&x, &uncertain}), Refusal);
  EXPECT_THROW(run_one({"NonZero"}, {&x}), Refusal);
}

// ---- Resize. Float inputs are no constants in the fixture, hence sizes instead of scales.

RefTensor resized(const RefTensor& x, Ints sizes, std::map<std::string, Attribute> attributes, int version = 19) {
  const RefTensor target = ints({static_cast<int64_t>(sizes.size())}, sizes);
  return run_one({"Resize", version, std::move(attributes)}, {&x, nullptr, nullptr, &target});
}

TEST(Resize, LinearWeightsTheBoundsOfTheInput) {
  const RefTensor x = counted({1, 1, 3});
  const RefTensor out = resized(x, {1, 1, 5}, {{"mode", std::string("linear")}, {"coordinate_transformation_mode", std::string("align_corners")}});
  EXPECT_EQ(out.value, (Doubles{0, 0.5, 1, 1.5, 2}));
  for (size_t i = 0; i < 5; ++i) EXPECT_NEAR(out.bound[i], 0.01 * out.value[i], 1e-5);
}

TEST(Resize, KeepsTheAspectRatio) {
  const RefTensor x = counted({1, 1, 2, 4});
  const auto shape = [&](const char* policy) { return resized(x, {7, 8}, {{"axes", Ints{2, 3}}, {"keep_aspect_ratio_policy", std::string(policy)}}).shape; };
  EXPECT_EQ(shape("stretch"), (Shape{1, 1, 7, 8}));
  EXPECT_EQ(shape("not_larger"), (Shape{1, 1, 4, 8}));
  EXPECT_EQ(shape("not_smaller"), (Shape{1, 1, 7, 14}));
}

TEST(Resize, NearestTiesFollowTheMode) {
  const RefTensor x = counted({4});
  const auto pick = [&](const char* mode) {
    return resized(x, {2}, {{"nearest_mode", std::string(mode)}}).value;  // positions 0.5 and 2.5
  };
  EXPECT_EQ(pick("round_prefer_floor"), (Doubles{0, 2}));
  EXPECT_EQ(pick("round_prefer_ceil"), (Doubles{1, 3}));
  EXPECT_EQ(pick("floor"), (Doubles{0, 2}));
  EXPECT_EQ(pick("ceil"), (Doubles{1, 3}));
}

// Positions of sizes are quotients of integers, and so are these, which are rounded without a fraction: 35 * 18 / 42 is 15.
TEST(Resize, NearestBySizesIsExact) {
  const auto floored = [](int64_t a, int64_t b) { return a >= 0 ? a / b : -((b - 1 - a) / b); };
  for (int64_t in = 1; in <= 40; ++in)
    for (int64_t out = 1; out <= 40; ++out) {
      RefTensor x = floats({in}, {});
      for (int64_t i = 0; i < in; ++i) x.value.push_back(static_cast<double>(i));
      const RefTensor target = ints({1}, {out});
      const auto expect = [&](const char* coordinates, const char* rounding, auto at) {
        const RefTensor y = run_one({"Resize", 18, {{"coordinate_transformation_mode", std::string(coordinates)}, {"nearest_mode", std::string(rounding)}}},
                                    {&x, nullptr, nullptr, &target});
        for (int64_t o = 0; o < out; ++o)
          ASSERT_EQ(y.value[static_cast<size_t>(o)], static_cast<double>(std::clamp<int64_t>(at(o), 0, in - 1)))
              << in << " to " << out << ", " << o << ": " << coordinates << " " << rounding;
      };
      expect("asymmetric", "floor", [&](int64_t o) { return floored(o * in, out); });
      expect("asymmetric", "ceil", [&](int64_t o) { return -floored(-o * in, out); });
      expect("half_pixel", "floor", [&](int64_t o) { return floored((2 * o + 1) * in - out, 2 * out); });
      expect("half_pixel", "round_prefer_floor", [&](int64_t o) { return -floored(2 * out - (2 * o + 1) * in, 2 * out); });
      expect("half_pixel_symmetric", "round_prefer_ceil", [&](int64_t o) { return floored((2 * o + 1) * in, 2 * out); });
      expect("pytorch_half_pixel", "ceil", [&](int64_t o) { return out == 1 ? 0 : -floored(out - (2 * o + 1) * in, 2 * out); });
      expect("align_corners", "floor", [&](int64_t o) { return out == 1 ? 0 : o * (in - 1) / (out - 1); });
      expect("align_corners", "round_prefer_ceil", [&](int64_t o) { return out == 1 ? 0 : (2 * o * (in - 1) + out - 1) / (2 * (out - 1)); });
    }
}

// The quotient is that of the side that is kept: 7 of 5 is 1.4, and 1.4 * 10 is 14.
TEST(Resize, TheCommonScaleOfSizesIsExact) {
  RefTensor x = floats({5, 10}, {});
  for (int64_t i = 0; i < 50; ++i) x.value.push_back(static_cast<double>(i % 10));
  const RefTensor target = ints({2}, {7, 50});
  const RefTensor y = run_one({"Resize",
                               18,
                               {{"keep_aspect_ratio_policy", std::string("not_larger")},
                                {"coordinate_transformation_mode", std::string("asymmetric")},
                                {"nearest_mode", std::string("floor")}}},
                              {&x, nullptr, nullptr, &target});
  ASSERT_EQ(y.shape, (Shape{7, 14}));
  for (int64_t o = 0; o < 14; ++o) EXPECT_EQ(y.value[static_cast<size_t>(o)], static_cast<double>(o * 5 / 7)) << o;
}

TEST(Resize, CubicFp32LiesWithinTheBound) {
  const RefTensor x = test::random_floats({1, 1, 6, 6}, 11);
  const RefTensor out = resized(x, {1, 1, 13, 13}, {{"mode", std::string("cubic")}});
  const auto weights = [](float t, float* w) {
    const float a = -0.75f;
    for (int k = 0; k < 4; ++k) {
      const float d = std::fabs(t - static_cast<float>(k - 1));
      w[k] = d < 1 ? ((a + 2) * d - (a + 3)) * d * d + 1 : a * (((d - 5) * d + 8) * d - 4);
    }
  };
  std::vector<float> computed;
  for (int i = 0; i < 13; ++i)
    for (int j = 0; j < 13; ++j) {
      const double y = (i + 0.5) * 6 / 13 - 0.5, z = (j + 0.5) * 6 / 13 - 0.5;
      float wy[4], wx[4], sum = 0;
      weights(static_cast<float>(y - std::floor(y)), wy);
      weights(static_cast<float>(z - std::floor(z)), wx);
      for (int a = 0; a < 4; ++a)
        for (int b = 0; b < 4; ++b) {
          const int r = std::clamp(static_cast<int>(std::floor(y)) + a - 1, 0, 5), c = std::clamp(static_cast<int>(std::floor(z)) + b - 1, 0, 5);
          sum += wy[a] * wx[b] * static_cast<float>(x.value[static_cast<size_t>(r * 6 + c)]);
        }
      computed.push_back(sum);
    }
  EXPECT_LE(test::worst_ratio(out, computed), 1.0);
}

TEST(Resize, WhatLiesOutsideOfABoolIsABool) {
  RefTensor x = ints({2}, {0, 0});
  x.dtype = DType::kBool;
  const RefTensor region = floats({2}, {-1, 0.5}), sizes = ints({1}, {2});
  const test::OpRun run{"Resize", 18, {{"coordinate_transformation_mode", std::string("tf_crop_and_resize")}, {"extrapolation_value", -10.0}}};
  Graph graph;
  Node node{
      "node",
      "",
      run.op,
      run.version,
      run.attributes,
      {graph.add_constant("x", x.to_tensor()), graph.add_constant("region", region.to_tensor()), kNoValue, graph.add_constant("sizes", sizes.to_tensor())},
      {0}};
  EvalContext c{node, false, {&x, &region, nullptr, &sizes}, {x}};
  c.outputs[0].ints.clear();
  find_op("", "Resize")->eval(c);
  EXPECT_EQ(c.outputs[0].ints, (std::vector<int64_t>{1, 0}));
}

TEST(Resize, AntialiasIsRefused) {
  const RefTensor x = counted({4});
  EXPECT_THROW(resized(x, {2}, {{"antialias", int64_t{1}}, {"mode", std::string("linear")}}), Refusal);
}

// ---- The interpreter itself.

TEST(Interpreter, AWindowIsGivenWhatItReadsAndSaysWhatIsMissing) {
  Graph graph;
  const ValueId x = graph.add_value("x", DType::kF32, {2}), y = graph.add_value("y", DType::kF32, {2});
  const ValueId z = graph.add_value("z", DType::kF32, {2}), one = graph.add_constant("one", Tensor::of<float>(DType::kF32, {}, {1}));
  graph.nodes.push_back({"add", "", "Add", 17, {}, {x, one}, {y}});
  graph.nodes.push_back({"mul", "", "Mul", 17, {}, {y, y}, {z}});
  graph.inputs = {x};
  graph.outputs = {z};
  const RefTensor in = floats({2}, {1, 2});
  EXPECT_EQ(evaluate(graph, {0, 1}, {{x, in}}, {z, y, one}, false).at(z).value, (Doubles{4, 9}));
  EXPECT_EQ(evaluate(graph, {1}, {{y, in}}, {z}, true).at(z).value, (Doubles{1, 4}));
  EXPECT_THROW(evaluate(graph, {1}, {}, {z}, false), Error);
}

TEST(Interpreter, EvaluatesANodeWhoseShapeDependsOnItsTensors) {
  const Tensor data = Tensor::of<float>(DType::kF32, {3}, {0, 5, 7});
  Graph graph;
  const Node node{"nonzero", "", "NonZero", 13, {}, {graph.add_value("x", DType::kF32, {3})}, {graph.add_value("y", DType::kI64, {1, 2})}};
  const auto out = evaluate_node(graph, node, {&data});
  EXPECT_EQ(out[0].shape(), (Shape{1, 2}));
  EXPECT_EQ(to_ints(out[0]), (Ints{1, 2}));
}

}  // namespace
}  // namespace amdahl

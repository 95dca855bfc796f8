// What a file says of quantized numbers becomes sums of bytes: which nodes the graph has then, and that they mean the same as floats would.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/random.h"
#include "graph/onnx/onnx_load.h"
#include "graph/oracle.h"
#include "tests/graph/model_maker.h"

namespace amdahl {
namespace {

using testing::ModelMaker;
using Bytes = std::vector<int64_t>;

Bytes random_bytes(int64_t n, int64_t least, uint64_t seed) {
  Random random(seed);
  Bytes all(static_cast<size_t>(n));
  for (int64_t& b : all) b = static_cast<int64_t>(random.below(256)) + least;
  return all;
}

void constant(ModelMaker& m, const std::string& name, DType type, const Shape& shape, const Bytes& values) {
  const Tensor t = from_ints(type, shape, values);
  auto& proto = m.initializer(name, shape, {});
  proto.set_data_type(type == DType::kU8 ? onnx::TensorProto::UINT8 : type == DType::kI8 ? onnx::TensorProto::INT8 : onnx::TensorProto::INT32);
  proto.set_raw_data(std::string(reinterpret_cast<const char*>(t.data()), t.bytes()));
}

std::map<std::string, int> operators(const Graph& graph) {
  std::map<std::string, int> count;
  for (const Node& node : graph.nodes) ++count[node.op];
  return count;
}

std::vector<double> output_of(const Graph& graph, const std::vector<Tensor>& inputs) {
  std::vector<NodeId> nodes(graph.nodes.size());
  std::iota(nodes.begin(), nodes.end(), 0);
  RefValues given;
  for (size_t i = 0; i < inputs.size(); ++i) given[graph.inputs[i]] = RefTensor::of(inputs[i]);
  const RefValues values = evaluate(graph, nodes, given, {graph.outputs[0]}, false);
  const RefTensor& y = values.at(graph.outputs[0]);
  return y.is_float() ? y.value : std::vector<double>(y.ints.begin(), y.ints.end());
}

std::vector<double> output_of(const Graph& graph, const Tensor& input) { return output_of(graph, std::vector<Tensor>{input}); }

// DequantizeLinear of an input of bytes before `op` with weights of bytes; the floats of both by hand.
struct Quantized {
  DType type, weight_type;
  int64_t zero, weight_zero;
  bool by_channel;
};

ModelMaker quantized_product(const Quantized& q, const Bytes& weights) {
  ModelMaker m(17);
  const bool is_signed = q.type == DType::kI8;
  m.input("x", {"6", "20"}, is_signed ? onnx::TensorProto::INT8 : onnx::TensorProto::UINT8).output("y");
  m.initializer("xs", {}, {0.02f});
  constant(m, "xz", q.type, {}, {q.zero});
  constant(m, "w", q.weight_type, {20, 16}, weights);
  std::vector<float> scales(q.by_channel ? 16 : 1, 0.01f);
  for (size_t i = 0; i < scales.size(); ++i) scales[i] *= 1 + static_cast<float>(i);
  m.initializer("ws", q.by_channel ? Shape{16} : Shape{}, scales);
  constant(m, "wz", q.weight_type, q.by_channel ? Shape{16} : Shape{}, Bytes(scales.size(), q.weight_zero));
  m.node("DequantizeLinear", {"x", "xs", "xz"}, {"xf"});
  auto& of_weights = m.node("DequantizeLinear", {"w", "ws", "wz"}, {"wf"});
  testing::set_int(of_weights, "axis", 1);
  m.node("MatMul", {"xf", "wf"}, {"y"});
  return m;
}

TEST(IntegerProducts, OfDequantizedMatricesAreSumsOfBytesTimesBothScales) {
  for (const Quantized& q :
       {Quantized{DType::kU8, DType::kI8, 0, 0, true}, Quantized{DType::kU8, DType::kI8, 131, 0, false}, Quantized{DType::kI8, DType::kI8, -7, 0, true},
        Quantized{DType::kU8, DType::kU8, 3, 128, false}, Quantized{DType::kI8, DType::kU8, 5, 90, true}}) {
    const Bytes weights = random_bytes(20 * 16, q.weight_type == DType::kI8 ? -128 : 0, 3), x = random_bytes(6 * 20, q.type == DType::kI8 ? -128 : 0, 4);
    const Graph graph = loaded(quantized_product(q, weights));
    EXPECT_EQ(operators(graph)["MatMulInteger"], 1);
    EXPECT_EQ(operators(graph)["MatMul"], 0);
    const std::vector<double> y = output_of(graph, from_ints(q.type, {6, 20}, x));
    for (int64_t m = 0; m < 6; ++m)
      for (int64_t n = 0; n < 16; ++n) {
        double sum = 0;
        for (int64_t k = 0; k < 20; ++k)
          sum += static_cast<double>((x[static_cast<size_t>(m * 20 + k)] - q.zero) * (weights[static_cast<size_t>(k * 16 + n)] - q.weight_zero));
        const double scale =
            static_cast<double>(0.02f) * (q.by_channel ? static_cast<double>(0.01f * (1 + static_cast<float>(n))) : static_cast<double>(0.01f));
        EXPECT_NEAR(y[static_cast<size_t>(m * 16 + n)], sum * scale, 1e-6 * std::fabs(sum * scale) + 1e-9) << m << " " << n;
      }
  }
}

// As queries and keys are; of floats they would be one product (clean_up_siblings.cc).
TEST(IntegerProducts, OfTheSameRowsStayApart) {
  ModelMaker m(17);
  m.input("x", {"6", "20"}, onnx::TensorProto::UINT8);
  m.initializer("scale", {}, {0.02f});
  constant(m, "zero", DType::kU8, {}, {100});
  constant(m, "none", DType::kI8, {}, {0});
  m.node("DequantizeLinear", {"x", "scale", "zero"}, {"floats"});
  for (const std::string y : {"q", "k"}) {
    constant(m, y + ".bytes", DType::kI8, {20, 16}, random_bytes(20 * 16, -128, y == "q" ? 3 : 4));
    m.node("DequantizeLinear", {y + ".bytes", "scale", "none"}, {y + ".weight"});
    m.node("MatMul", {"floats", y + ".weight"}, {y});
    m.node("Transpose", {y}, {y + ".moved"});
    m.node("Neg", {y + ".moved"}, {"y." + y});
    m.output("y." + y);
  }
  std::map<std::string, int> count = operators(loaded(m));
  EXPECT_EQ(count["MatMulInteger"], 2);
  EXPECT_EQ(count["MatMul"], 0);
  EXPECT_EQ(count["Split"], 0);
}

ModelMaker quantized_convolution(DType type, int64_t zero, const std::string& auto_pad) {
  ModelMaker m(17);
  m.input("x", {"1", "4", "5", "6"}, type == DType::kI8 ? onnx::TensorProto::INT8 : onnx::TensorProto::UINT8).output("y");
  m.initializer("xs", {}, {0.02f}), m.initializer("ws", {}, {0.5f}), m.initializer("ys", {}, {1.0f});
  constant(m, "xz", type, {}, {zero});
  constant(m, "wz", DType::kI8, {}, {0});
  constant(m, "yz", DType::kU8, {}, {100});
  constant(m, "w", DType::kI8, {3, 4, 3, 3}, random_bytes(3 * 4 * 9, -128, 5));
  m.node("DequantizeLinear", {"x", "xs", "xz"}, {"xf"});
  m.node("DequantizeLinear", {"w", "ws", "wz"}, {"wf"});
  auto& conv = m.node("Conv", {"xf", "wf"}, {"c"});
  if (auto_pad.empty()) testing::set_ints(conv, "pads", {1, 1, 0, 2});
  else testing::set_string(conv, "auto_pad", auto_pad);
  m.node("QuantizeLinear", {"c", "ys", "yz"}, {"y"});
  return m;
}

// The padding stands for 0, which is the zero point: bytes of it, or weights that lie inside.
TEST(IntegerProducts, PaddingOfAConvolutionIsItsZeroPoint) {
  const Bytes w = random_bytes(3 * 4 * 9, -128, 5);
  for (const auto& [type, zero] : {std::pair{DType::kU8, int64_t{0}}, {DType::kU8, int64_t{77}}, {DType::kI8, int64_t{-128}}, {DType::kI8, int64_t{9}}})
    for (const std::string auto_pad : {"", "SAME_UPPER"}) {
      const Bytes x = random_bytes(4 * 5 * 6, type == DType::kI8 ? -128 : 0, 6);
      const Graph graph = loaded(quantized_convolution(type, zero, auto_pad));
      EXPECT_EQ(operators(graph)["ConvInteger"], 1);
      EXPECT_EQ(operators(graph)["Conv"], 0);
      const std::vector<double> y = output_of(graph, from_ints(type, {1, 4, 5, 6}, x));
      const int64_t top = 1, left = 1, rows = auto_pad.empty() ? 4 : 5, columns = auto_pad.empty() ? 7 : 6;
      ASSERT_EQ(y.size(), static_cast<size_t>(3 * rows * columns));
      for (int64_t o = 0; o < 3; ++o)
        for (int64_t i = 0; i < rows; ++i)
          for (int64_t j = 0; j < columns; ++j) {
            double sum = 0;
            for (int64_t c = 0; c < 4; ++c)
              for (int64_t kh = 0; kh < 3; ++kh)
                for (int64_t kw = 0; kw < 3; ++kw) {
                  const int64_t h = i + kh - top, v = j + kw - left;
                  if (h < 0 || h >= 5 || v < 0 || v >= 6) continue;
                  sum += static_cast<double>((x[static_cast<size_t>((c * 5 + h) * 6 + v)] - zero) * w[static_cast<size_t>(((o * 4 + c) * 3 + kh) * 3 + kw)]);
                }
            const double want = std::clamp(std::nearbyint(sum * static_cast<double>(0.02f) * 0.5) + 100, 0.0, 255.0);
            EXPECT_NEAR(y[static_cast<size_t>((o * rows + i) * columns + j)], want, 0.001) << o << " " << i << " " << j;
          }
    }
}

// Weights whose zero point leaves them no room in i8, as quantizers of unsigned weights write them: their zero point times what the window holds is taken away. x's own
// is an input: what lies in the padding is not known when the graph is made.
TEST(IntegerProducts, WeightsAroundAZeroPointOfTheirOwn) {
  const Bytes x = random_bytes(4 * 5 * 6, 0, 16), w = random_bytes(4 * 4 * 9, 0, 15);
  for (const int64_t group : {1, 4})
    for (const bool by_channel : {false, true})
      for (const bool known : {false, true}) {
        const int64_t channels = 4 / group, x_zero = 77;
        const Bytes w_zero = by_channel ? Bytes{0, 100, 130, 255} : Bytes{90};
        ModelMaker m(17);
        m.input("x", {"1", "4", "5", "6"}, onnx::TensorProto::UINT8).output("y");
        if (known) constant(m, "xz", DType::kU8, {}, {x_zero});
        else m.input("xz", {}, onnx::TensorProto::UINT8);
        constant(m, "w", DType::kU8, {4, channels, 3, 3}, {w.begin(), w.begin() + 4 * channels * 9});
        constant(m, "wz", DType::kU8, by_channel ? Shape{4} : Shape{}, w_zero);
        auto& conv = m.node("ConvInteger", {"x", "w", "xz", "wz"}, {"y"});
        testing::set_ints(conv, "pads", {1, 1, 0, 2});
        testing::set_int(conv, "group", group);
        const Graph graph = loaded(m);
        EXPECT_EQ(operators(graph)["ConvInteger"], 2) << "one of the weights, one of ones";
        EXPECT_EQ(operators(graph)["Conv"], 0);
        std::vector<Tensor> inputs{from_ints(DType::kU8, {1, 4, 5, 6}, x)};
        if (!known) inputs.push_back(from_ints(DType::kU8, {}, {x_zero}));
        const std::vector<double> y = output_of(graph, inputs);
        ASSERT_EQ(y.size(), size_t{4 * 4 * 7});
        for (int64_t o = 0; o < 4; ++o)
          for (int64_t i = 0; i < 4; ++i)
            for (int64_t j = 0; j < 7; ++j) {
              int64_t sum = 0;
              for (int64_t c = 0; c < channels; ++c)
                for (int64_t kh = 0; kh < 3; ++kh)
                  for (int64_t kw = 0; kw < 3; ++kw) {
                    const int64_t h = i + kh - 1, v = j + kw - 1, from = group == 1 ? c : o;
                    if (h < 0 || h >= 5 || v < 0 || v >= 6) continue;
                    sum += (x[static_cast<size_t>((from * 5 + h) * 6 + v)] - x_zero) *
                           (w[static_cast<size_t>(((o * channels + c) * 3 + kh) * 3 + kw)] - w_zero[by_channel ? static_cast<size_t>(o) : 0]);
                  }
              EXPECT_EQ(y[static_cast<size_t>((o * 4 + i) * 7 + j)], static_cast<double>(sum))
                  << group << by_channel << known << ": " << o << " " << i << " " << j;
            }
      }
}

// Weights of a few hundred bytes become floats when something reads these, once however often they are dequantized.
TEST(IntegerProducts, FloatsOfWeightsAreMadeForThoseWhoReadThem) {
  ModelMaker m(17);
  m.input("x", {"4", "20"}).output("y");
  m.initializer("s", {}, {0.5f});
  constant(m, "w", DType::kI8, {20, 16}, random_bytes(20 * 16, -128, 7));
  m.node("DequantizeLinear", {"w", "s"}, {"a"});
  m.node("DequantizeLinear", {"w", "s"}, {"b"});
  m.node("MatMul", {"x", "a"}, {"p"});
  m.node("MatMul", {"x", "b"}, {"q"});
  m.node("Add", {"p", "q"}, {"y"});
  const Graph graph = loaded(m);
  EXPECT_EQ(operators(graph)["MatMul"], 1);  // the same twice
  EXPECT_EQ(operators(graph)["DequantizeLinear"], 0);
  const Bytes w = random_bytes(20 * 16, -128, 7);
  const std::vector<double> y = output_of(graph, from_doubles(DType::kF32, {4, 20}, std::vector<double>(80, 1.0)));
  double sum = 0;
  for (int64_t k = 0; k < 20; ++k) sum += static_cast<double>(w[static_cast<size_t>(k * 16)]) * 0.5;
  EXPECT_NEAR(y[0], 2 * sum, 1e-9);
}

TEST(IntegerProducts, WhatOnlyMovesBytesLeavesThemBytes) {
  ModelMaker m(17);
  m.input("x", {"1", "2", "4", "4"}, onnx::TensorProto::UINT8).output("y");
  m.initializer("s", {}, {0.03f});
  constant(m, "z", DType::kU8, {}, {12});
  m.node("DequantizeLinear", {"x", "s", "z"}, {"f"});
  auto& pool = m.node("MaxPool", {"f"}, {"p"});
  testing::set_ints(pool, "kernel_shape", {2, 2});
  testing::set_ints(pool, "strides", {2, 2});
  m.node("Transpose", {"p"}, {"t"});
  m.node("QuantizeLinear", {"t", "s", "z"}, {"y"});
  const std::map<std::string, int> count = operators(loaded(m));
  EXPECT_EQ(count, (std::map<std::string, int>{{"MaxPool", 1}, {"Transpose", 1}}));
}

// Another scale is another quantization.
TEST(IntegerProducts, ANewScaleIsANewQuantization) {
  ModelMaker m(17);
  m.input("x", {"3", "5"}, onnx::TensorProto::UINT8).output("y");
  m.initializer("s", {}, {0.03f}), m.initializer("t", {}, {0.04f});
  m.node("DequantizeLinear", {"x", "s"}, {"f"});
  m.node("QuantizeLinear", {"f", "t"}, {"y"});
  const Graph graph = loaded(m);
  EXPECT_EQ(operators(graph)["QuantizeLinear"], 1);
  EXPECT_EQ(output_of(graph, from_ints(DType::kU8, {3, 5}, Bytes(15, 100)))[0], 75);
}

}  // namespace
}  // namespace amdahl

#pragma once
// Problems over channels last, which no node lowers to: small graphs, and their problems with other formats.

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "starter_kernels/examples/example_graph.h"
#include "starter_kernels/kinds/conv.h"
#include "starter_kernels/kinds/formats.h"
#include "starter_kernels/kinds/kernel_kind.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/pointwise.h"
#include "starter_kernels/kinds/target.h"
#include "tests/starter_kernels/convolutions_last.h"

namespace amdahl::testing {

inline Attribute numbers(std::vector<int64_t> n) { return Attribute(std::move(n)); }

// A depthwise convolution with a bias, then an activation ("Clip", "HardSwish"), a "residual" or nothing.
inline Graph depthwise(DType type, const Shape& x, int64_t multiplier, int64_t taps, int64_t stride, int64_t pad, const std::string& then = "",
                       int64_t dilation = 1) {
  const int64_t channels = x[1] * multiplier;
  ExampleGraph g(fmt::format("{} channels times {}, {} taps, stride {}, {} apart, {}", x[1], multiplier, taps, stride, dilation, then), 22);
  const ExampleGraph::Attributes window{
      {"group", x[1]}, {"strides", numbers({stride, stride})}, {"pads", numbers({pad, pad, pad, pad})}, {"dilations", numbers({dilation, dilation})}};
  const ValueId image = g.input(type, x);
  const ValueId y = g.node("Conv", {image, g.normal({channels, 1, taps, taps}, 3, 0, 1, type), g.normal({channels}, 4, 0, 1, type)}, window);
  if (then.empty()) return g.finish({y});
  if (then == "residual") return g.finish({g.node("Add", {y, image})});
  if (then == "Clip") return g.finish({g.node("Clip", {y, g.floats({}, {0}, type), g.floats({}, {6}, type)})});
  return g.finish({g.node(then, {y})});
}

inline std::vector<Graph> depthwise_graphs() {
  return {
      depthwise(DType::kF16, {1, 32, 9, 11}, 1, 3, 1, 1, "Clip"),
      depthwise(DType::kF16, {2, 24, 10, 7}, 1, 3, 2, 1, "HardSwish"),
      depthwise(DType::kF16, {2, 12, 7, 7}, 1, 3, 1, 1, "residual"),
      depthwise(DType::kBF16, {1, 9, 8, 6}, 1, 3, 1, 1, "residual"),
      depthwise(DType::kF16, {1, 16, 13, 12}, 1, 5, 1, 2, "residual"),
      depthwise(DType::kBF16, {1, 8, 12, 15}, 1, 5, 2, 2, "Clip"),
      depthwise(DType::kF16, {1, 16, 12, 12}, 2, 3, 1, 1),
      depthwise(DType::kF16, {1, 8, 6, 9}, 3, 3, 2, 1),
      depthwise(DType::kF16, {1, 4, 7, 6}, 16, 3, 1, 0, "Clip"),
      depthwise(DType::kF16, {1, 16, 11, 12}, 1, 3, 1, 2, "residual", 2),
      depthwise(DType::kF16, {1, 16, 16, 18}, 1, 2, 4, 0),
      depthwise(DType::kF32, {1, 8, 3, 3}, 1, 7, 1, 3),
  };
}

inline Graph pooling(const std::string& op, DType type, const Shape& x, ExampleGraph::Attributes attributes) {
  ExampleGraph g(fmt::format("{} of {} channels", op, x[1]));
  return g.finish({g.node(op, {g.input(type, x)}, std::move(attributes))});
}

inline std::vector<Graph> pool_graphs() {
  const Attribute three = numbers({3, 3}), two = numbers({2, 2}), ones = numbers({1, 1, 1, 1});
  return {
      pooling("MaxPool", DType::kF16, {1, 64, 14, 12}, {{"kernel_shape", three}, {"strides", two}, {"pads", ones}}),
      pooling("MaxPool", DType::kF16, {1, 12, 5, 23}, {{"kernel_shape", numbers({2, 11})}, {"dilations", numbers({1, 2})}}),
      pooling("MaxPool", DType::kU8, {1, 16, 8, 9}, {{"kernel_shape", two}}),
      pooling("AveragePool", DType::kF16, {2, 24, 9, 9}, {{"kernel_shape", three}, {"pads", ones}}),
      pooling("AveragePool", DType::kF16, {1, 9, 8, 8}, {{"kernel_shape", three}, {"pads", ones}, {"strides", two}, {"count_include_pad", int64_t{1}}}),
      pooling("GlobalAveragePool", DType::kF16, {2, 2048, 7, 7}, {}),
      pooling("GlobalAveragePool", DType::kF16, {1, 40, 33, 35}, {}),
      pooling("GlobalMaxPool", DType::kF16, {2, 12, 9, 5}, {}),
  };
}

// Operands of every element, by channel, by image and channel, by pixel, and one number.
inline std::vector<Graph> pointwise_graphs() {
  std::vector<Graph> graphs;
  for (const auto& [type, x] : {std::pair{DType::kF16, Shape{2, 24, 5, 7}}, {DType::kBF16, Shape{3, 9, 4, 4}}, {DType::kF32, Shape{1, 16, 3, 5}}})
    for (const Shape& other : {x, Shape{x[1], 1, 1}, Shape{x[0], x[1], 1, 1}, Shape{1, 1, x[2], x[3]}, Shape{}}) {
      ExampleGraph g(fmt::format("{} channels times {} numbers", x[1], numel(other)));
      graphs.push_back(g.finish({g.node("Mul", {g.input(type, x), g.input(type, other)})}));
    }
  ExampleGraph g("normalised");
  const ValueId x = g.input({2, 8, 5, 3});
  graphs.push_back(g.finish({g.node("BatchNormalization", {x, g.normal({8}, 1), g.normal({8}, 2), g.normal({8}, 3), g.normal({8}, 4, 3, 0.1)})}));
  return graphs;
}

// Those that a card of compute capability 8.0 has a form of; with windows that are copied as boxes, as 9.0 can, more.
inline std::vector<Graph> conv_graphs(const Target& target) {
  std::vector<Graph> graphs = depthwise_graphs();
  for (Graph& graph : convolutions_of_images()) graphs.push_back(std::move(graph));
  const std::vector<std::string>& architectures = target.device.features;
  if (std::count(architectures.begin(), architectures.end(), "sm_90a"))
    for (Graph& graph : convolutions_of_windows()) graphs.push_back(std::move(graph));
  return graphs;
}

inline std::vector<Graph> graphs_channels_last(std::string_view kind, const Target& target) {
  if (kind == kind::kConv) return conv_graphs(target);
  if (kind == kind::kPool) return pool_graphs();
  if (kind == kind::kPointwise) return pointwise_graphs();
  return {};
}

// An image of few channels: its convolution reads it row-major.
inline bool is_image(const Problem& problem) { return problem.kind == kind::kConv && problem.in[0].shape[1] < 8 && ConvParams::of(problem).group == 1; }

// What is read or written in full, weights, other constants and images apart, has its channels last. `plain_output`: the result is row-major.
inline std::optional<Problem> on_channels_last(Problem problem, bool plain_output = false) {
  const Shape& shape = problem.out[0].shape;
  if (shape.size() < 3) return std::nullopt;
  const size_t own = problem.kind == kind::kConv ? 2 : problem.kind == kind::kPool ? 1 : 0;  // in[0] is the image, of another shape
  std::vector<std::string> in, out(problem.out.size(), plain_output ? "" : std::string(kChannelsLast));
  for (size_t i = 0; i < problem.in.size(); ++i) {
    const Access& a = problem.in[i];
    const bool full = i < own ? i == 0 && !is_image(problem) : a.is_dense() && a.shape == shape && !a.constant;
    in.emplace_back(full ? kChannelsLast : "");
  }
  set_formats(problem, in, out);
  return problem;
}

inline Problem reorder_problem(DType type, const Shape& shape, const std::string& from, const std::string& to) {
  Problem problem;
  problem.kind = kind::kReorder;
  problem.in = problem.out = {Access::dense(type, shape)};
  set_formats(problem, {from}, {to});
  return problem;
}

// A graph's first node, of this kind, with those behind it, which are pointwise, in its epilogue.
inline Problem fused(const KernelKind& kind, const Graph& graph) {
  Problem whole = kind.lower(graph, graph.nodes.at(0), 1).value().variant.problem;
  for (size_t n = 1; n < graph.nodes.size(); ++n) {
    const Problem part = kernel_kind(kind::kPointwise).lower(graph, graph.nodes[n], 1).value().variant.problem;
    set_epilogue(whole, compose(PointwiseParams::of(part).program, 0, epilogue_of(whole).value()));
    whole.in.insert(whole.in.end(), part.in.begin() + 1, part.in.end());
  }
  return whole;
}

// Of a kind: the card has a form of each.
inline std::vector<Problem> problems_channels_last(std::string_view kind, const Target& target) {
  const std::string last(kChannelsLast);
  if (kind == kind::kReorder)
    return {reorder_problem(DType::kF16, {2, 24, 5, 7}, "", last), reorder_problem(DType::kF16, {1, 9, 4, 6}, last, ""),
            reorder_problem(DType::kU8, {1, 16, 8, 9}, "", last), reorder_problem(DType::kF32, {1, 37, 12, 3}, last, "")};
  std::vector<Problem> problems;
  for (const Graph& graph : graphs_channels_last(kind, target))
    if (const auto problem = on_channels_last(fused(kernel_kind(kind), graph))) problems.push_back(*problem);
  return problems;
}

}  // namespace amdahl::testing

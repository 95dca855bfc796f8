#include "starter_kernels/examples/conv_examples.h"

#include "base/random.h"
#include "graph/op.h"
#include "starter_kernels/examples/example_graph.h"

namespace amdahl {
namespace {

using Ints = std::vector<int64_t>;

struct Form {
  const char* name;
  Shape x, w;  // w empty: pooling
  Ints strides, pads, dilations;
  int64_t group = 1;
  bool bias = true;
  const char* op = "Conv";
  Ints kernel = {};  // pooling
  std::map<std::string, Attribute> more = {};
  DType dtype = DType::kF32;
  bool weight_is_input = false;
};

Tensor random_tensor(DType dtype, const Shape& shape, uint64_t seed) {
  Random random(seed);
  std::vector<double> values(static_cast<size_t>(numel(shape)));
  for (double& v : values) v = random.normal();
  return from_doubles(dtype, shape, values);
}

Graph graph_of(const Form& form) {
  Graph graph;
  graph.name = form.name;
  Node node;
  node.name = form.name;
  node.op = form.op;
  node.version = 17;
  node.attributes = form.more;
  if (!form.strides.empty()) node.attributes["strides"] = form.strides;
  if (!form.pads.empty()) node.attributes["pads"] = form.pads;
  if (!form.dilations.empty()) node.attributes["dilations"] = form.dilations;
  if (!form.kernel.empty()) node.attributes["kernel_shape"] = form.kernel;
  graph.inputs.push_back(graph.add_value("x", form.dtype, form.x));
  node.inputs.push_back(graph.inputs[0]);
  if (!form.w.empty()) {
    node.attributes["group"] = form.group;
    const Tensor w = random_tensor(form.dtype, form.w, 7);
    if (form.weight_is_input) graph.inputs.push_back(graph.add_value("w", form.dtype, form.w));
    node.inputs.push_back(form.weight_is_input ? graph.inputs.back() : graph.add_constant("w", w));
    const int64_t channels = node.op == "ConvTranspose" ? form.w[1] * form.group : form.w[0];
    if (form.bias) node.inputs.push_back(graph.add_constant("b", random_tensor(form.dtype, {channels}, 11)));
  }
  const auto outputs = infer_node(graph, [&] {
    Node typed = node;
    typed.outputs = {0};
    return typed;
  }());
  node.outputs = {graph.add_value("y", outputs[0].dtype, outputs[0].shape)};
  graph.outputs = node.outputs;
  graph.nodes.push_back(node);
  return graph;
}

std::vector<Graph> graphs_of(const std::vector<Form>& forms) {
  std::vector<Graph> graphs;
  for (const Form& form : forms) graphs.push_back(graph_of(form));
  return graphs;
}

}  // namespace

// As a quantized network has them: sums in float, and rounded again.
Graph convolution_of_bytes(const char* name, Shape x, Shape w, ExampleGraph::Attributes attributes, bool quantized) {
  ExampleGraph g(name, 21);
  const ValueId sums = g.node("ConvInteger", {g.input(DType::kU8, std::move(x)), g.bytes(w, 3)}, std::move(attributes));
  if (!quantized) return g.finish({sums});
  Shape per_channel(w.size(), 1);
  per_channel[1] = w[0];
  const ValueId floats = g.node("Mul", {g.node("Cast", {sums}, {{"to", int64_t{1}}}), g.normal(per_channel, 5, 0, 0.001)});
  const ValueId biased = g.node("Relu", {g.node("Add", {floats, g.normal(per_channel, 6)})});
  return g.finish({g.node("QuantizeLinear", {biased, g.floats({}, {0.02}), g.ints({}, {3}, DType::kU8)})});
}

std::vector<Graph> conv_examples() {
  std::vector<Graph> all = graphs_of({
      {"conv_3x3", {1, 27, 14, 14}, {21, 27, 3, 3}, {1, 1}, {1, 1, 1, 1}, {}},
      {"conv_3x3_ragged", {2, 18, 9, 11}, {35, 18, 3, 3}, {1, 1}, {1, 0, 1, 2}, {}},
      {"conv_1x1", {1, 67, 7, 7}, {40, 67, 1, 1}, {}, {}, {}},
      {"conv_1x1_strided", {2, 16, 9, 9}, {24, 16, 1, 1}, {2, 2}, {}, {}},
      {"conv_7x7_strided_image", {1, 3, 33, 31}, {16, 3, 7, 7}, {2, 2}, {3, 3, 3, 3}, {}},
      {"conv_uneven_pads", {1, 5, 11, 8}, {7, 5, 3, 2}, {2, 1}, {0, 2, 1, 0}, {}, 1, false},
      {"conv_dilated", {1, 6, 13, 17}, {8, 6, 3, 3}, {1, 1}, {2, 2, 2, 2}, {2, 2}},
      {"conv_dilated_strided", {1, 4, 17, 19}, {5, 4, 3, 3}, {2, 3}, {1, 2, 1, 2}, {3, 2}},
      {"conv_grouped", {2, 12, 10, 9}, {18, 4, 3, 3}, {1, 1}, {1, 1, 1, 1}, {}, 3},
      {"conv_groups_of_whole_blocks", {1, 32, 6, 7}, {32, 16, 3, 3}, {1, 1}, {1, 1, 1, 1}, {}, 2},
      {"conv_kernel_over_input", {1, 9, 3, 3}, {4, 9, 5, 5}, {1, 1}, {2, 2, 2, 2}, {}},
      {"conv_stride_over_kernel", {1, 3, 16, 16}, {10, 3, 2, 2}, {4, 4}, {}, {}},
      {"conv_same_lower", {1, 8, 7, 10}, {8, 8, 4, 4}, {2, 2}, {}, {}, 1, true, "Conv", {}, {{"auto_pad", std::string("SAME_LOWER")}}},
      {"conv_weight_given", {1, 10, 8, 8}, {9, 10, 3, 3}, {}, {1, 1, 1, 1}, {}, 1, true, "Conv", {}, {}, DType::kF32, true},
      {"conv_1d", {2, 6, 37}, {10, 6, 5}, {2}, {2, 1}, {}},
      {"conv_3d", {1, 4, 6, 7, 8}, {5, 4, 3, 2, 3}, {1, 2, 1}, {1, 0, 1, 1, 1, 1}, {}},
      {"conv_f64", {1, 3, 6, 6}, {4, 3, 3, 3}, {}, {1, 1, 1, 1}, {}, 1, true, "Conv", {}, {}, DType::kF64},
      {"depthwise_3x3", {1, 9, 14, 14}, {9, 1, 3, 3}, {1, 1}, {1, 1, 1, 1}, {}, 9},
      {"depthwise_3x3_wide", {1, 3, 11, 56}, {3, 1, 3, 3}, {1, 1}, {1, 1, 1, 1}, {}, 3},
      {"depthwise_3x3_strided", {2, 5, 15, 14}, {5, 1, 3, 3}, {2, 2}, {1, 1, 1, 1}, {}, 5, false},
      {"depthwise_two_blocks", {2, 19, 7, 14}, {19, 1, 3, 3}, {1, 2}, {1, 1, 1, 1}, {}, 19},
      {"depthwise_strided_wide", {1, 2, 9, 131}, {2, 1, 3, 3}, {2, 2}, {0, 0, 1, 1}, {}, 2},
      {"depthwise_multiplier", {1, 4, 8, 8}, {8, 1, 5, 5}, {1, 1}, {2, 2, 2, 2}, {}, 4},
      {"depthwise_dilated", {1, 6, 20, 20}, {6, 1, 3, 3}, {1, 1}, {2, 2, 2, 2}, {2, 2}, 6},
      {"depthwise_1d", {1, 7, 40}, {7, 1, 4}, {1}, {3, 0}, {}, 7},
      {"transposed_2x2", {1, 6, 5, 7}, {6, 4, 2, 2}, {2, 2}, {}, {}, 1, true, "ConvTranspose"},
      {"transposed_grouped", {1, 6, 5, 5}, {6, 2, 3, 3}, {2, 2}, {1, 1, 1, 1}, {}, 3, true, "ConvTranspose", {}, {{"output_padding", Ints{1, 1}}}},
      // An odd element of padding, at the start unless auto_pad is SAME_UPPER.
      {"transposed_to_a_shape", {1, 3, 5, 4}, {3, 2, 3, 4}, {2, 2}, {}, {}, 1, true, "ConvTranspose", {}, {{"output_shape", Ints{10, 7}}}},
      {"transposed_to_a_shape_same_upper",
       {1, 3, 5, 4},
       {3, 2, 3, 4},
       {2, 2},
       {},
       {},
       1,
       true,
       "ConvTranspose",
       {},
       {{"output_shape", Ints{10, 7}}, {"auto_pad", std::string("SAME_UPPER")}}},
      {"transposed_same_lower_1d", {2, 4, 7}, {4, 3, 4}, {3}, {}, {}, 1, true, "ConvTranspose", {}, {{"auto_pad", std::string("SAME_LOWER")}}},
      {"transposed_dilated", {1, 3, 6, 6}, {3, 2, 3, 3}, {1, 1}, {}, {2, 2}, 1, false, "ConvTranspose"},
      {"transposed_strided_dilated", {2, 5, 6, 11}, {5, 9, 3, 4}, {3, 2}, {1, 2, 0, 1}, {2, 3}, 1, true, "ConvTranspose"},
      {"transposed_stride_over_kernel", {1, 7, 5, 6}, {7, 3, 2, 1}, {3, 2}, {}, {}, 1, true, "ConvTranspose", {}, {{"output_padding", Ints{1, 0}}}},
      {"transposed_many_channels", {1, 40, 9, 13}, {40, 21, 3, 3}, {2, 2}, {1, 1, 1, 1}, {}, 1, true, "ConvTranspose"},
      {"transposed_3d", {1, 6, 4, 5, 6}, {6, 8, 3, 2, 3}, {2, 1, 2}, {1, 0, 1, 0, 1, 1}, {}, 2, true, "ConvTranspose"},
      {"transposed_cropped", {1, 4, 6, 30}, {4, 5, 3, 3}, {1, 1}, {2, 3, 3, 4}, {}, 1, true, "ConvTranspose"},
      {"transposed_weight_given", {1, 6, 5, 7}, {6, 2, 3, 2}, {2, 2}, {1, 0, 0, 1}, {}, 3, true, "ConvTranspose", {}, {}, DType::kF32, true},
  });
  using Attributes = ExampleGraph::Attributes;
  const Attribute ones = Ints{1, 1, 1, 1}, twos = Ints{2, 2}, threes = Ints{3, 3, 3, 3};
  all.push_back(convolution_of_bytes("conv_bytes_3x3", {1, 27, 14, 14}, {21, 27, 3, 3}, Attributes{{"pads", ones}}, false));
  all.push_back(convolution_of_bytes("conv_bytes_1x1", {2, 64, 7, 7}, {40, 64, 1, 1}, {}, true));
  all.push_back(convolution_of_bytes("conv_bytes_1x1_strided", {1, 16, 9, 9}, {24, 16, 1, 1}, Attributes{{"strides", twos}}, false));
  all.push_back(convolution_of_bytes("conv_bytes_7x7_strided_image", {1, 3, 33, 31}, {16, 3, 7, 7}, Attributes{{"strides", twos}, {"pads", threes}}, true));
  all.push_back(convolution_of_bytes("conv_bytes_wide", {1, 8, 20, 61}, {19, 8, 3, 3}, Attributes{{"pads", ones}, {"dilations", twos}}, false));
  all.push_back(convolution_of_bytes("conv_bytes_grouped", {2, 12, 10, 9}, {18, 4, 3, 3}, Attributes{{"pads", ones}, {"group", int64_t{3}}}, true));
  all.push_back(convolution_of_bytes("conv_bytes_depthwise", {2, 9, 14, 15}, {9, 1, 3, 3}, Attributes{{"pads", ones}, {"group", int64_t{9}}}, true));
  all.push_back(convolution_of_bytes("conv_bytes_depthwise_strided", {1, 5, 33, 40}, {10, 1, 3, 5},
                                     Attributes{{"strides", twos}, {"pads", ones}, {"group", int64_t{5}}}, false));
  all.push_back(convolution_of_bytes("conv_bytes_1d", {2, 6, 37}, {10, 6, 5}, Attributes{{"strides", Ints{2}}, {"pads", Ints{2, 1}}}, false));
  all.push_back(
      convolution_of_bytes("conv_bytes_3d", {1, 4, 6, 7, 8}, {5, 4, 3, 2, 3}, Attributes{{"strides", Ints{1, 2, 1}}, {"pads", Ints{1, 0, 1, 1, 1, 1}}}, false));
  return all;
}

namespace {

// A maximum keeps NaN, which random inputs do not hold.
Graph max_of_nan() {
  ExampleGraph g("max_nan");
  const Shape shape{1, 3, 9, 20};
  std::vector<double> values(static_cast<size_t>(numel(shape)), -0.5);
  values[values.size() / 2] = __builtin_nan("");
  return g.finish({g.node("MaxPool", {g.floats(shape, values)}, {{"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}})});
}

}  // namespace

std::vector<Graph> pool_examples() {
  std::vector<Graph> all = graphs_of({
      {"max_3x3_strided", {1, 5, 17, 16}, {}, {2, 2}, {1, 1, 1, 1}, {}, 1, false, "MaxPool", {3, 3}},
      {"max_ceil", {2, 3, 10, 11}, {}, {2, 2}, {}, {}, 1, false, "MaxPool", {3, 3}, {{"ceil_mode", int64_t{1}}}},
      {"max_dilated", {1, 4, 14, 13}, {}, {1, 1}, {}, {2, 2}, 1, false, "MaxPool", {3, 2}},
      {"max_dilated_pads", {1, 2, 9, 8}, {}, {1, 1}, {1, 1, 1, 1}, {2, 3}, 1, false, "MaxPool", {2, 2}},
      {"max_same_upper", {1, 3, 9, 9}, {}, {2, 2}, {}, {}, 1, false, "MaxPool", {2, 2}, {{"auto_pad", std::string("SAME_UPPER")}}},
      {"max_1d", {2, 3, 40}, {}, {1}, {1, 1}, {}, 1, false, "MaxPool", {3}},
      {"max_3d", {1, 2, 6, 7, 5}, {}, {2, 1, 2}, {1, 0, 1, 0, 1, 0}, {}, 1, false, "MaxPool", {2, 2, 2}},
      {"average_2x2", {1, 4, 8, 9}, {}, {2, 2}, {}, {}, 1, false, "AveragePool", {2, 2}},
      {"average_pads_left_out", {1, 3, 7, 7}, {}, {1, 1}, {1, 1, 1, 1}, {}, 1, false, "AveragePool", {3, 3}},
      {"average_pads_counted", {1, 3, 7, 7}, {}, {2, 2}, {1, 1, 1, 1}, {}, 1, false, "AveragePool", {3, 3}, {{"count_include_pad", int64_t{1}}}},
      {"average_ceil",
       {1, 3, 8, 8},
       {},
       {2, 2},
       {1, 1, 0, 0},
       {},
       1,
       false,
       "AveragePool",
       {3, 3},
       {{"ceil_mode", int64_t{1}}, {"count_include_pad", int64_t{1}}}},
      {"average_1d", {2, 3, 33}, {}, {3}, {1, 1}, {}, 1, false, "AveragePool", {4}},
      {"global_average", {2, 37, 7, 7}, {}, {}, {}, {}, 1, false, "GlobalAveragePool"},
      {"global_max", {1, 19, 5, 9}, {}, {}, {}, {}, 1, false, "GlobalMaxPool"},
      {"average_f64", {1, 2, 6, 6}, {}, {2, 2}, {}, {}, 1, false, "AveragePool", {3, 3}, {}, DType::kF64},
  });
  all.push_back(max_of_nan());
  return all;
}

}  // namespace amdahl

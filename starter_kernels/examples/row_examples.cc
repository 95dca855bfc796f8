#include <algorithm>

#include "starter_kernels/examples/example_graph.h"

namespace amdahl {
namespace {

using Attributes = ExampleGraph::Attributes;

// `scale` and `mean` reach where unsafe forms break: exp overflows at 89, one-pass variances die at mean >> deviation.
ValueId shifted(ExampleGraph& g, Shape shape, double scale, double mean) {
  const ValueId x = g.input(std::move(shape));
  return g.node("Add", {g.node("Mul", {x, g.floats({}, {scale})}), g.floats({}, {mean})});
}

std::vector<Graph> softmax_examples() {
  std::vector<Graph> all;
  const auto add = [&](const char* op, Shape shape, int64_t axis, double scale = 1, double mean = 0, int version = 18) {
    ExampleGraph g(op, version);
    const ValueId x = scale == 1 ? g.input(std::move(shape)) : g.normal(std::move(shape), 7, mean, scale);
    all.push_back(g.finish({g.node(op, {x}, {{"axis", axis}})}));
  };
  add("Softmax", {5, 37}, -1);
  add("Softmax", {2, 3, 8, 16}, -1);
  add("Softmax", {3, 1300}, 1);
  add("Softmax", {2, 7, 5, 9}, 1);  // columns
  add("Softmax", {3, 4, 130}, 1);   // more than one chunk of columns
  add("Softmax", {6, 11}, 0);
  add("Softmax", {4, 1}, 1);
  add("Softmax", {9}, 0);
  add("Softmax", {400, 301}, -1);    // several tasks
  add("Softmax", {4, 65}, -1, 1e4);  // an exponential without the maximum overflows
  add("Softmax", {3, 40, 6}, 1, 1e4);
  add("Softmax", {4, 65}, -1, 3, 500);
  add("Softmax", {3, 4, 5}, 1, 1, 0, 11);  // flattened
  add("LogSoftmax", {5, 37}, -1);
  add("LogSoftmax", {2, 7, 70}, 1);
  add("LogSoftmax", {4, 65}, -1, 1e3, -200);
  for (DType dtype : {DType::kF16, DType::kBF16, DType::kF64}) {
    ExampleGraph g("Softmax");
    all.push_back(g.finish({g.node("Softmax", {g.input(dtype, {6, 50})}, {{"axis", int64_t{-1}}}), g.node("Softmax", {g.input(dtype, {4, 136})})}));
  }
  {
    // Masked elements, a whole masked block at the start, and rows where one element takes all.
    ExampleGraph g("Softmax of a mask");
    std::vector<double> mask(3 * 600, 0.0);
    for (int i = 0; i < 520; ++i) mask[600 + i] = -__builtin_inf();
    for (int i = 0; i < 600; ++i) mask[1200 + i] = i == 77 ? 0.0 : -__builtin_inf();
    const ValueId x = g.node("Add", {g.input({3, 600}), g.floats({3, 600}, mask)});
    all.push_back(g.finish({g.node("Softmax", {x}, {{"axis", int64_t{-1}}})}));
  }
  return all;
}

std::vector<Graph> layernorm_examples() {
  std::vector<Graph> all;
  const auto add = [&](Shape shape, int64_t axis, bool affine, double scale = 1, double mean = 0, size_t outputs = 1) {
    ExampleGraph g("LayerNormalization");
    Shape row(axis < 0 ? shape.end() + axis : shape.begin() + axis, shape.end());
    const ValueId x = shifted(g, std::move(shape), scale, mean);
    std::vector<ValueId> in{x, g.normal(row, 3, 1, 0.5)};
    if (affine) in.push_back(g.normal(row, 4));
    g.node("LayerNormalization", in, {{"axis", axis}, {"epsilon", 1e-5}}, outputs);
    std::vector<ValueId> out;
    for (size_t i = 0; i < outputs; ++i) out.push_back(g.output_of_last(i));
    all.push_back(g.finish(out));
  };
  add({5, 37}, -1, true);
  add({2, 3, 768}, -1, true);
  add({3, 2, 5, 7}, 2, true);
  add({3, 2, 5, 7}, 1, false);
  add({4, 65}, -1, true, 1, 1000);  // mean far beyond the deviation
  add({4, 65}, -1, true, 1e-3, 1);
  add({3, 2500}, -1, true, 2, 50);  // several blocks
  add({300, 200}, -1, true);
  add({5, 33}, -1, true, 1, 0, 3);  // with statistics
  add({4, 1}, -1, true);
  {
    ExampleGraph g("LayerNormalization with an infinite epsilon");
    all.push_back(g.finish({g.node("LayerNormalization", {g.input({3, 20}), g.normal({20}, 3), g.normal({20}, 4)}, {{"epsilon", __builtin_inf()}})}));
  }
  {
    ExampleGraph g("InstanceNormalization");
    const ValueId x = shifted(g, {2, 5, 6, 7}, 1, 30);
    all.push_back(g.finish({g.node("InstanceNormalization", {x, g.normal({5}, 3, 1), g.normal({5}, 4)}, {{"epsilon", 1e-3}})}));
  }
  {
    ExampleGraph g("MeanVarianceNormalization");
    const ValueId x = shifted(g, {2, 5, 6, 7}, 1, 30), tiny = shifted(g, {3, 2, 4, 9}, 1e-9, 0);  // epsilon is outside the root
    const auto over = [&](ValueId v, std::vector<int64_t> axes) { return g.node("MeanVarianceNormalization", {v}, {{"axes", axes}}); };
    all.push_back(g.finish({g.node("MeanVarianceNormalization", {x}), over(x, {0, 1}), over(x, {-1}), over(tiny, {0, 2, 3})}));
  }
  for (int version : {18, 21}) {
    ExampleGraph g("GroupNormalization", version);
    const ValueId x = g.input({2, 12, 5, 3});
    const int64_t n = version < 21 ? 4 : 12;
    all.push_back(g.finish({g.node("GroupNormalization", {x, g.normal({n}, 3, 1), g.normal({n}, 4)}, {{"num_groups", int64_t{4}}})}));
  }
  for (DType dtype : {DType::kF16, DType::kBF16, DType::kF64}) {
    ExampleGraph g("LayerNormalization");
    const ValueId x = g.input(dtype, {6, 50});
    const ValueId wide = g.input(dtype, {3, 264});
    all.push_back(g.finish({g.node("LayerNormalization", {x, g.normal({50}, 3, 1, 1, dtype), g.normal({50}, 4, 0, 1, dtype)}),
                            g.node("LayerNormalization", {wide, g.normal({264}, 3, 1, 1, dtype), g.normal({264}, 4, 0, 1, dtype)})}));
  }
  return all;
}

std::vector<Graph> rmsnorm_examples() {
  std::vector<Graph> all;
  const auto add = [&](const char* op, Shape shape, int64_t axis, double scale = 1, DType dtype = DType::kF32) {
    ExampleGraph g(op, 23);
    const Shape row(axis < 0 ? shape.end() + axis : shape.begin() + axis, shape.end());
    const ValueId x = scale == 1 ? g.input(dtype, std::move(shape)) : shifted(g, std::move(shape), scale, 0);
    all.push_back(g.finish({g.node(op, {x, g.normal(row, 3, 1, 0.5, dtype)}, {{"axis", axis}, {"epsilon", 1e-4}})}));
  };
  add("RMSNormalization", {5, 37}, -1);
  add("RMSNormalization", {2, 3, 256}, -1);
  add("RMSNormalization", {3, 2, 5, 7}, 2);
  add("RMSNormalization", {300, 200}, -1);
  add("RMSNormalization", {4, 65}, -1, 1e-3);  // eps matters
  add("RMSNormalization", {4, 65}, -1, 1e4);
  add("SimplifiedLayerNormalization", {6, 48}, -1);
  add("RMSNormalization", {6, 50}, -1, 1, DType::kBF16);
  add("RMSNormalization", {3, 264}, -1, 1, DType::kF16);
  add("RMSNormalization", {6, 50}, -1, 1, DType::kF64);
  {
    ExampleGraph g("LpNormalization");
    const ValueId x = g.node("Mul", {g.input({6, 5, 20}), g.floats({6, 1, 1}, {1, 2, 0, 1e3, 1, 1e-3})});  // rows of zeros
    const auto norm = [&](int64_t axis, int64_t p) { return g.node("LpNormalization", {x}, {{"axis", axis}, {"p", p}}); };
    all.push_back(g.finish({g.node("LpNormalization", {x}), norm(1, 1), norm(0, 2), norm(-1, 1)}));
  }
  return all;
}

std::vector<Graph> reduce_examples() {
  std::vector<Graph> all;
  const auto add = [&](const std::string& op, Shape shape, std::vector<int64_t> axes, bool keep = true, DType dtype = DType::kF32) {
    ExampleGraph g(op);
    const ValueId x = g.input(dtype, std::move(shape));
    std::vector<ValueId> in{x};
    if (!axes.empty()) in.push_back(g.ints({static_cast<int64_t>(axes.size())}, axes));
    all.push_back(g.finish({g.node(op, in, {{"keepdims", int64_t{keep}}})}));
  };
  for (const char* op : {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp"}) {
    add(op, {5, 37}, {-1});
    add(op, {6, 3, 17}, {1}, false);  // columns
  }
  add("ReduceSum", {7, 1025}, {1});
  add("ReduceMean", {2, 6, 9, 11}, {2, 3});
  add("ReduceMean", {2, 6, 9, 11}, {0, 2});
  add("ReduceSum", {3, 4, 5, 6}, {0, 2, 3}, false);
  add("ReduceSum", {3, 4, 5, 6}, {1, 3});
  add("ReduceMax", {4, 300}, {0});
  add("ReduceSum", {400, 300}, {}, false);  // everything, in pieces
  add("ReduceMean", {900, 130}, {0});       // pieces of columns
  add("ReduceLogSumExp", {300, 130}, {1});
  add("ReduceSum", {5, 0, 3}, {1});
  add("ReduceMean", {4, 1}, {1});
  for (const char* op : {"ReduceSum", "ReduceMax", "ReduceProd", "ReduceMean", "ReduceMin", "ReduceL1"}) {
    ExampleGraph g(op);
    std::vector<int64_t> values;
    for (int64_t i = 0; i < 60; ++i) values.push_back((i * 7919) % 23 - 11);
    all.push_back(
        g.finish({g.node(op, {g.ints({6, 10}, values, DType::kI32), g.ints({1}, {1})}), g.node(op, {g.ints({6, 10}, values, DType::kI64), g.ints({1}, {0})})}));
  }
  {
    ExampleGraph g("Reductions of numbers that only an unsigned type holds");
    const ValueId x = g.ints({2, 3}, {INT64_MIN + 5, 1, 7, -1, 2, 3}, DType::kU64), axis = g.ints({1}, {1});
    std::vector<ValueId> y;
    for (const char* op : {"ReduceMax", "ReduceMin", "ReduceMean", "ReduceSum", "ReduceL1"}) y.push_back(g.node(op, {x, axis}));
    all.push_back(g.finish(y));
  }
  for (DType dtype : {DType::kF16, DType::kBF16, DType::kF64}) add("ReduceMean", {6, 50}, {1}, true, dtype);
  {
    ExampleGraph g("Reductions of NaN and infinities");
    std::vector<double> v(3 * 40, 0.5);
    v[13] = __builtin_nan("");
    v[47] = __builtin_inf();
    std::fill(v.begin() + 80, v.end(), -__builtin_inf());
    const ValueId x = g.floats({3, 40}, v), axis = g.ints({1}, {1});
    all.push_back(g.finish({g.node("ReduceMax", {x, axis}), g.node("ReduceMin", {x, axis}), g.node("ReduceLogSumExp", {x, axis})}));
  }
  {
    ExampleGraph g("ReduceLogSumExp of large numbers");
    const ValueId x = g.normal({4, 65}, 5, 300, 50), axis = g.ints({1}, {1});
    all.push_back(g.finish({g.node("ReduceLogSumExp", {x, axis}), g.node("ReduceLogSum", {g.node("Abs", {x}), axis})}));
  }
  return all;
}

std::vector<Graph> cross_entropy_examples() {
  std::vector<Graph> all;
  const auto add = [&](Shape shape, const std::string& reduction, bool weighted, std::optional<int64_t> ignored, size_t outputs = 1, double scale = 1) {
    ExampleGraph g("SoftmaxCrossEntropyLoss");
    const int64_t classes = shape[1];
    Shape labels = shape;
    labels.erase(labels.begin() + 1);
    std::vector<int64_t> label(static_cast<size_t>(numel(labels)));
    for (size_t i = 0; i < label.size(); ++i) label[i] = static_cast<int64_t>(i * 31 + 7) % classes;
    if (ignored) label[1] = *ignored;
    std::vector<ValueId> in{shifted(g, std::move(shape), scale, 0), g.ints(labels, label, weighted ? DType::kI32 : DType::kI64)};
    if (weighted) in.push_back(g.node("Abs", {g.input({classes})}));
    Attributes attributes{{"reduction", reduction}};
    if (ignored) attributes["ignore_index"] = *ignored;
    g.node("SoftmaxCrossEntropyLoss", in, attributes, outputs);
    std::vector<ValueId> out;
    for (size_t i = 0; i < outputs; ++i) out.push_back(g.output_of_last(i));
    all.push_back(g.finish(out));
  };
  add({5, 37}, "mean", false, {});
  add({5, 37}, "none", false, {});
  add({5, 37}, "sum", true, {});
  add({6, 11}, "mean", true, 3);
  add({6, 11}, "mean", false, -100, 2);
  add({3, 4500}, "mean", false, {});  // several blocks
  add({2, 7, 5}, "none", true, {}, 2);
  add({2, 7, 3, 4}, "mean", false, 2);
  add({4, 65}, "mean", false, {}, 1, 1e3);
  add({300, 200}, "mean", false, {});
  add({1100, 3}, "mean", true, {});
  {
    // Masked classes, whole blocks of them at the start and in the middle, and a row where one class is left.
    ExampleGraph g("SoftmaxCrossEntropyLoss of a mask");
    std::vector<double> mask(3 * 9000, 0.0);
    for (int i = 0; i < 4200; ++i) mask[9000 + i] = -__builtin_inf();
    for (int i = 0; i < 9000; ++i) mask[18000 + i] = i == 77 ? 0.0 : -__builtin_inf();
    const ValueId x = g.node("Add", {g.input({3, 9000}), g.floats({3, 9000}, mask)});
    g.node("SoftmaxCrossEntropyLoss", {x, g.ints({3}, {8999, 5000, 77})}, {{"reduction", std::string("none")}});
    all.push_back(g.finish({g.output_of_last(0)}));
  }
  for (const char* reduction : {"mean", "sum", "none"}) {
    ExampleGraph g("NegativeLogLikelihoodLoss");
    const ValueId x = g.node("LogSoftmax", {g.input({4, 11, 3})}, {{"axis", int64_t{1}}});
    const ValueId labels = g.ints({4, 3}, {0, 3, 10, 2, 2, 7, 9, 1, 3, 5, 6, 8}), weights = g.node("Abs", {g.input({11})});
    all.push_back(g.finish({g.node("NegativeLogLikelihoodLoss", {x, labels}, {{"reduction", std::string(reduction)}, {"ignore_index", int64_t{7}}}),
                            g.node("NegativeLogLikelihoodLoss", {x, labels, weights}, {{"reduction", std::string(reduction)}})}));
  }
  return all;
}

std::vector<Graph> rotary_examples() {
  std::vector<Graph> all;
  const auto add = [&](Shape x, int64_t width, const Attributes& attributes, bool with_ids, DType dtype = DType::kF32) {
    ExampleGraph g("RotaryEmbedding", 23);
    const int64_t batch = x[0], positions = x.size() == 4 ? x[2] : x[1];
    std::vector<ValueId> in{g.input(dtype, x)};
    for (int i = 0; i < 2; ++i) in.push_back(g.input(dtype, with_ids ? Shape{20, width} : Shape{batch, positions, width}));
    if (with_ids) {
      std::vector<int64_t> ids(static_cast<size_t>(batch * positions));
      for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int64_t>(i * 7 + 3) % 20;
      in.push_back(g.ints({batch, positions}, ids));
    }
    all.push_back(g.finish({g.node("RotaryEmbedding", in, attributes)}));
  };
  add({2, 3, 5, 16}, 8, {}, false);
  add({2, 3, 5, 16}, 8, {}, true);
  add({2, 3, 5, 16}, 8, {{"interleaved", int64_t{1}}}, true);
  add({2, 5, 48}, 8, {{"num_heads", int64_t{3}}}, true);
  add({1, 4, 3, 22}, 5, {{"rotary_embedding_dim", int64_t{10}}}, true);
  add({1, 12, 40, 64}, 32, {}, false);
  add({2, 3, 5, 16}, 8, {}, true, DType::kBF16);
  add({2, 3, 300, 128}, 64, {}, false);  // more positions than a run has
  {
    ExampleGraph g("com.microsoft.RotaryEmbedding");
    const ValueId x = g.input({2, 5, 24}), offset = g.ints({1}, {4}), cos = g.input({16, 4}), sin = g.input({16, 4});
    all.push_back(g.finish({g.node("com.microsoft.RotaryEmbedding", {x, offset, cos, sin})}));
  }
  return all;
}

}  // namespace

std::vector<Graph> row_examples(std::string_view kind) {
  if (kind == "softmax") return softmax_examples();
  if (kind == "layernorm") return layernorm_examples();
  if (kind == "rmsnorm") return rmsnorm_examples();
  if (kind == "reduce") return reduce_examples();
  if (kind == "cross_entropy") return cross_entropy_examples();
  return rotary_examples();
}

}  // namespace amdahl

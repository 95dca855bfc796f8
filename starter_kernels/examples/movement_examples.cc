#include "starter_kernels/examples/example_graph.h"

namespace amdahl {
namespace {

using Ints = std::vector<int64_t>;

Graph transpose(Shape shape, Ints perm, DType dtype = DType::kF32) {
  ExampleGraph g("Transpose");
  return g.finish({g.node("Transpose", {g.input(dtype, std::move(shape))}, {{"perm", std::move(perm)}})});
}

ValueId vector(ExampleGraph& g, const Ints& v) { return g.ints({static_cast<int64_t>(v.size())}, v); }

Graph slice(Shape shape, const Ints& starts, const Ints& ends, const Ints& axes, const Ints& steps) {
  ExampleGraph g("Slice");
  const ValueId x = g.input(std::move(shape));
  return g.finish({g.node("Slice", {x, vector(g, starts), vector(g, ends), vector(g, axes), vector(g, steps)})});
}

Graph concat(const std::vector<Shape>& shapes, int64_t axis, DType dtype = DType::kF32) {
  ExampleGraph g("Concat");
  std::vector<ValueId> in;
  for (const Shape& s : shapes) in.push_back(g.input(dtype, s));
  return g.finish({g.node("Concat", in, {{"axis", axis}})});
}

Graph split(Shape shape, int64_t axis, const Ints& sizes) {
  ExampleGraph g("Split");
  const ValueId x = g.input(std::move(shape));
  g.node("Split", {x, vector(g, sizes)}, {{"axis", axis}}, sizes.size());
  std::vector<ValueId> out;
  for (size_t i = 0; i < sizes.size(); ++i) out.push_back(g.output_of_last(i));
  return g.finish(out);
}

Graph pad(Shape shape, const Ints& pads, const std::string& mode, DType dtype = DType::kF32) {
  ExampleGraph g("Pad " + mode);
  const ValueId x = g.input(dtype, std::move(shape));
  std::vector<ValueId> in{x, vector(g, pads)};
  if (mode == "constant") in.push_back(dtype == DType::kF32 ? g.floats({}, {-1.5}) : g.ints({}, {7}, dtype));
  return g.finish({g.node("Pad", in, {{"mode", mode}})});
}

Graph gather(Shape shape, Shape index_shape, const Ints& indices, int64_t axis, DType index = DType::kI64, DType dtype = DType::kF32) {
  ExampleGraph g("Gather");
  const ValueId x = g.input(dtype, std::move(shape));
  return g.finish({g.node("Gather", {x, g.ints(std::move(index_shape), indices, index)}, {{"axis", axis}})});
}

}  // namespace

std::vector<Graph> movement_examples() {
  std::vector<Graph> all;
  all.push_back(transpose({37, 29}, {1, 0}));
  all.push_back(transpose({3, 16, 40}, {0, 2, 1}));
  all.push_back(transpose({2, 5, 3, 12}, {0, 2, 1, 3}));  // heads: rows stay whole
  all.push_back(transpose({2, 5, 9, 12}, {0, 2, 3, 1}));
  all.push_back(transpose({2, 3, 4, 5, 6}, {4, 2, 0, 3, 1}));
  all.push_back(transpose({260, 301}, {1, 0}));
  for (DType dtype : {DType::kF64, DType::kBF16, DType::kI8, DType::kBool}) all.push_back(transpose({19, 21}, {1, 0}, dtype));
  all.push_back(slice({5, 17}, {1, -3}, {4, 100}, {0, 1}, {1, 1}));
  all.push_back(slice({5, 17}, {4, -1}, {-100, 2}, {0, 1}, {-1, -3}));
  all.push_back(slice({6, 40}, {1}, {-1}, {-1}, {2}));
  all.push_back(slice({6, 4}, {3}, {3}, {0}, {1}));  // empty
  all.push_back(concat({{3, 5, 7}, {3, 1, 7}, {3, 4, 7}}, 1));
  all.push_back(concat({{4, 5}, {4, 1}, {4, 8}}, -1));
  all.push_back(concat({{2, 3}, {0, 3}, {5, 3}}, 0, DType::kI64));
  all.push_back(concat({{64, 700}, {64, 900}}, 1));
  all.push_back(split({4, 11, 3}, 1, {5, 1, 5}));
  all.push_back(split({6, 24}, -1, {8, 8, 8}));
  all.push_back(pad({3, 5}, {1, 2, 0, 3}, "constant"));
  all.push_back(pad({2, 3, 6, 7}, {0, 0, 1, 1, 0, 0, 2, 1}, "constant"));
  all.push_back(pad({3, 5}, {1, -1, 2, -2}, "constant", DType::kI32));
  all.push_back(pad({4, 6}, {2, 3, 1, 5}, "reflect"));
  all.push_back(pad({4, 6}, {2, 3, 1, 9}, "edge"));
  all.push_back(pad({2, 6}, {0, 3, 1, 5}, "wrap"));
  {
    ExampleGraph g("Pad with a value of the run");
    const ValueId x = g.input({3, 4}), value = g.input({});
    all.push_back(g.finish({g.node("Pad", {x, vector(g, {1, 0, 0, 2}), value})}));
  }
  {
    ExampleGraph g("Expand and Tile");
    const ValueId x = g.input({3, 1, 5});
    all.push_back(g.finish({g.node("Expand", {x, vector(g, {2, 1, 4, 1})}), g.node("Tile", {x, vector(g, {2, 3, 2})})}));
  }
  {
    ExampleGraph g("DepthToSpace");
    const ValueId x = g.input({2, 12, 3, 5});
    all.push_back(g.finish({g.node("DepthToSpace", {x}, {{"blocksize", int64_t{2}}}),
                            g.node("DepthToSpace", {x}, {{"blocksize", int64_t{2}}, {"mode", std::string("CRD")}}),
                            g.node("SpaceToDepth", {g.input({1, 3, 4, 6})}, {{"blocksize", int64_t{2}}})}));
  }
  all.push_back(gather({10, 6}, {4}, {3, -1, 0, 9}, 0));
  all.push_back(gather({4, 9, 5}, {2, 3}, {8, -9, 0, 3, 3, -2}, 1, DType::kI32));
  all.push_back(gather({7, 20}, {5}, {0, 19, -20, 7, 7}, -1));
  all.push_back(gather({7, 20}, {}, {-4}, 0, DType::kI64, DType::kF16));
  all.push_back(gather({300, 130}, {300}, Ints(300, 5), 0));
  {
    ExampleGraph g("Gather by an input");
    const ValueId x = g.input({2, 33});
    all.push_back(g.finish({g.node("Gather", {x, g.input(DType::kI64, {3, 2})}, {{"axis", int64_t{0}}})}));
  }
  return all;
}

}  // namespace amdahl

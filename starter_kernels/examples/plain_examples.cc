// One small graph an operator and form of the plain kind.

#include <cmath>

#include "starter_kernels/examples/example_graph.h"

namespace amdahl {
namespace {

using Ints = std::vector<int64_t>;

std::vector<Graph> walks() {
  std::vector<Graph> graphs;
  for (int64_t exclusive : {0, 1})
    for (int64_t reverse : {0, 1}) {
      ExampleGraph g("cumsum");
      graphs.push_back(g.finish({g.node("CumSum", {g.input({3, 7, 2}), g.ints({}, {1})}, {{"exclusive", exclusive}, {"reverse", reverse}})}));
    }
  for (DType dtype : {DType::kF32, DType::kI32}) {
    ExampleGraph g("cumsum of long rows");  // in pieces, where a backend cuts them
    const auto sum = [&](int64_t exclusive, int64_t reverse) {
      return g.node("CumSum", {g.input(dtype, {2, 700}), g.ints({}, {1})}, {{"exclusive", exclusive}, {"reverse", reverse}});
    };
    graphs.push_back(g.finish({sum(0, 0), sum(1, 0), sum(0, 1), sum(1, 1)}));
  }
  for (const Shape& shape : {Shape{3, 300}, Shape{2, 5000}, Shape{2, 90, 40}, Shape{19, 40}, Shape{2, 5, 150}}) {
    ExampleGraph g("the best of many");
    const ValueId x = g.input(shape), half = g.input(DType::kF16, shape);
    graphs.push_back(g.finish({g.node("ArgMax", {x}, {{"axis", int64_t{1}}}), g.node("ArgMin", {half}, {{"axis", int64_t{1}}}),
                               g.node("Hardmax", {x}, {{"axis", int64_t{1}}}), g.node("Hardmax", {half}, {{"axis", int64_t{1}}})}));
  }
  for (const char* op : {"ArgMax", "ArgMin"}) {
    ExampleGraph g("arg_extreme");
    graphs.push_back(g.finish({g.node(op, {g.input({2, 9, 3})}, {{"axis", int64_t{1}}, {"keepdims", int64_t{0}}})}));
  }
  ExampleGraph ties("arg_extreme of ties");
  graphs.push_back(ties.finish({ties.node("ArgMax", {ties.node("Floor", {ties.input({4, 17})})}, {{"axis", int64_t{-1}}, {"select_last_index", int64_t{1}}})}));
  {
    ExampleGraph g("ranks of NaN and infinities");
    const double nan = std::nan(""), inf = HUGE_VAL;
    const ValueId x = g.floats({5, 4}, {1, nan, 3, 2, nan, nan, 1, 0, -inf, inf, inf, 0, 2, 2, 1, nan, -inf, -inf, -inf, -inf});
    std::vector<ValueId> y{g.node("Hardmax", {x}, {{"axis", int64_t{1}}})};
    for (const char* op : {"ArgMax", "ArgMin"})
      for (int64_t last : {0, 1}) y.push_back(g.node(op, {x}, {{"axis", int64_t{1}}, {"select_last_index", last}}));
    graphs.push_back(g.finish(y));
  }
  {
    ExampleGraph g("topk of half floats");
    const ValueId v = g.node("TopK", {g.input(DType::kF16, {3, 200}), g.ints({1}, {200})}, {{"axis", int64_t{1}}}, 2);
    graphs.push_back(g.finish({v, g.output_of_last(1)}));
  }
  for (int64_t largest : {0, 1}) {
    ExampleGraph g("topk");
    const ValueId v = g.node("TopK", {g.input({2, 11, 3}), g.ints({1}, {4})}, {{"axis", int64_t{1}}, {"largest", largest}}, 2);
    graphs.push_back(g.finish({v, g.output_of_last(1)}));
  }
  ExampleGraph hard("hardmax");
  graphs.push_back(hard.finish({hard.node("Hardmax", {hard.input({3, 5, 4})}, {{"axis", int64_t{1}}})}));
  ExampleGraph response("lrn");
  graphs.push_back(response.finish({response.node("LRN", {response.input({2, 7, 3, 2})}, {{"size", int64_t{4}}, {"alpha", 0.5}, {"bias", 2.0}})}));
  for (const double bias : {HUGE_VAL, 1e-45}) {
    ExampleGraph g("lrn with a bias at an end of the floats");
    graphs.push_back(g.finish({g.node("LRN", {g.input({1, 4, 3, 2})}, {{"size", int64_t{3}}, {"bias", bias}})}));
  }
  for (int64_t column_major : {0, 1}) {
    ExampleGraph g("max_pool_indices");
    const ValueId v = g.node(
        "MaxPool", {g.input({2, 3, 7, 6})},
        {{"kernel_shape", Ints{3, 2}}, {"strides", Ints{2, 1}}, {"pads", Ints{1, 0, 1, 1}}, {"dilations", Ints{1, 2}}, {"storage_order", column_major}}, 2);
    graphs.push_back(g.finish({v, g.output_of_last(1)}));
  }
  ExampleGraph reverse("reverse_sequence");
  graphs.push_back(reverse.finish(
      {reverse.node("ReverseSequence", {reverse.input({4, 3, 2}), reverse.ints({3}, {1, 4, 2})}, {{"time_axis", int64_t{0}}, {"batch_axis", int64_t{1}}})}));
  return graphs;
}

// Indices into an axis of `size`, of which those of a line along the middle are all different.
Ints apart(const Shape& shape, int64_t size) {
  Ints indices;
  for (int64_t i = 0; i < numel(shape); ++i) indices.push_back((i / shape[2] % shape[1] * 2 + i % shape[2]) % size);
  return indices;
}

std::vector<Graph> gathers_and_scatters() {
  std::vector<Graph> graphs;
  ExampleGraph elements("gather_elements");
  graphs.push_back(elements.finish(
      {elements.node("GatherElements", {elements.input({3, 5}), elements.ints({2, 5}, {0, 1, 2, -1, 0, 2, 1, 0, -3, 1})}, {{"axis", int64_t{0}}})}));
  ExampleGraph inner("gather_elements along the middle of more");
  graphs.push_back(inner.finish({inner.node("GatherElements", {inner.input({3, 6, 5}), inner.ints({2, 3, 4}, apart({2, 3, 4}, 6))}, {{"axis", int64_t{1}}})}));
  ExampleGraph gather("gather_nd");
  graphs.push_back(gather.finish({gather.node("GatherND", {gather.input({3, 4, 5}), gather.ints({2, 2}, {0, 1, 2, -1})})}));
  ExampleGraph batched("gather_nd with a batch dimension");
  graphs.push_back(batched.finish({batched.node("GatherND", {batched.input({2, 4, 3}), batched.ints({2, 1}, {1, 3})}, {{"batch_dims", int64_t{1}}})}));
  for (const char* reduction : {"none", "add", "mul", "max", "min"}) {
    const bool repeated = std::string(reduction) != "none";  // which of two equal indices wins is not defined without one
    ExampleGraph g("scatter_elements");
    graphs.push_back(g.finish({g.node("ScatterElements", {g.input({4, 3}), g.ints({2, 3}, {0, 1, 2, repeated ? 0 : 3, -1, 1}), g.input({2, 3})},
                                      {{"axis", int64_t{0}}, {"reduction", std::string(reduction)}})}));
    ExampleGraph inner("scatter_elements along the middle of more");
    graphs.push_back(inner.finish({inner.node("ScatterElements", {inner.input({3, 6, 5}), inner.ints({2, 3, 4}, apart({2, 3, 4}, 6)), inner.input({2, 3, 4})},
                                              {{"axis", int64_t{1}}, {"reduction", std::string(reduction)}})}));
    ExampleGraph n("scatter_nd");
    graphs.push_back(
        n.finish({n.node("ScatterND", {n.input({5, 3}), n.ints({2, 1}, {4, repeated ? 4 : 1}), n.input({2, 3})}, {{"reduction", std::string(reduction)}})}));
    ExampleGraph pairs("scatter_nd by pairs");
    graphs.push_back(
        pairs.finish({pairs.node("ScatterND", {pairs.input({4, 3, 2}), pairs.ints({3, 2}, {3, -1, 0, 1, 1, repeated ? 1 : 0}), pairs.input({3, 2})},
                                 {{"reduction", std::string(reduction)}})}));
  }
  for (int64_t axis : {-1, 0}) {
    ExampleGraph g("one_hot");
    graphs.push_back(g.finish({g.node("OneHot", {g.ints({2, 3}, {0, 3, -1, 9, 2, 1}), g.ints({1}, {4}), g.floats({2}, {-0.5, 2.0})}, {{"axis", axis}})}));
  }
  return graphs;
}

std::vector<Graph> triangles_and_sizes() {
  std::vector<Graph> graphs;
  for (int64_t upper : {0, 1}) {
    ExampleGraph g("trilu");
    graphs.push_back(g.finish({g.node("Trilu", {g.input({2, 5, 7}), g.ints({}, {-1})}, {{"upper", upper}})}));
  }
  {
    ExampleGraph g("resize to sizes whose quotients are whole, and past a region");
    const auto to = [&](const char* coordinates, const char* rounding, int64_t size) {
      return g.node("Resize", {g.input({18}), kNoValue, kNoValue, g.ints({1}, {size})},
                    {{"coordinate_transformation_mode", std::string(coordinates)}, {"nearest_mode", std::string(rounding)}});
    };
    const ValueId region = g.floats({2}, {-0.5, 1.5});
    graphs.push_back(g.finish({to("asymmetric", "floor", 42), to("half_pixel", "floor", 7),
                               g.node("Resize", {g.input({6}), region, kNoValue, g.ints({1}, {9})},
                                      {{"coordinate_transformation_mode", std::string("tf_crop_and_resize")}, {"extrapolation_value", std::nan("")}})}));
  }
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    ExampleGraph g("resize");
    graphs.push_back(g.finish({g.node("Resize", {g.input({1, 2, 4, 5}), kNoValue, g.floats({4}, {1, 1, 1.75, 0.6})}, {{"mode", std::string(mode)}})}));
    ExampleGraph sized("resize to sizes");
    graphs.push_back(sized.finish({sized.node("Resize", {sized.input({1, 2, 3, 3}), kNoValue, kNoValue, sized.ints({4}, {1, 2, 7, 5})},
                                              {{"mode", std::string(mode)}, {"coordinate_transformation_mode", std::string("align_corners")}})}));
  }
  return graphs;
}

// Grids are drawn: positions inside of the image, at its edges and beside it.
std::vector<Graph> samples() {
  std::vector<Graph> graphs;
  for (const char* mode : {"nearest", "linear", "cubic"})
    for (const char* padding : {"zeros", "border", "reflection"})
      for (int64_t corners : {0, 1}) {
        ExampleGraph g("grid_sample", 20);
        const ExampleGraph::Attributes attributes{{"mode", std::string(mode)}, {"padding_mode", std::string(padding)}, {"align_corners", corners}};
        graphs.push_back(g.finish({g.node("GridSample", {g.input({2, 3, 5, 7}), g.input({2, 6, 11, 2})}, attributes),
                                   g.node("GridSample", {g.input({1, 2, 2, 3, 1}), g.input({1, 3, 2, 2, 3})}, attributes)}));
      }
  {
    ExampleGraph g("grid_sample halfway between elements", 20);
    graphs.push_back(g.finish({g.node("GridSample", {g.input({1, 2, 2, 6}), g.node("Floor", {g.input({1, 5, 8, 2})})}, {{"mode", std::string("nearest")}})}));
  }
  {
    ExampleGraph g("grid_sample of other types", 20);
    const ExampleGraph::Attributes nearest{{"mode", std::string("nearest")}};
    const ValueId grid = g.input({1, 5, 8, 2}), doubles = g.input(DType::kF64, {1, 5, 8, 2});
    graphs.push_back(
        g.finish({g.node("GridSample", {g.input(DType::kF16, {1, 2, 4, 6}), grid}), g.node("GridSample", {g.input(DType::kF64, {1, 2, 4, 6}), doubles}),
                  g.node("GridSample", {g.input(DType::kI32, {1, 2, 4, 6}), grid}, nearest),
                  g.node("GridSample", {g.input(DType::kF16, {1, 1, 9}), g.input(DType::kF16, {1, 70, 1})}, nearest)}));
  }
  return graphs;
}

// Regions are drawn: the scale spreads them over the image and beyond it.
std::vector<Graph> regions() {
  std::vector<Graph> graphs;
  for (const char* mode : {"avg", "max"})
    for (const char* coordinates : {"half_pixel", "output_half_pixel"})
      for (int64_t samples : {0, 2}) {
        ExampleGraph g("roi_align");
        graphs.push_back(g.finish({g.node("RoiAlign", {g.input({2, 3, 9, 8}), g.input({40, 4}), g.input(DType::kI64, {40})},
                                          {{"mode", std::string(mode)},
                                           {"coordinate_transformation_mode", std::string(coordinates)},
                                           {"sampling_ratio", samples},
                                           {"output_height", int64_t{2}},
                                           {"output_width", int64_t{3}},
                                           {"spatial_scale", 5.0}})}));
      }
  for (DType dtype : {DType::kF16, DType::kF64}) {
    ExampleGraph g("roi_align of other types");
    graphs.push_back(g.finish({g.node("RoiAlign", {g.input(dtype, {1, 2, 6, 7}), g.input(dtype, {9, 4}), g.ints({9}, Ints(9, 0))},
                                      {{"sampling_ratio", int64_t{3}}, {"spatial_scale", 3.0}})}));
  }
  for (DType dtype : {DType::kF32, DType::kF16}) {
    ExampleGraph g("max_roi_pool");
    graphs.push_back(
        g.finish({g.node("MaxRoiPool", {g.input(dtype, {2, 3, 9, 8}), g.input(dtype, {40, 5})}, {{"pooled_shape", Ints{3, 2}}, {"spatial_scale", 5.0}})}));
  }
  return graphs;
}

}  // namespace

std::vector<Graph> plain_examples() {
  std::vector<Graph> graphs = walks();
  for (const auto& more : {gathers_and_scatters(), triangles_and_sizes(), samples(), regions()}) graphs.insert(graphs.end(), more.begin(), more.end());
  return graphs;
}

}  // namespace amdahl

// The operators of the plain kind and what their texts need to know.

#include <fmt/format.h>

#include <algorithm>

#include "graph/graph.h"
#include "graph/op.h"
#include "graph/ops/grid_sample.h"
#include "graph/ops/regions.h"
#include "graph/ops/resize.h"
#include "starter_kernels/kinds/number_json.h"
#include "starter_kernels/kinds/plain.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/sliding_window.h"

namespace amdahl {
namespace {

const Shape& shape_of(const Graph& graph, ValueId v) { return graph.value(v).shape; }

bool has_input(const Node& node, size_t i) { return i < node.inputs.size() && node.inputs[i] != kNoValue; }

std::vector<int64_t> constant_ints(const Graph& graph, const Node& node, size_t i) {
  if (!graph.is_constant(node.inputs[i])) throw Refusal(fmt::format("input {} must be a constant", i));
  return to_ints(*graph.value(node.inputs[i]).constant);
}

int64_t wrapped(int64_t axis, size_t rank) { return axis < 0 ? axis + static_cast<int64_t>(rank) : axis; }

// A walk along one axis: OUTER rows of LENGTH elements INNER apart.
void put_axis(Json& constants, const Shape& shape, int64_t axis) {
  const auto a = static_cast<size_t>(wrapped(axis, shape.size()));
  int64_t outer = 1, inner = 1;
  for (size_t i = 0; i < std::min(a, shape.size()); ++i) outer *= shape[i];
  for (size_t i = a + 1; i < shape.size(); ++i) inner *= shape[i];
  constants["OUTER"] = outer;
  constants["LENGTH"] = a < shape.size() ? shape[a] : 1;  // the old Hardmax may have its axis behind the last
  constants["INNER"] = inner;
}

PlainForm along_axis(const Graph& graph, const Node& node, int64_t axis) {
  PlainForm form{{node.inputs[0]}, {node.outputs[0]}, Json::object()};
  put_axis(form.constants, shape_of(graph, node.inputs[0]), axis);
  return form;
}

PlainForm cumsum(const Graph& graph, const Node& node) {
  PlainForm form = along_axis(graph, node, constant_ints(graph, node, 1).at(0));
  form.constants["EXCLUSIVE"] = node.attr_int("exclusive", 0);
  form.constants["REVERSE"] = node.attr_int("reverse", 0);
  return form;
}

PlainForm arg_extreme(const Graph& graph, const Node& node) {
  PlainForm form = along_axis(graph, node, node.attr_int("axis", 0));
  form.constants["LARGEST"] = node.op == "ArgMax" ? 1 : 0;
  form.constants["LAST"] = node.attr_int("select_last_index", 0);
  return form;
}

PlainForm topk(const Graph& graph, const Node& node) {
  PlainForm form = along_axis(graph, node, node.attr_int("axis", -1));
  form.constants["K"] = has_input(node, 1) ? constant_ints(graph, node, 1).at(0) : node.attr_int("k", 0);
  form.constants["LARGEST"] = node.attr_int("largest", 1);
  for (size_t i = 0; i < 2; ++i)
    if (node.outputs.size() <= i || node.outputs[i] == kNoValue) throw Refusal("both outputs of TopK are needed");
  form.outputs = {node.outputs[0], node.outputs[1]};
  return form;
}

PlainForm hardmax(const Graph& graph, const Node& node) {
  const Shape& shape = shape_of(graph, node.inputs[0]);
  PlainForm form = along_axis(graph, node, node.attr_int("axis", node.version < 13 ? 1 : -1));
  if (node.version < 13) {  // flattened to a matrix at the axis
    form.constants["LENGTH"] = form.constants["LENGTH"].get<int64_t>() * form.constants["INNER"].get<int64_t>();
    form.constants["INNER"] = 1;
  }
  (void)shape;
  return form;
}

PlainForm one_hot(const Graph& graph, const Node& node) {
  PlainForm form{{node.inputs[0], node.inputs[2]}, {node.outputs[0]}, Json::object()};
  put_axis(form.constants, shape_of(graph, node.outputs[0]), node.attr_int("axis", -1));
  return form;
}

PlainForm trilu(const Graph& graph, const Node& node) {
  PlainForm form{{node.inputs[0]}, {node.outputs[0]}, Json::object()};
  const Shape& shape = shape_of(graph, node.inputs[0]);
  form.constants["ROWS"] = shape[shape.size() - 2];
  form.constants["COLUMNS"] = shape.back();
  form.constants["UPPER"] = node.attr_int("upper", 1);
  form.constants["DIAGONAL"] = has_input(node, 1) ? constant_ints(graph, node, 1).at(0) : 0;
  return form;
}

PlainForm gather_elements(const Graph& graph, const Node& node) {
  PlainForm form{{node.inputs[0], node.inputs[1]}, {node.outputs[0]}, Json::object()};
  form.constants["AXIS"] = wrapped(node.attr_int("axis", 0), shape_of(graph, node.inputs[0]).size());
  return form;
}

int64_t reduction_of(const Node& node) {
  const std::string name = node.attr_string("reduction", "none");
  const std::vector<std::string> names{"none", "add", "mul", "max", "min"};
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end()) throw Refusal("unknown reduction '" + name + "'");
  return at - names.begin();
}

PlainForm scatter_elements(const Graph& graph, const Node& node) {
  PlainForm form{{node.inputs[0], node.inputs[1], node.inputs[2]}, {node.outputs[0]}, Json::object()};
  form.constants["AXIS"] = wrapped(node.attr_int("axis", 0), shape_of(graph, node.inputs[0]).size());
  form.constants["REDUCTION"] = reduction_of(node);
  return form;
}

// The leading index tuples of GatherND and ScatterND: TUPLES of DEPTH indices, each naming a slice of SLICE elements.
void put_tuples(Json& constants, const Shape& data, const Shape& indices, int64_t batch_dims) {
  const int64_t depth = indices.back();
  int64_t batches = 1, slice = 1;
  for (int64_t i = 0; i < batch_dims; ++i) batches *= data[static_cast<size_t>(i)];
  for (size_t i = static_cast<size_t>(batch_dims + depth); i < data.size(); ++i) slice *= data[i];
  std::vector<int64_t> dims(data.begin() + batch_dims, data.begin() + batch_dims + depth);
  constants["BATCHES"] = batches;
  constants["DEPTH"] = depth;
  constants["SLICE"] = slice;
  constants["DIMS"] = dims;
  constants["TUPLES"] = depth ? numel(indices) / depth / std::max<int64_t>(batches, 1) : 0;
}

PlainForm gather_nd(const Graph& graph, const Node& node) {
  PlainForm form{{node.inputs[0], node.inputs[1]}, {node.outputs[0]}, Json::object()};
  put_tuples(form.constants, shape_of(graph, node.inputs[0]), shape_of(graph, node.inputs[1]), node.attr_int("batch_dims", 0));
  return form;
}

PlainForm scatter_nd(const Graph& graph, const Node& node) {
  PlainForm form{{node.inputs[0], node.inputs[1], node.inputs[2]}, {node.outputs[0]}, Json::object()};
  put_tuples(form.constants, shape_of(graph, node.inputs[0]), shape_of(graph, node.inputs[1]), 0);
  form.constants["REDUCTION"] = reduction_of(node);
  return form;
}

// Every output position of a dimension has the same number of taps here; missing ones get weight 0.
PlainForm resize(const Graph& graph, const Node& node) {
  const ResizePlan plan = resize_plan(graph, node);
  PlainForm form{{node.inputs[0]}, {node.outputs[0]}, Json::object()};
  const Shape& in = shape_of(graph, node.inputs[0]);
  std::vector<int64_t> tap_counts, starts, index, outside;
  Json weight = Json::array();
  for (size_t d = 0; d < in.size(); ++d) {
    std::vector<ResizeTaps> taps = plan.taps[d];
    if (taps.empty())
      for (int64_t i = 0; i < plan.out[d]; ++i) taps.push_back({{i}, {1.0}, false});
    size_t most = 1;
    for (const ResizeTaps& t : taps) most = std::max(most, t.index.size());
    tap_counts.push_back(static_cast<int64_t>(most));
    starts.push_back(static_cast<int64_t>(index.size()));
    for (const ResizeTaps& t : taps)
      for (size_t i = 0; i < most; ++i) {
        const bool there = !t.outside && i < t.index.size();
        index.push_back(there ? t.index[i] : 0);
        weight.push_back(number_json(there ? t.weight[i] : 0.0));
        outside.push_back(t.outside);
      }
  }
  form.constants = {{"TAPS", tap_counts},
                    {"STARTS", starts},
                    {"INDEX", index},
                    {"WEIGHT", {{"float", weight}}},
                    {"OUTSIDE", outside},
                    {"NEAREST", plan.mode == "nearest" ? 1 : 0},
                    {"EXTRAPOLATION", {{"float", {number_json(plan.extrapolation)}}}}};
  return form;
}

PlainForm lrn(const Graph& graph, const Node& node) {
  PlainForm form = along_axis(graph, node, 1);
  form.constants["WINDOW"] = node.attr_int("size", 1);
  form.constants["SETTINGS"] = {
      {"float", {number_json(node.attr_float("alpha", 1e-4)), number_json(node.attr_float("beta", 0.75)), number_json(node.attr_float("bias", 1.0))}}};
  if (graph.value(node.inputs[0]).dtype != DType::kF32) throw Refusal("LRN is computed in f32 only");
  return form;
}

// MaxPool that also says where its maxima are; without that it is of the pool kind.
PlainForm max_pool_indices(const Graph& graph, const Node& node) {
  PlainForm form{{node.inputs[0]}, {node.outputs[0], node.outputs.at(1)}, Json::object()};
  const WindowParams window = window_params(graph, node, node.attr_ints("kernel_shape"), false);
  const Shape &in = shape_of(graph, node.inputs[0]), &out = shape_of(graph, node.outputs[0]);
  const auto in_three = [](std::vector<int64_t> sizes, int64_t missing) {
    sizes.insert(sizes.begin(), 3 - sizes.size(), missing);
    return sizes;
  };
  const std::vector<int64_t>& pads = window.pads;
  form.constants = {{"PLANES", in[0] * in[1]},
                    {"IN", in_three({in.begin() + 2, in.end()}, 1)},
                    {"OUT", in_three({out.begin() + 2, out.end()}, 1)},
                    {"KERNEL", in_three(window.kernel, 1)},
                    {"STRIDE", in_three(window.strides, 1)},
                    {"DILATION", in_three(window.dilations, 1)},
                    {"PAD", in_three({pads.begin(), pads.begin() + static_cast<ptrdiff_t>(pads.size() / 2)}, 0)},
                    {"COLUMN_MAJOR", node.attr_int("storage_order", 0) != 0 ? 1 : 0}};
  return form;
}

PlainForm grid_sample(const Graph& graph, const Node& node) {
  const GridSampleForm settings = grid_sample_form(node);
  const Shape &x = shape_of(graph, node.inputs[0]), &out = shape_of(graph, node.outputs[0]);
  PlainForm form{{node.inputs[0], node.inputs[1]}, {node.outputs[0]}, Json::object()};
  form.constants = {{"MODE", static_cast<int64_t>(settings.mode)},
                    {"PADDING", static_cast<int64_t>(settings.padding)},
                    {"ALIGN", settings.align_corners ? 1 : 0},
                    {"IMAGES", x[0]},
                    {"CHANNELS", x[1]},
                    {"POINTS", numel({out.begin() + 2, out.end()})}};
  return form;
}

// What regions of images are pooled to.
void put_regions(Json& constants, const Shape& x, const Shape& out, double scale) {
  constants["REGIONS"] = out[0];
  constants["IMAGES"] = x[0];
  constants["CHANNELS"] = x[1];
  constants["HEIGHT"] = x[2];
  constants["WIDTH"] = x[3];
  constants["POOLED_HEIGHT"] = out[2];
  constants["POOLED_WIDTH"] = out[3];
  constants["SCALE"] = {{"float", {number_json(scale)}}};
}

PlainForm roi_align(const Graph& graph, const Node& node) {
  const RoiAlignForm settings = roi_align_form(node);
  PlainForm form{{node.inputs[0], node.inputs[1], node.inputs[2]}, {node.outputs[0]}, Json::object()};
  put_regions(form.constants, shape_of(graph, node.inputs[0]), shape_of(graph, node.outputs[0]), settings.scale);
  form.constants["LARGEST"] = settings.takes_largest ? 1 : 0;
  form.constants["HALF_PIXEL"] = settings.half_pixel ? 1 : 0;
  form.constants["SAMPLES"] = settings.samples;
  form.constants["MOST_SAMPLES"] = RoiAlignForm::kMostSamples;
  return form;
}

PlainForm max_roi_pool(const Graph& graph, const Node& node) {
  PlainForm form{{node.inputs[0], node.inputs[1]}, {node.outputs[0]}, Json::object()};
  put_regions(form.constants, shape_of(graph, node.inputs[0]), shape_of(graph, node.outputs[0]), node.attr_float("spatial_scale", 1));
  return form;
}

PlainForm reverse_sequence(const Graph& graph, const Node& node) {
  const Shape& shape = shape_of(graph, node.inputs[0]);
  PlainForm form{{node.inputs[0], node.inputs[1]}, {node.outputs[0]}, Json::object()};
  form.constants["TIME_FIRST"] = node.attr_int("time_axis", 0) == 0 ? 1 : 0;
  form.constants["ROWS"] = shape[0];
  form.constants["COLUMNS"] = shape[1];
  form.constants["SLICE"] = shape[0] != 0 && shape[1] != 0 ? numel(shape) / (shape[0] * shape[1]) : 0;
  return form;
}

}  // namespace

const std::vector<PlainOperator>& plain_operators() {
  static const std::vector<PlainOperator> rows{
      {"CumSum", "cumsum", cumsum},
      {"ArgMax", "arg_extreme", arg_extreme},
      {"ArgMin", "arg_extreme", arg_extreme},
      {"TopK", "topk", topk},
      {"Hardmax", "hardmax", hardmax},
      {"OneHot", "one_hot", one_hot},
      {"Trilu", "trilu", trilu},
      {"GatherElements", "gather_elements", gather_elements},
      {"ScatterElements", "scatter_elements", scatter_elements},
      {"Scatter", "scatter_elements", scatter_elements},
      {"GatherND", "gather_nd", gather_nd},
      {"ScatterND", "scatter_nd", scatter_nd},
      {"Resize", "resize", resize},
      {"Upsample", "resize", resize},
      {"GridSample", "grid_sample", grid_sample},
      {"RoiAlign", "roi_align", roi_align},
      {"MaxRoiPool", "max_roi_pool", max_roi_pool},
      {"LRN", "lrn", lrn},
      {"ReverseSequence", "reverse_sequence", reverse_sequence},
      {"MaxPool", "max_pool_indices", max_pool_indices},
  };
  return rows;
}

}  // namespace amdahl

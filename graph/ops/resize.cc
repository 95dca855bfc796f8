#include "graph/ops/resize.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "graph/node_upgrade.h"
#include "graph/ops/copy.h"
#include "graph/ops/families.h"
#include "graph/ops/precision.h"
#include "graph/ops/sizes.h"

namespace amdahl {
namespace {

// Each position of a resized dimension has a row of a table. Images are smaller.
constexpr int64_t kMostTaps = 1 << 20;

// A quotient of integers: positions that come from sizes. Rounding one to a float first may move a whole number or a half to the other side.
struct Quotient {
  __extension__ typedef __int128 Integer;  // products of three sizes
  Integer over = 0, under = 1;             // under > 0

  Integer floor() const { return over >= 0 ? over / under : -((under - 1 - over) / under); }
  Integer ceil() const { return -Quotient{-over, under}.floor(); }
  Quotient plus_half() const { return {2 * over + under, 2 * under}; }
  Quotient minus_half() const { return {2 * over - under, 2 * under}; }
};

// The node's attributes and constant inputs, one entry a dimension.
struct Settings {
  std::string mode, coordinates, nearest;
  double cubic_a = -0.75, extrapolation = 0;
  bool exclude_outside = false;
  std::vector<double> scale, roi_start, roi_end;
  std::vector<std::pair<int64_t, int64_t>> sizes;  // the scale as a quotient of two of them; {0, 0} where it was given as a number
  std::vector<bool> resized;
  Shape out;
};

std::vector<double> doubles(InferContext& c, size_t i, const char* what) { return c.has_input(i) ? to_doubles(c.constant(i, what)) : std::vector<double>{}; }

// floor(size * scale) in fp32, as ONNX's own shape inference computes it: 10 * 0.7f is 7 there and 6.99… in float64.
int64_t scaled(int64_t size, double scale) { return checked_size(std::floor(static_cast<float>(size) * static_cast<float>(scale))); }

void set_scales(Settings& s, const std::vector<int64_t>& axes, const std::vector<double>& scales, const Shape& in) {
  if (scales.size() != axes.size()) throw Refusal(fmt::format("{} scales for {} dimensions", scales.size(), axes.size()));
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto a = static_cast<size_t>(axes[i]);
    if (!(scales[i] > 0)) throw Refusal("a scale is not positive");
    s.scale[a] = scales[i];
    const double part = s.coordinates == "tf_crop_and_resize" ? s.roi_end[a] - s.roi_start[a] : 1.0;
    s.out[a] = part == 1.0 ? scaled(in[a], scales[i]) : checked_size(std::floor(static_cast<double>(in[a]) * part * scales[i]));
  }
}

void set_sizes(Settings& s, const std::vector<int64_t>& axes, const std::vector<int64_t>& sizes, const Shape& in, const std::string& policy) {
  if (sizes.size() != axes.size()) throw Refusal(fmt::format("{} sizes for {} dimensions", sizes.size(), axes.size()));
  double common = policy == "not_larger" ? HUGE_VAL : 0;
  std::pair<int64_t, int64_t> common_sizes;
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto a = static_cast<size_t>(axes[i]);
    if (in[a] == 0 || sizes[i] < 0) throw Refusal("an empty dimension cannot be resized");
    s.out[a] = sizes[i];
    s.scale[a] = static_cast<double>(sizes[i]) / static_cast<double>(in[a]);
    s.sizes[a] = {sizes[i], in[a]};
    const bool further = policy == "not_larger" ? s.scale[a] < common : s.scale[a] > common;
    if (further) common = s.scale[a], common_sizes = s.sizes[a];
  }
  if (policy == "stretch") return;
  if (policy != "not_larger" && policy != "not_smaller") throw Refusal("unknown keep_aspect_ratio_policy '" + policy + "'");
  for (int64_t axis : axes) {
    const auto a = static_cast<size_t>(axis);
    s.scale[a] = common;
    s.sizes[a] = common_sizes;
    s.out[a] = checked_size(static_cast<double>(Quotient{Quotient::Integer{common_sizes.first} * in[a], common_sizes.second}.plus_half().floor()));
  }
}

Settings settings_of(InferContext& c) {
  const Node& node = c.node;
  const Shape& in = c.shape(0);
  const size_t rank = in.size();
  // Upsample and opset 10 know one rule: asymmetric, nearest rounds down.
  const bool old = node.op == "Upsample" || node.version < 11;
  Settings s;
  s.mode = node.attr_string("mode", "nearest");
  s.coordinates = old ? "asymmetric" : node.attr_string("coordinate_transformation_mode", "half_pixel");
  s.nearest = old ? "floor" : node.attr_string("nearest_mode", "round_prefer_floor");
  s.cubic_a = node.attr_float("cubic_coeff_a", -0.75);
  s.extrapolation = node.attr_float("extrapolation_value", 0.0);
  s.exclude_outside = node.attr_int("exclude_outside", 0) != 0;
  if (node.attr_int("antialias", 0)) throw Refusal("antialias is not supported");
  if (s.mode != "nearest" && s.mode != "linear" && s.mode != "cubic") throw Refusal("unknown mode '" + s.mode + "'");
  if (s.mode != "nearest" && !is_float(c.dtype(0))) throw Refusal("integers can only be resized by mode nearest");
  s.scale.assign(rank, 1.0);
  s.sizes.assign(rank, {0, 0});
  s.roi_start.assign(rank, 0.0);
  s.roi_end.assign(rank, 1.0);
  s.out = in;
  std::vector<int64_t> axes = node.attr_ints("axes");
  for (int64_t& a : axes) a = c.normalized_axis(a, rank);
  for (size_t d = 0; axes.size() < rank && !node.has("axes"); ++d) axes.push_back(static_cast<int64_t>(d));
  s.resized.assign(rank, false);
  for (int64_t a : axes) s.resized[static_cast<size_t>(a)] = true;
  if (s.coordinates == "tf_crop_and_resize") {
    const std::vector<double> roi = doubles(c, 1, "the region of interest");
    if (roi.size() != 2 * axes.size()) throw Refusal("the region of interest needs a start and an end a dimension");
    for (size_t i = 0; i < axes.size(); ++i) {
      s.roi_start[static_cast<size_t>(axes[i])] = roi[i];
      s.roi_end[static_cast<size_t>(axes[i])] = roi[axes.size() + i];
    }
  }
  std::vector<double> scales;
  if (node.op == "Upsample" && node.version < 9) {
    const auto it = node.attributes.find("scales");
    if (it != node.attributes.end()) scales = std::get<std::vector<double>>(it->second);
  } else {
    scales = doubles(c, old ? 1 : 2, "the scales");
  }
  if (!scales.empty()) {
    set_scales(s, axes, scales, in);
  } else if (!old && c.has_input(3)) {
    set_sizes(s, axes, c.constant_ints(3, "the sizes"), in, node.attr_string("keep_aspect_ratio_policy", "stretch"));
  } else {
    throw Refusal("neither scales nor sizes are given");
  }
  return s;
}

// Position in the input of output position x.
double original(const Settings& s, size_t d, int64_t position, int64_t in_size) {
  const auto x = static_cast<double>(position), in = static_cast<double>(in_size);
  const double scale = s.scale[d], resized = scale * in;  // the length before it was rounded down, as ONNX defines it
  if (s.coordinates == "half_pixel") return (x + 0.5) / scale - 0.5;
  if (s.coordinates == "asymmetric") return x / scale;
  if (s.coordinates == "pytorch_half_pixel") return s.out[d] > 1 ? (x + 0.5) / scale - 0.5 : 0.0;
  if (s.coordinates == "tf_half_pixel_for_nn") return (x + 0.5) / scale;
  if (s.coordinates == "align_corners") return s.out[d] > 1 ? x * (in - 1) / (resized - 1) : 0.0;
  if (s.coordinates == "half_pixel_symmetric") {
    const double offset = in / 2 * (1 - static_cast<double>(s.out[d]) / resized);
    return offset + (x + 0.5) / scale - 0.5;
  }
  if (s.coordinates == "tf_crop_and_resize") {
    const double start = s.roi_start[d], end = s.roi_end[d];
    if (s.out[d] == 1) return 0.5 * (start + end) * (in - 1);
    const auto last = static_cast<double>(s.out[d] - 1);  // one division: of a region whose ends are short fractions nothing else is rounded
    return (start * last + x * (end - start)) * (in - 1) / last;
  }
  throw Refusal("unknown coordinate_transformation_mode '" + s.coordinates + "'");
}

// The same where the scale is a quotient of sizes, scale = n / m; nothing where it is not, nor for a region of interest, whose ends are numbers.
std::optional<Quotient> exact_original(const Settings& s, size_t d, int64_t position, int64_t in_size) {
  if (s.sizes[d].first == 0 || s.coordinates == "tf_crop_and_resize") return std::nullopt;
  const Quotient::Integer x = position, in = in_size, out = s.out[d], n = s.sizes[d].first, m = s.sizes[d].second;
  if (s.coordinates == "asymmetric") return Quotient{x * m, n};
  if (s.coordinates == "tf_half_pixel_for_nn") return Quotient{(2 * x + 1) * m, 2 * n};
  if (s.coordinates == "align_corners") return out > 1 ? Quotient{x * (in - 1) * m, n * in - m} : Quotient{};
  if (s.coordinates == "half_pixel_symmetric") return Quotient{in * n - out * m + (2 * x + 1) * m - n, 2 * n};
  if (s.coordinates == "pytorch_half_pixel" && out == 1) return Quotient{};
  return Quotient{(2 * x + 1) * m - n, 2 * n};  // half_pixel
}

double nearest(const std::string& mode, double x) {
  if (mode == "round_prefer_floor") return std::ceil(x - 0.5);
  if (mode == "round_prefer_ceil") return std::floor(x + 0.5);
  if (mode == "floor") return std::floor(x);
  if (mode == "ceil") return std::ceil(x);
  throw Refusal("unknown nearest_mode '" + mode + "'");
}

double nearest(const std::string& mode, const Quotient& x) {
  if (mode == "round_prefer_floor") return static_cast<double>(x.minus_half().ceil());
  if (mode == "round_prefer_ceil") return static_cast<double>(x.plus_half().floor());
  return static_cast<double>(mode == "floor" ? x.floor() : x.ceil());
}

// Keys' cubic convolution kernel at distance t.
double cubic(double t, double a) {
  t = std::fabs(t);
  if (t < 1) return ((a + 2) * t - (a + 3)) * t * t + 1;
  return t < 2 ? a * (((t - 5) * t + 8) * t - 4) : 0;
}

ResizeTaps taps_of(const Settings& s, size_t d, int64_t position, int64_t size) {
  const double x = original(s, d, position, size);
  ResizeTaps taps;
  const auto last = static_cast<double>(size - 1);
  taps.outside = s.coordinates == "tf_crop_and_resize" && (x < 0 || x > last);
  const auto add = [&](double at, double weight) {
    const bool inside = at >= 0 && at <= last;
    taps.index.push_back(static_cast<int64_t>(std::fmin(std::fmax(at, 0.0), last)));
    taps.weight.push_back(s.exclude_outside && !inside ? 0.0 : weight);
  };
  if (s.mode == "nearest") {
    const std::optional<Quotient> exact = exact_original(s, d, position, size);
    const double rounded = nearest(s.nearest, x), at = exact ? nearest(s.nearest, *exact) : rounded;
    taps.index = {static_cast<int64_t>(std::fmin(std::fmax(at, 0.0), last))};
    taps.weight = {1.0};
    return taps;
  }
  const double base = std::floor(x), t = x - base;
  if (s.mode == "linear") {
    add(base, 1 - t);
    add(base + 1, t);
  } else {
    for (double k : {-1.0, 0.0, 1.0, 2.0}) add(base + k, cubic(t - k, s.cubic_a));
  }
  if (!s.exclude_outside) return taps;
  double sum = 0;
  for (double w : taps.weight) sum += w;
  for (double& w : taps.weight) w = sum == 0 ? 0 : w / sum;
  return taps;
}

}  // namespace

ResizePlan resize_plan(const Graph& graph, const Node& node) {
  InferContext c(graph, node);
  const Settings s = settings_of(c);
  const Shape& in = c.shape(0);
  require_possible(s.out, c.dtype(0));
  for (size_t d = 0; d < in.size(); ++d) {
    if (s.resized[d] && s.out[d] > 0 && in[d] == 0) throw Refusal("an empty dimension cannot be resized");
    if (s.resized[d] && s.out[d] > kMostTaps) throw Refusal(fmt::format("a dimension resized to {}, more than {}", s.out[d], kMostTaps));
  }
  ResizePlan plan{s.mode, s.out, {}, s.extrapolation};
  for (size_t d = 0; d < in.size(); ++d) {
    plan.taps.emplace_back();
    if (!s.resized[d]) continue;
    bool same = s.out[d] == in[d];
    for (int64_t o = 0; o < s.out[d]; ++o) {
      plan.taps[d].push_back(taps_of(s, d, o, in[d]));
      const ResizeTaps& t = plan.taps[d].back();
      for (size_t i = 0; i < t.index.size(); ++i) same = same && !t.outside && t.weight[i] == (t.index[i] == o ? 1.0 : 0.0);
    }
    if (same) plan.taps[d].clear();
    // Opset 10 leaves open how a position between two elements is rounded when it shrinks.
    if (node.op == "Resize" && node.version < 11 && s.mode == "nearest" && s.scale[d] < 1 && 1 / s.scale[d] != std::floor(1 / s.scale[d]))
      throw Refusal("shrinking by a fractional factor is not defined before opset 11");
  }
  return plan;
}

namespace {

void infer_resize(InferContext& c) { c.set_output(0, c.dtype(0), resize_plan(c.graph_, c.node).out); }

// The evaluator has tensors, not the graph: the shape inputs become constants of a graph of this one node.
ResizePlan plan_of(EvalContext& c) {
  Graph graph;
  Node node = c.node;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (!c.has_input(i)) node.inputs[i] = kNoValue;
    else if (i == 0) node.inputs[i] = graph.add_value("x", c.in(0).dtype, c.in(0).shape);
    else node.inputs[i] = graph.add_constant("c", c.in(i).to_tensor());
  }
  return resize_plan(graph, node);
}

// One dimension of the resampling: out = sum of weight * in, with |weight| when `magnitudes`.
std::vector<double> resample(const std::vector<double>& in, const Shape& shape, size_t d, const std::vector<ResizeTaps>& taps, bool magnitudes) {
  const int64_t outer = product(shape, 0, d), size = shape[d], inner = product(shape, d + 1, shape.size());
  std::vector<double> out(static_cast<size_t>(outer * inner) * taps.size(), 0.0);
  double* to = out.data();
  for (int64_t o = 0; o < outer; ++o)
    for (const ResizeTaps& t : taps) {
      for (size_t k = 0; k < t.index.size(); ++k) {
        if (t.weight[k] == 0) continue;  // an unused neighbour may be infinite
        const double w = magnitudes ? std::fabs(t.weight[k]) : t.weight[k];
        const double* from = in.data() + (o * size + t.index[k]) * inner;
        for (int64_t i = 0; i < inner; ++i) to[i] += w * from[i];
      }
      to += inner;
    }
  return out;
}

std::vector<double> resample_all(std::vector<double> values, Shape shape, const ResizePlan& plan, bool magnitudes) {
  for (size_t d = 0; d < shape.size(); ++d) {
    if (plan.taps[d].empty()) continue;
    values = resample(values, shape, d, plan.taps[d], magnitudes);
    shape[d] = plan.out[d];
  }
  return values;
}

void eval_nearest(EvalContext& c, const ResizePlan& plan) {
  const RefTensor& in = c.in(0);
  std::vector<std::vector<int64_t>> maps;
  for (size_t d = 0; d < in.shape.size(); ++d) {
    maps.emplace_back();
    for (int64_t o = 0; plan.taps[d].empty() && o < plan.out[d]; ++o) maps.back().push_back(o);
    for (const ResizeTaps& t : plan.taps[d]) maps.back().push_back(t.outside ? -1 : t.index[0]);
  }
  copy_planes(in, c.out(0), [&](const auto* from, auto* to) {
    using T = std::remove_cvref_t<decltype(*to)>;
    const double fill = in.dtype == DType::kBool ? plan.extrapolation != 0 : plan.extrapolation;
    mapped_copy(from, in.shape, maps, static_cast<T>(fill), to);
  });
}

void eval_interpolated(EvalContext& c, const ResizePlan& plan) {
  const RefTensor& in = c.in(0);
  RefTensor& out = c.out(0);
  out.value = resample_all(in.value, in.shape, plan, false);
  if (c.bounds) {
    std::vector<double> magnitude = in.value;
    for (double& v : magnitude) v = std::fabs(v);
    magnitude = resample_all(std::move(magnitude), in.shape, plan, true);
    double taps = 1;
    for (const auto& dimension : plan.taps)
      if (!dimension.empty()) taps *= static_cast<double>(dimension[0].index.size());
    const Precision p = precision_of(out.dtype);
    out.bound = in.bound.empty() ? std::vector<double>(out.value.size(), 0.0) : resample_all(in.bound, in.shape, plan, true);
    // 3 more than a sum of this length: each weight is rounded as well.
    for (size_t i = 0; i < out.bound.size(); ++i)
      out.bound[i] =
          std::isfinite(out.value[i]) ? out.bound[i] + (3 * std::sqrt(taps) + 7) * p.u * magnitude[i] + p.store * std::fabs(out.value[i]) + p.tiny : 0;
  }
  // Positions outside the region of interest in any dimension.
  for (size_t d = 0; d < out.shape.size(); ++d) {
    const int64_t inner = product(out.shape, d + 1, out.shape.size());
    for (size_t o = 0; o < plan.taps[d].size(); ++o) {
      if (!plan.taps[d][o].outside) continue;
      for (int64_t at = static_cast<int64_t>(o) * inner; at < out.numel(); at += inner * out.shape[d]) {
        std::fill_n(out.value.begin() + at, inner, plan.extrapolation);
        if (c.bounds) std::fill_n(out.bound.begin() + at, inner, 0.0);
      }
    }
  }
}

void eval_resize(EvalContext& c) {
  const ResizePlan plan = plan_of(c);
  if (plan.mode == "nearest") eval_nearest(c, plan);
  else eval_interpolated(c, plan);
}

// Before 11, sizes came from scales only, and coordinates were not centred.
void center_coordinates(NodeUpgrade& u) {
  u.node.op = "Resize";
  if (u.node.has("scales")) {  // Upsample 7
    const std::vector<double> scales = std::get<std::vector<double>>(u.node.attributes.at("scales"));
    u.put(2, u.write.constant("scales", from_doubles(DType::kF32, {static_cast<int64_t>(scales.size())}, scales)));
    u.node.attributes.erase("scales");
  } else {
    const ValueId scales = u.node.inputs.at(1);
    u.node.inputs = {u.node.inputs[0], kNoValue, scales};
  }
  u.node.attributes["coordinate_transformation_mode"] = std::string("asymmetric");
  u.node.attributes["nearest_mode"] = std::string("floor");
}

}  // namespace

std::vector<OpDef> resize_ops() {
  return {
      {"", "Resize", "aFFI", infer_resize, eval_resize, 1, {{11, center_coordinates}}},
      {"", "Upsample", "aF", infer_resize, eval_resize, 1, {{11, center_coordinates}}},
  };
}

}  // namespace amdahl

// RoiAlign and MaxRoiPool: regions of images, each pooled to a few bins.

#include "graph/ops/regions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "graph/node_upgrade.h"
#include "graph/ops/copy.h"
#include "graph/ops/eval_support.h"
#include "graph/ops/families.h"
#include "graph/ops/sampling.h"

namespace amdahl {

RoiAlignForm roi_align_form(const Node& node) {
  const std::string mode = node.attr_string("mode", "avg");
  const std::string coordinates = node.attr_string("coordinate_transformation_mode", node.version < 16 ? "output_half_pixel" : "half_pixel");
  if (mode != "avg" && mode != "max") throw Refusal("unknown mode '" + mode + "'");
  if (coordinates != "half_pixel" && coordinates != "output_half_pixel") throw Refusal("unknown coordinate_transformation_mode '" + coordinates + "'");
  const RoiAlignForm form{mode == "max",
                          coordinates == "half_pixel",
                          node.attr_int("output_height", 1),
                          node.attr_int("output_width", 1),
                          node.attr_int("sampling_ratio", 0),
                          node.attr_float("spatial_scale", 1)};
  if (form.height < 1 || form.width < 1) throw Refusal(fmt::format("regions of {} x {} bins", form.height, form.width));
  if (form.samples < 0 || form.samples > RoiAlignForm::kMostSamples) throw Refusal(fmt::format("a sampling_ratio of {}", form.samples));
  return form;
}

namespace {

constexpr double kFarCoordinate = 0x1.0p+20;  // of which kernels of MaxRoiPool keep the sign alone

void infer_regions(InferContext& c, int64_t columns, int64_t height, int64_t width) {
  const Shape &x = c.shape(0), &rois = c.shape(1);
  if (c.dtype(1) != c.dtype(0)) throw Refusal("the image and its regions differ in type");
  if (x.size() != 4) throw Refusal(fmt::format("an input of rank {}; images have 2 dimensions", x.size()));
  if (rois.size() != 2 || rois[1] != columns) throw Refusal(fmt::format("regions {}, expected {} numbers each", to_string(rois), columns));
  const Shape out{rois[0], x[1], height, width};
  require_possible(out, c.dtype(0));
  if (numel(out) > 0 && numel(x) == 0) throw Refusal("an empty image has no regions");
  c.set_output(0, c.dtype(0), out);
}

void infer_roi_align(InferContext& c) {
  const RoiAlignForm form = roi_align_form(c.node);
  if (c.dtype(2) != DType::kI64 || c.shape(2) != Shape{c.shape(1).empty() ? 0 : c.shape(1)[0]})
    throw Refusal(fmt::format("batch_indices {} of {} for regions {}", to_string(c.shape(2)), name_of(c.dtype(2)), to_string(c.shape(1))));
  infer_regions(c, 4, form.height, form.width);
}

// Where a sample lies along one dimension. Beyond the image by more than one element it is zero.
struct SamplePlace {
  std::vector<SampleTap> taps;
  bool is_outside, is_doubtful;  // doubtful: an honest computation may find the other
};

// A region along one dimension.
struct RegionAxis {
  std::vector<std::vector<SamplePlace>> bins;  // each has as many samples
  bool is_known = true;

  RegionAxis(const RoiAlignForm& form, const PlaceArithmetic& a, Place first, Place last, int64_t pooled, int64_t size) {
    const Place scale{form.scale, 0}, offset{form.half_pixel ? 0.5 : 0, 0};
    const Place start = a.difference(a.product(first, scale), offset), end = a.difference(a.product(last, scale), offset);
    Place length = a.difference(end, start);
    if (!form.half_pixel && !(length.at > 1)) length = {1, length.high() > 1 ? length.error : 0};
    const Place bin = a.quotient(length, static_cast<double>(pooled));
    const double count = form.samples > 0 ? static_cast<double>(form.samples) : std::fmax(0, std::ceil(bin.at));
    is_known = std::isfinite(start.at) && count <= RoiAlignForm::kMostSamples && bin.error < kMostPlaceError;
    if (form.samples == 0) is_known = is_known && std::ceil(bin.low()) == std::ceil(bin.high());
    bins.resize(static_cast<size_t>(pooled));
    for (int64_t b = 0; b < pooled && is_known; ++b)
      for (double i = 0; i < count && is_known; ++i) {
        const Place in_bin = a.quotient(a.product({i + 0.5, 0}, bin), count);
        add(b, a.sum(a.sum(start, a.product({static_cast<double>(b), 0}, bin)), in_bin), size, a.u());
      }
  }

 private:
  void add(int64_t b, const Place& place, int64_t size, double u) {
    const auto last = static_cast<double>(size - 1);
    const auto outside = [&](double at) { return at < -1 || at > last + 1; };
    const double at = std::clamp(place.at, 0.0, last);
    const bool is_held = place.high() <= 0 || place.low() >= last;  // at the first or last element, wherever it is
    SamplePlace sample{{}, outside(place.at), outside(place.low()) != outside(place.high())};
    is_known = is_known && (is_held || place.error < kMostPlaceError);
    if (!is_known) return;
    sample.taps = linear_taps({at, is_held ? 0 : place.error}, u);
    for (SampleTap& tap : sample.taps) tap.at = std::clamp<int64_t>(tap.at, 0, size - 1);
    bins[static_cast<size_t>(b)].push_back(std::move(sample));
  }
};

// The samples of one bin.
struct SampledBin {
  struct Sample {
    std::vector<SampledElement> elements;
    bool is_outside, is_doubtful;
  };
  std::vector<Sample> samples;

  SampledBin(const std::vector<SamplePlace>& rows, const std::vector<SamplePlace>& columns, int64_t height, int64_t width) {
    const int64_t sizes[] = {height, width};
    for (const SamplePlace& r : rows)
      for (const SamplePlace& c : columns) {
        const std::vector<SampleTap> taps[] = {r.taps, c.taps};
        samples.push_back({elements_of(taps, sizes), r.is_outside || c.is_outside, r.is_doubtful || c.is_doubtful});
      }
  }
};

// A number and how far it may be off.
struct BinValue {
  double value = 0, bound = 0;
};
constexpr BinValue kOpenBin{1, HUGE_VAL};

BinValue mean_of(const SampledBin& bin, const RefTensor& x, int64_t channel, const SumType& sums) {
  SampledSum sum;
  for (const auto& sample : bin.samples)
    for (const SampledElement& e : sample.elements) {
      const auto i = static_cast<size_t>(channel + e.at);
      const double value = x.value[i], bound = x.bound_at(channel + e.at);
      if (!sample.is_outside) sum.add(e, value, bound);
      if (sample.is_doubtful) sum.move(e.most * (std::fabs(value) + bound));
    }
  if (sum.is_open()) return kOpenBin;
  const auto count = std::fmax(1, static_cast<double>(bin.samples.size()));
  BinValue mean{sum.value() / count, (sum.moved() + (4 * count + 8) * sums.u * sum.magnitude()) / count};
  if (sum.magnitude() > 0) mean.bound += 4 * sums.step;
  settle_sum(mean.value, mean.bound, sum.magnitude(), sums.beyond);
  return mean;
}

// Of weighted elements, as onnx.reference and ONNX Runtime have it: not of the samples.
BinValue largest_of(const SampledBin& bin, const RefTensor& x, int64_t channel, const SumType& sums) {
  BinValue largest;
  bool is_first = true;
  for (const auto& sample : bin.samples)
    for (const SampledElement& e : sample.elements) {
      const auto i = static_cast<size_t>(channel + e.at);
      const double value = x.value[i], weight = sample.is_outside ? 0 : e.weight;
      if (std::isnan(value) || (std::isinf(value) && (sample.is_outside || sample.is_doubtful || e.least == 0))) return kOpenBin;
      const double product = weight == 0 ? 0 : weight * value;
      if (is_first || product > largest.value) largest.value = product;
      is_first = false;
      if (std::isinf(value) || (sample.is_outside && !sample.is_doubtful)) continue;
      const double slack = sample.is_doubtful ? e.most : e.most - std::fabs(e.weight);
      largest.bound = std::fmax(largest.bound, slack * std::fabs(value) + e.most * (x.bound_at(channel + e.at) + 3 * sums.u * std::fabs(value)) + sums.step);
    }
  return largest;
}

void eval_roi_align(EvalContext& c) {
  const RoiAlignForm form = roi_align_form(c.node);
  const RefTensor &x = c.in(0), &rois = c.in(1), &batch = c.in(2);
  RefTensor& out = float_output(c, 0);
  const PlaceArithmetic arithmetic(rois.dtype);
  const SumType sums = sum_type(out.dtype);
  const int64_t channels = x.shape[1], height = x.shape[2], width = x.shape[3], count = out.shape[0];
  for (int64_t r = 0; r < count; ++r) checked_index(batch.ints[static_cast<size_t>(r)], x.shape[0], c.node);
#pragma omp parallel for schedule(dynamic) if (worth_threads(out.numel() * 16))
  for (int64_t r = 0; r < count; ++r) {
    const auto corner = [&](int64_t i) { return Place{rois.value[static_cast<size_t>(4 * r + i)], rois.bound_at(4 * r + i)}; };
    const RegionAxis rows(form, arithmetic, corner(1), corner(3), form.height, height), columns(form, arithmetic, corner(0), corner(2), form.width, width);
    const bool is_known = rows.is_known && columns.is_known && batch.bound_at(r) == 0;
    const int64_t image = checked_index(batch.ints[static_cast<size_t>(r)], x.shape[0], c.node);
    for (int64_t b = 0; b < form.height * form.width; ++b) {
      static const std::vector<SamplePlace> none;
      const SampledBin bin(is_known ? rows.bins[static_cast<size_t>(b / form.width)] : none, columns.bins[static_cast<size_t>(b % form.width)], height, width);
      for (int64_t k = 0; k < channels; ++k) {
        const int64_t channel = (image * channels + k) * height * width;
        const BinValue y = !is_known ? kOpenBin : form.takes_largest ? largest_of(bin, x, channel, sums) : mean_of(bin, x, channel, sums);
        const auto i = static_cast<size_t>((r * channels + k) * form.height * form.width + b);
        out.value[i] = y.value;
        if (c.bounds) out.bound[i] = y.bound;
      }
    }
  }
  finish_bounds(out);
}

// ---- MaxRoiPool: corners are rounded to whole elements, both of which belong to the region.

Shape pooled_shape(const Node& node) {
  const std::vector<int64_t> pooled = node.attr_ints("pooled_shape");
  if (pooled.size() != 2 || pooled[0] < 1 || pooled[1] < 1) throw Refusal("pooled_shape must be two sizes");
  return pooled;
}

void infer_max_roi_pool(InferContext& c) {
  const Shape pooled = pooled_shape(c.node);
  infer_regions(c, 5, pooled[0], pooled[1]);
}

// The elements of each bin along one dimension: [first, end).
struct RoundedAxis {
  std::vector<std::pair<int64_t, int64_t>> bins;
  bool is_known = true;

  RoundedAxis(const PlaceArithmetic& a, double scale, Place first, Place last, int64_t pooled, int64_t size) {
    const int64_t from = rounded(a.product(first, {scale, 0})), length = std::max<int64_t>(rounded(a.product(last, {scale, 0})) - from + 1, 1);
    for (int64_t b = 0; b < pooled; ++b) {
      const int64_t begin = b * length / pooled, end = ((b + 1) * length + pooled - 1) / pooled;
      bins.emplace_back(std::clamp<int64_t>(from + begin, 0, size), std::clamp<int64_t>(from + end, 0, size));
    }
  }

 private:
  int64_t rounded(const Place& p) {  // halves away from zero
    const bool is_near = std::fabs(p.at) < kFarCoordinate;
    is_known = is_known && is_near && std::round(p.low()) == std::round(p.high());
    return is_near ? static_cast<int64_t>(std::round(p.at)) : 0;
  }
};

void eval_max_roi_pool(EvalContext& c) {
  const RefTensor &x = c.in(0), &rois = c.in(1);
  RefTensor& out = float_output(c, 0);
  const PlaceArithmetic a(rois.dtype);
  const Shape pooled = pooled_shape(c.node);
  const double scale = c.node.attr_float("spatial_scale", 1);
  const int64_t channels = x.shape[1], height = x.shape[2], width = x.shape[3];
  for (int64_t r = 0; r < out.shape[0]; ++r) {
    const auto number = [&](int64_t i) { return Place{rois.value[static_cast<size_t>(5 * r + i)], rois.bound_at(5 * r + i)}; };
    const RoundedAxis rows(a, scale, number(2), number(4), pooled[0], height), columns(a, scale, number(1), number(3), pooled[1], width);
    const Place id = number(0);  // a float: a whole number is in it, or the nearest towards 0 counts
    const bool is_known = rows.is_known && columns.is_known && std::isfinite(id.at) && std::trunc(id.low()) == std::trunc(id.high());
    const auto image = is_known ? static_cast<int64_t>(std::clamp(id.at, 0.0, static_cast<double>(x.shape[0] - 1))) : 0;
    for (int64_t i = 0; i < channels * pooled[0] * pooled[1]; ++i) {
      const auto [top, bottom] = rows.bins[static_cast<size_t>(i / pooled[1] % pooled[0])];
      const auto [left, right] = columns.bins[static_cast<size_t>(i % pooled[1])];
      BinValue best;
      bool is_first = true;
      for (int64_t h = top; h < bottom; ++h)
        for (int64_t w = left; w < right; ++w) {
          const int64_t at = ((image * channels + i / (pooled[0] * pooled[1])) * height + h) * width + w;
          const double v = x.value[static_cast<size_t>(at)];
          if (is_first || v > best.value || std::isnan(v)) best.value = v;
          is_first = false;
          if (std::isnan(v)) h = bottom, w = right;
          else best.bound = std::fmax(best.bound, x.bound_at(at));
        }
      const auto to = static_cast<size_t>(r * channels * pooled[0] * pooled[1] + i);
      out.value[to] = is_known ? best.value : kOpenBin.value;
      if (c.bounds) out.bound[to] = is_known ? best.bound : kOpenBin.bound;
    }
  }
  finish_bounds(out, false);
}

// Before 16 nothing was moved by half an element.
void state_coordinates(NodeUpgrade& u) { u.node.attributes["coordinate_transformation_mode"] = std::string("output_half_pixel"); }

}  // namespace

std::vector<OpDef> region_ops() {
  return {
      {"", "RoiAlign", "ffi", infer_roi_align, eval_roi_align, 1, {{16, state_coordinates}}},
      {"", "MaxRoiPool", "ff", infer_max_roi_pool, eval_max_roi_pool},
  };
}

}  // namespace amdahl

// GridSample: an image read at positions that another tensor holds.

#include "graph/ops/grid_sample.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "graph/node_upgrade.h"
#include "graph/ops/copy.h"
#include "graph/ops/eval_support.h"
#include "graph/ops/families.h"
#include "graph/ops/sampling.h"

namespace amdahl {

GridSampleForm grid_sample_form(const Node& node) {
  const std::string mode = node.attr_string("mode", "linear"), padding = node.attr_string("padding_mode", "zeros");
  GridSampleForm form{GridSampleForm::kLinear, GridSampleForm::kZeros, node.attr_int("align_corners", 0) != 0};
  if (mode == "nearest") form.mode = GridSampleForm::kNearest;
  else if (mode == "cubic" || mode == "bicubic") form.mode = GridSampleForm::kCubic;
  else if (mode != "linear" && mode != "bilinear") throw Refusal("unknown mode '" + mode + "'");
  if (padding == "border") form.padding = GridSampleForm::kBorder;
  else if (padding == "reflection") form.padding = GridSampleForm::kReflection;
  else if (padding != "zeros") throw Refusal("unknown padding_mode '" + padding + "'");
  return form;
}

namespace {

constexpr double kFar = 0x1.0p+30;  // positions of which kernels keep the sign alone

void infer_grid_sample(InferContext& c) {
  const GridSampleForm form = grid_sample_form(c.node);
  const Shape &x = c.shape(0), &grid = c.shape(1);
  if (x.size() < 3 || x.size() > 5) throw Refusal(fmt::format("an input of rank {}; images have 1 to 3 dimensions", x.size()));
  if (grid.size() != x.size() || grid[0] != x[0] || grid.back() != static_cast<int64_t>(x.size()) - 2)
    throw Refusal(fmt::format("a grid {} for an input {}", to_string(grid), to_string(x)));
  if (form.mode != GridSampleForm::kNearest && !is_float(c.dtype(0))) throw Refusal("integers can only be read by mode nearest");
  Shape out{x[0], x[1]};
  out.insert(out.end(), grid.begin() + 1, grid.end() - 1);
  if (numel(out) > 0 && numel(x) == 0) throw Refusal("an empty image has nothing to read");
  c.set_output(0, c.dtype(0), out);
}

// Which element stands for the one at `at`, that may lie outside; -1: none, it is zero.
int64_t padded(int64_t at, int64_t size, const GridSampleForm& form) {
  if (at >= 0 && at < size) return at;
  if (form.padding == GridSampleForm::kZeros) return -1;
  if (form.padding == GridSampleForm::kBorder) return at < 0 ? 0 : size - 1;
  if (form.align_corners && size == 1) return 0;
  const int64_t period = form.align_corners ? 2 * size - 2 : 2 * size, rest = at % period, m = rest < 0 ? rest + period : rest;
  return m < size ? m : form.align_corners ? period - m : period - 1 - m;
}

// One position of the grid.
struct Spot {
  std::vector<Place> places;  // a dimension of the image
  bool is_known = true;       // off by less than half an element
};

class Sampler {
 public:
  Sampler(EvalContext& c)
      : c_(c),
        form_(grid_sample_form(c.node)),
        arithmetic_(c.in(1).dtype),
        sizes_(c.in(0).shape.begin() + 2, c.in(0).shape.end()),
        channels_(c.in(0).shape[1]),
        image_(numel(sizes_)) {
    const Shape& out = c.out(0).shape;
    points_ = product(out, 2, out.size());
  }

  void run() {
    if (c_.out(0).is_float()) float_output(c_, 0);
    else c_.out(0).ints.assign(static_cast<size_t>(c_.out(0).numel()), 0), c_.out(0).bound.assign(c_.bounds ? c_.out(0).ints.size() : 0, 0.0);
    const int64_t spots = c_.out(0).shape[0] * points_;
#pragma omp parallel for if (worth_threads(spots * channels_))
    for (int64_t s = 0; s < spots; ++s) {
      const Spot spot = spot_of(s);
      if (form_.mode == GridSampleForm::kNearest) copy_nearest(s, spot);
      else interpolate(s, spot);
    }
    if (c_.out(0).is_float()) finish_bounds(c_.out(0));
  }

 private:
  Place place_of(int64_t component, int64_t size) const {
    const PlaceArithmetic& a = arithmetic_;
    const auto i = static_cast<size_t>(component);
    const auto n = static_cast<double>(size);
    const Place g = a.sum({c_.in(1).value[i], c_.in(1).bound_at(component)}, {1, 0});
    if (form_.align_corners) return a.product(a.quotient(g, 2), {n - 1, 0});
    return a.quotient(a.difference(a.product(g, {n, 0}), {1, 0}), 2);
  }

  // x comes first in the grid, and last among the dimensions.
  Spot spot_of(int64_t s) const {
    Spot spot;
    const auto rank = static_cast<int64_t>(sizes_.size());
    for (int64_t d = 0; d < rank; ++d) {
      const int64_t size = sizes_[static_cast<size_t>(d)];
      Place p = place_of(s * rank + rank - 1 - d, size);
      if (form_.padding != GridSampleForm::kReflection) {  // so far outside that nothing nearer counts; halfway, where weights are largest and rounded
        const double before = -4.5, behind = static_cast<double>(size) + 3.5;
        if (p.high() < before) p = {before, 0};
        if (p.low() > behind) p = {behind, 0};
      }
      const bool is_known = std::fabs(p.at) < kFar && p.error < kMostPlaceError;
      spot.is_known = spot.is_known && is_known;
      if (!is_known) p = {std::fabs(p.at) < kFar ? p.at : 0, 0};
      spot.places.push_back(p);
    }
    return spot;
  }

  // Where channel 0 of the spot's image and of its result begin.
  int64_t from(int64_t s) const { return s / points_ * channels_ * image_; }
  int64_t to(int64_t s) const { return s / points_ * channels_ * points_ + s % points_; }

  void interpolate(int64_t s, const Spot& spot) {
    const RefTensor& x = c_.in(0);
    RefTensor& out = c_.out(0);
    std::vector<std::vector<SampleTap>> taps;
    for (size_t d = 0; d < sizes_.size(); ++d) {
      taps.push_back(form_.mode == GridSampleForm::kLinear ? linear_taps(spot.places[d], arithmetic_.u()) : cubic_taps(spot.places[d], arithmetic_.u()));
      for (SampleTap& tap : taps.back()) tap.at = padded(tap.at, sizes_[d], form_);
    }
    const std::vector<SampledElement> elements = elements_of(taps, sizes_);
    const SumType sums = sum_type(out.dtype);
    const auto terms = static_cast<double>(elements.size());
    const double growth = (terms + 2 * static_cast<double>(sizes_.size()) + 2) * sums.u;
    for (int64_t channel = 0; channel < channels_; ++channel) {
      const int64_t base = from(s) + channel * image_;
      SampledSum sum;
      for (const SampledElement& e : elements) sum.add(e, x.value[static_cast<size_t>(base + e.at)], x.bound_at(base + e.at));
      const auto i = static_cast<size_t>(to(s) + channel * points_);
      out.value[i] = sum.value();
      if (!c_.bounds) continue;
      out.bound[i] = sum.moved() + growth * sum.magnitude() + (sum.magnitude() > 0 ? terms * sums.step : 0);
      settle_sum(out.value[i], out.bound[i], (1 + growth) * sum.magnitude(), sums.beyond);
      if (!spot.is_known || sum.is_open()) open(i);
    }
  }

  // Elements that an honest computation may take for the nearest; the oracle's own comes first.
  std::vector<std::vector<SampleTap>> nearest(const Spot& spot) const {
    std::vector<std::vector<SampleTap>> all;
    for (size_t d = 0; d < sizes_.size(); ++d) {
      const Place& p = spot.places[d];
      const double own = std::nearbyint(p.at);
      const auto tap = [&](double at) { return SampleTap{padded(static_cast<int64_t>(at), sizes_[d], form_), 1, 0}; };
      all.push_back({tap(own)});
      for (const double other : {std::nearbyint(p.low()), std::nearbyint(p.high())})
        if (other != own) all.back().push_back(tap(other));
    }
    return all;
  }

  // Where elements lie in a channel, -1: a zero.
  std::vector<int64_t> choices(const Spot& spot) const {
    std::vector<int64_t> all{0};
    const auto taps = nearest(spot);
    for (size_t d = 0; d < sizes_.size(); ++d) {
      std::vector<int64_t> longer;
      for (const int64_t at : all)
        for (const SampleTap& tap : taps[d]) longer.push_back(at < 0 || tap.at < 0 ? -1 : at * sizes_[d] + tap.at);
      all.swap(longer);
    }
    return all;
  }

  void copy_nearest(int64_t s, const Spot& spot) {
    const RefTensor& x = c_.in(0);
    RefTensor& out = c_.out(0);
    const std::vector<int64_t> from_elements = choices(spot);
    for (int64_t channel = 0; channel < channels_; ++channel) {
      const int64_t base = from(s) + channel * image_;
      const auto number = [&](int64_t at) {
        const auto i = static_cast<size_t>(base + at);
        return at < 0 ? 0.0 : x.is_float() ? x.value[i] : static_cast<double>(x.ints[i]);
      };
      const auto i = static_cast<size_t>(to(s) + channel * points_);
      const int64_t own = from_elements[0];
      if (out.is_float()) out.value[i] = number(own);
      else out.ints[i] = own < 0 ? 0 : x.ints[static_cast<size_t>(base + own)];
      if (out.bound.empty()) continue;
      double bound = own < 0 ? 0 : x.bound_at(base + own);
      for (const int64_t other : from_elements) {
        if (other == own) continue;
        const double difference = std::fabs(number(other) - number(own));
        bound = std::fmax(bound, std::isnan(difference) ? HUGE_VAL : difference + (other < 0 ? 0 : x.bound_at(base + other)));
      }
      out.bound[i] = spot.is_known ? bound : HUGE_VAL;
      if (out.is_float() && out.bound[i] == HUGE_VAL) open(i);
    }
  }

  void open(size_t i) {
    RefTensor& out = c_.out(0);
    out.value[i] = 0;  // a NaN would be met
    leave_open(out.value[i], out.bound[i]);
  }

  EvalContext& c_;
  GridSampleForm form_;
  PlaceArithmetic arithmetic_;
  Shape sizes_;
  int64_t channels_, image_, points_ = 0;
};

void eval_grid_sample(EvalContext& c) { Sampler(c).run(); }

// They were names of images alone.
void rename_modes(NodeUpgrade& u) {
  const std::string mode = u.node.attr_string("mode", "linear");
  if (mode == "bilinear" || mode == "bicubic") u.node.attributes["mode"] = mode.substr(2);
}

}  // namespace

std::vector<OpDef> grid_sample_ops() {
  return {
      {"", "GridSample", "af", infer_grid_sample, eval_grid_sample, 1, {{20, rename_modes}}},
  };
}

}  // namespace amdahl

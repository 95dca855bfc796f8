// Slice and Pad.

#include <fmt/format.h>

#include "base/error.h"
#include "graph/node_upgrade.h"
#include "graph/ops/copy.h"
#include "graph/ops/sizes.h"

namespace amdahl {
namespace {

// The dimension that `axis` means, each once.
size_t claim_axis(int64_t axis, std::vector<bool>& claimed) {
  const size_t a = axis_of(axis, claimed.size());
  if (a >= claimed.size()) throw Refusal(fmt::format("axis {} is out of range for rank {}", axis, claimed.size()));
  if (claimed[a]) throw Refusal(fmt::format("axis {} is given twice", axis));
  claimed[a] = true;
  return a;
}

// ---- Slice.

struct Range {
  int64_t start = 0, step = 1, count = 0;
};

int64_t clamp(int64_t v, int64_t lo, int64_t hi) { return std::min(std::max(v, lo), hi); }

// Negative positions count from the end, then everything is clamped. Backwards, ONNX begins no further down than at the first element,
// where numpy begins before it and takes nothing.
Range range_of(int64_t size, int64_t start, int64_t end, int64_t step) {
  if (step == 0) throw Refusal("a step of 0");
  // A step past the end is as good as one to the end, and does not overflow.
  step = clamp(step, -std::max<int64_t>(size, 1), std::max<int64_t>(size, 1));
  if (start < 0) start += size;
  if (end < 0) end = end < -size ? -1 - (step > 0) : end + size;
  if (step > 0) {
    start = clamp(start, 0, size);
    end = clamp(end, 0, size);
    return {start, step, end > start ? (end - start - 1) / step + 1 : 0};
  }
  if (size == 0) return {0, step, 0};
  start = clamp(start, 0, size - 1);
  end = clamp(end, -1, size - 1);
  return {start, step, start > end ? (start - end - 1) / -step + 1 : 0};
}

// A range a dimension. Attributes before opset 10, then inputs, read through ints(i).
template <typename Has, typename Ints>
std::vector<Range> slice_ranges(const Node& node, const Shape& shape, Has has, Ints ints) {
  const bool by_attribute = node.version < 10;
  const std::vector<int64_t> starts = by_attribute ? node.attr_ints("starts") : ints(1, "the starts");
  const std::vector<int64_t> ends = by_attribute ? node.attr_ints("ends") : ints(2, "the ends");
  std::vector<int64_t> axes, steps;
  if (by_attribute) axes = node.attr_ints("axes");
  else if (has(3)) axes = ints(3, "the axes");
  if (!by_attribute && has(4)) steps = ints(4, "the steps");
  if (axes.empty())
    for (size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  steps.resize(steps.empty() ? starts.size() : steps.size(), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
    throw Refusal("starts, ends, axes and steps differ in length");
  std::vector<Range> ranges;
  for (int64_t d : shape) ranges.push_back({0, 1, d});
  std::vector<bool> claimed(shape.size(), false);
  for (size_t i = 0; i < axes.size(); ++i) {
    const size_t a = claim_axis(axes[i], claimed);
    ranges[a] = range_of(shape[a], starts[i], ends[i], steps[i]);
  }
  return ranges;
}

void infer_slice(InferContext& c) {
  const auto ranges = slice_ranges(
      c.node, c.shape(0), [&](size_t i) { return c.has_input(i); }, [&](size_t i, const char* what) { return c.constant_ints(i, what); });
  Shape out;
  for (const Range& r : ranges) out.push_back(r.count);
  c.set_output(0, c.dtype(0), out);
}

void eval_slice(EvalContext& c) {
  const Shape& in = c.in(0).shape;
  const auto ranges = slice_ranges(
      c.node, in, [&](size_t i) { return c.has_input(i); }, [&](size_t i, const char*) { return c.in(i).ints; });
  Shape strides = row_major_strides(in);
  int64_t offset = 0;
  for (size_t d = 0; d < in.size(); ++d) {
    offset += ranges[d].start * strides[d];
    strides[d] *= ranges[d].step;
  }
  if (c.out(0).numel() == 0) offset = 0;
  copy_planes(c.in(0), c.out(0), [&](const auto* from, auto* to) { strided_copy(from + offset, c.out(0).shape, strides, to); });
}

// ---- Pad.

struct Padding {
  int64_t before = 0, after = 0;
};

template <typename Has, typename Ints>
std::vector<Padding> paddings(const Node& node, size_t rank, Has has, Ints ints) {
  const std::vector<int64_t> pads = node.version < 11 ? node.attr_ints("pads") : ints(1, "the pads");
  std::vector<int64_t> axes;
  if (node.version >= 18 && has(3)) axes = ints(3, "the axes");
  else
    for (size_t i = 0; i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
  if (pads.size() != 2 * axes.size()) throw Refusal(fmt::format("{} pads for {} dimensions", pads.size(), axes.size()));
  std::vector<Padding> result(rank);
  std::vector<bool> claimed(rank, false);
  for (size_t i = 0; i < axes.size(); ++i) {
    const size_t a = claim_axis(axes[i], claimed);
    const int64_t before = pads[i], after = pads[axes.size() + i];
    constexpr int64_t kMost = int64_t{1} << 46;  // what a tensor can hold at all
    if (std::max(before, after) > kMost || std::min(before, after) < -kMost) throw Refusal(fmt::format("pads of {} and {} are impossible", before, after));
    result[a] = {before, after};
  }
  return result;
}

void infer_pad(InferContext& c) {
  const std::string mode = c.node.attr_string("mode", "constant");
  if (mode != "constant" && mode != "reflect" && mode != "edge" && mode != "wrap") throw Refusal("unknown mode '" + mode + "'");
  if (c.node.version >= 11 && c.has_input(2) && (numel(c.shape(2)) != 1 || c.dtype(2) != c.dtype(0)))
    throw Refusal("the constant must be one element of the input's type");
  Shape out = c.shape(0);
  const auto pads = paddings(
      c.node, out.size(), [&](size_t i) { return c.has_input(i); }, [&](size_t i, const char* what) { return c.constant_ints(i, what); });
  for (size_t d = 0; d < out.size(); ++d) {
    if (mode != "constant" && out[d] == 0 && (pads[d].before > 0 || pads[d].after > 0)) throw Refusal("an empty dimension has nothing to pad from");
    out[d] += pads[d].before + pads[d].after;
    if (out[d] < 0) throw Refusal("the pads cut away more than there is");
  }
  c.set_output(0, c.dtype(0), out);
}

// Where position `at` (may lie outside) of a dimension of `size` is taken from; -1: the constant.
int64_t source_of(int64_t at, int64_t size, const std::string& mode) {
  if (at >= 0 && at < size) return at;
  if (mode == "constant") return -1;
  if (mode == "edge") return clamp(at, 0, size - 1);
  if (mode == "wrap") return ((at % size) + size) % size;
  if (size == 1) return 0;
  const int64_t period = 2 * (size - 1), t = ((at % period) + period) % period;  // reflect: the edge is not repeated
  return t < size ? t : period - t;
}

void eval_pad(EvalContext& c) {
  const RefTensor& in = c.in(0);
  RefTensor& out = c.out(0);
  const std::string mode = c.node.attr_string("mode", "constant");
  const auto pads = paddings(
      c.node, in.shape.size(), [&](size_t i) { return c.has_input(i); }, [&](size_t i, const char*) { return c.in(i).ints; });
  std::vector<std::vector<int64_t>> maps;
  for (size_t d = 0; d < in.shape.size(); ++d) {
    maps.emplace_back();
    for (int64_t i = 0; i < out.shape[d]; ++i) maps.back().push_back(source_of(i - pads[d].before, in.shape[d], mode));
  }
  const bool by_input = c.node.version >= 11 && c.has_input(2);
  const auto n = static_cast<size_t>(out.numel());
  if (in.is_float()) {
    const double fill = by_input ? c.in(2).value[0] : c.node.version < 11 ? c.node.attr_float("value", 0.0) : 0.0;
    out.value.resize(n);
    mapped_copy(in.value.data(), in.shape, maps, fill, out.value.data());
  } else {
    out.ints.resize(n);
    mapped_copy(in.ints.data(), in.shape, maps, by_input ? c.in(2).ints[0] : int64_t{0}, out.ints.data());
  }
  const double fill_bound = by_input ? c.in(2).bound_at(0) : 0.0;
  if (in.bound.empty() && fill_bound == 0) return;
  const std::vector<double> zeros(in.bound.empty() ? static_cast<size_t>(in.numel()) : 0, 0.0);
  out.bound.resize(n);
  mapped_copy(in.bound.empty() ? zeros.data() : in.bound.data(), in.shape, maps, fill_bound, out.bound.data());
}

void pads_to_inputs(NodeUpgrade& u) {
  u.ints_to_input("pads", 1);
  u.float_to_input("value", 2, 0);
}

void slice_to_inputs(NodeUpgrade& u) {
  u.ints_to_input("starts", 1);
  u.ints_to_input("ends", 2);
  u.ints_to_input("axes", 3);
}

}  // namespace

std::vector<OpDef> slicing_ops() {
  return {
      {"", "Slice", "aIIII", infer_slice, eval_slice, 1, {{10, slice_to_inputs}}},
      {"", "Pad", "aIAI", infer_pad, eval_pad, 1, {{11, pads_to_inputs}}},
  };
}

}  // namespace amdahl

// Graph operators as strided copies.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "graph/graph.h"
#include "graph/op.h"
#include "starter_kernels/kinds/accesses.h"
#include "starter_kernels/kinds/kernel_kind.h"
#include "starter_kernels/kinds/movement.h"
#include "starter_kernels/kinds/problem.h"

namespace amdahl {
namespace {

size_t axis_of(int64_t axis, size_t rank) { return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis); }

std::vector<int64_t> ints_of(const Graph& graph, const Node& node, size_t input) {
  if (input >= node.inputs.size() || !graph.is_constant(node.inputs[input])) return {};
  return to_ints(*graph.value(node.inputs[input]).constant);
}

// One copy of `shape` from the first input, read with these strides.
Lowering view(const Graph& graph, const Node& node, Shape shape, Shape strides, int64_t offset) {
  Lowering l;
  l.inputs = {node.inputs[0]};
  l.outputs = {node.outputs[0]};
  const DType dtype = graph.value(node.inputs[0]).dtype;
  l.variant.problem.in = {{dtype, shape, std::move(strides), offset, graph.is_constant(node.inputs[0])}};
  l.variant.problem.out = {Access::dense(dtype, std::move(shape))};
  return l;
}

// The source seen as `factored` (same elements), its dimensions in the order of `perm`.
Lowering permuted(const Graph& graph, const Node& node, const Shape& factored, const std::vector<int64_t>& perm) {
  const Shape own = row_major_strides(factored);
  Shape shape, strides;
  for (int64_t p : perm) {
    shape.push_back(factored[static_cast<size_t>(p)]);
    strides.push_back(own[static_cast<size_t>(p)]);
  }
  return view(graph, node, shape, strides, 0);
}

Lowering transpose(const Graph& graph, const Node& node) {
  const Shape& in = graph.value(node.inputs[0]).shape;
  std::vector<int64_t> perm = node.attr_ints("perm");
  if (perm.empty()) {
    perm.resize(in.size());
    std::iota(perm.rbegin(), perm.rend(), 0);
  }
  return permuted(graph, node, in, perm);
}

Lowering depth_to_space(const Graph& graph, const Node& node) {
  const Shape& s = graph.value(node.inputs[0]).shape;
  const int64_t b = node.attr_int("blocksize", 1), channels = s[1] / (b * b);
  if (node.attr_string("mode", "DCR") == "DCR") return permuted(graph, node, {s[0], b, b, channels, s[2], s[3]}, {0, 3, 4, 1, 5, 2});
  return permuted(graph, node, {s[0], channels, b, b, s[2], s[3]}, {0, 1, 4, 2, 5, 3});
}

Lowering space_to_depth(const Graph& graph, const Node& node) {
  const Shape& s = graph.value(node.inputs[0]).shape;
  const int64_t b = node.attr_int("blocksize", 1);
  return permuted(graph, node, {s[0], s[1], s[2] / b, b, s[3] / b, b}, {0, 3, 5, 1, 2, 4});
}

Lowering expand(const Graph& graph, const Node& node) {
  const Shape& out = graph.value(node.outputs[0]).shape;
  const Access a = broadcast_access(graph, node.inputs[0], out);
  return view(graph, node, out, a.strides, 0);
}

// Each dimension as [repeats, size], the repeats standing still.
Lowering tile(const Graph& graph, const Node& node) {
  const Shape &in = graph.value(node.inputs[0]).shape, &out = graph.value(node.outputs[0]).shape;
  const Shape own = row_major_strides(in);
  Shape shape, strides;
  for (size_t d = 0; d < in.size(); ++d) {
    shape.insert(shape.end(), {in[d] ? out[d] / in[d] : 0, in[d]});
    strides.insert(strides.end(), {0, own[d]});
  }
  return view(graph, node, shape, strides, 0);
}

// Where a slice starts and steps, as in graph/ops/slicing.cc. The count is the output's.
std::optional<Lowering> slice(const Graph& graph, const Node& node) {
  const Shape &in = graph.value(node.inputs[0]).shape, &out = graph.value(node.outputs[0]).shape;
  const bool by_attribute = node.version < 10;
  std::vector<int64_t> starts = by_attribute ? node.attr_ints("starts") : ints_of(graph, node, 1);
  std::vector<int64_t> axes = by_attribute ? node.attr_ints("axes") : ints_of(graph, node, 3);
  std::vector<int64_t> steps = by_attribute ? std::vector<int64_t>{} : ints_of(graph, node, 4);
  if (starts.empty() && !in.empty() && in != out) return std::nullopt;
  if (axes.empty()) {
    axes.resize(starts.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  steps.resize(starts.size(), 1);
  Shape strides = row_major_strides(in);
  int64_t offset = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    const size_t a = axis_of(axes[i], in.size());
    int64_t start = starts[i] < 0 ? starts[i] + in[a] : starts[i];
    start = steps[i] > 0 ? std::clamp<int64_t>(start, 0, in[a]) : std::min(std::max<int64_t>(start, 0), in[a] - 1);
    offset += start * strides[a];
    const int64_t longest = std::max<int64_t>(in[a], 1);  // a longer step ends as far, and does not overflow
    strides[a] *= std::clamp(steps[i], -longest, longest);
  }
  return view(graph, node, out, strides, numel(out) == 0 ? 0 : offset);
}

Lowering with_copies(const Graph& graph, std::vector<ValueId> inputs, std::vector<ValueId> outputs, const std::vector<StridedCopy>& copies,
                     std::optional<uint64_t> fill = std::nullopt) {
  Lowering l;
  for (ValueId v : inputs) l.variant.problem.in.push_back(dense_access(graph, v));
  for (ValueId v : outputs) l.variant.problem.out.push_back(dense_access(graph, v));
  MovementParams{copies, fill, {}}.write(l.variant.problem);
  l.inputs = std::move(inputs);
  l.outputs = std::move(outputs);
  return l;
}

Lowering concat(const Graph& graph, const Node& node) {
  const Shape& out = graph.value(node.outputs[0]).shape;
  const size_t axis = axis_of(node.attr_int("axis", 0), out.size());
  const Shape strides = row_major_strides(out);
  std::vector<StridedCopy> copies;
  int64_t at = 0;
  for (size_t k = 0; k < node.inputs.size(); ++k) {
    const Shape& in = graph.value(node.inputs[k]).shape;
    copies.push_back({static_cast<int>(k), 0, in, row_major_strides(in), strides, 0, at * strides[axis]});
    at += in[axis];
  }
  return with_copies(graph, node.inputs, node.outputs, copies);
}

Lowering split(const Graph& graph, const Node& node) {
  const Shape& in = graph.value(node.inputs[0]).shape;
  const size_t axis = axis_of(node.attr_int("axis", 0), in.size());
  const Shape strides = row_major_strides(in);
  std::vector<StridedCopy> copies;
  std::vector<ValueId> outputs;
  const std::vector<int64_t> sizes = node.version < 13 ? node.attr_ints("split") : ints_of(graph, node, 1);
  const auto parts = static_cast<int64_t>(node.outputs.size());
  const int64_t chunk = (in[axis] + parts - 1) / parts;
  int64_t at = 0;
  for (size_t r = 0; r < node.outputs.size(); ++r) {
    const int64_t size = sizes.empty() ? std::min(chunk, in[axis] - at) : sizes[r];
    if (node.outputs[r] != kNoValue) {
      const Shape& out = graph.value(node.outputs[r]).shape;
      copies.push_back({0, static_cast<int>(outputs.size()), out, strides, row_major_strides(out), at * strides[axis], 0});
      outputs.push_back(node.outputs[r]);
    }
    at += size;
  }
  return with_copies(graph, {node.inputs[0]}, outputs, copies);
}

// ---- Pad: along each dimension the output is a row of runs; a copy for every combination of runs.

struct Run {
  int64_t at = 0, count = 0;   // place in the output
  int64_t from = 0, step = 0;  // source positions
  bool fill = false;           // the constant instead
};

// The constant, what is left of the input, the constant.
std::vector<Run> runs_of_constant(int64_t size, int64_t before, int64_t total) {
  const int64_t begin = std::clamp<int64_t>(before, 0, total), end = std::clamp(before + size, begin, total);
  std::vector<Run> runs = {{0, begin, 0, 0, true}, {begin, end - begin, begin - before, 1, false}, {end, total - end, 0, 0, true}};
  std::erase_if(runs, [](const Run& r) { return r.count == 0; });
  return runs;
}

// Past these a movement by copies makes no sense.
constexpr size_t kMostCopies = 300;
constexpr int64_t kMostMirrored = 1 << 24;

std::vector<Run> runs_of(int64_t size, int64_t before, int64_t after, const std::string& mode) {
  const int64_t total = size + before + after;
  if (mode == "constant") return runs_of_constant(size, before, total);
  if (total > kMostMirrored) throw Refusal(fmt::format("a dimension padded to {} in mode {}", total, mode));
  const auto source = [&](int64_t p) -> int64_t {
    if (p >= 0 && p < size) return p;
    if (mode == "edge") return std::clamp<int64_t>(p, 0, size - 1);
    if (mode == "wrap") return ((p % size) + size) % size;
    if (size == 1) return 0;
    const int64_t period = 2 * (size - 1), t = ((p % period) + period) % period;
    return t < size ? t : period - t;
  };
  std::vector<Run> runs;
  for (int64_t i = 0; i < total && runs.size() <= kMostCopies; ++i) {
    const int64_t s = source(i - before);
    if (!runs.empty()) {
      Run& r = runs.back();
      // A run takes its step from its second position; the middle part must not be cut short by a mirrored neighbour.
      if (r.count == 1 ? std::abs(s - r.from) <= 1 && i - before != 0 : s == r.from + r.count * r.step) {
        if (r.count == 1) r.step = s - r.from;
        ++r.count;
        continue;
      }
    }
    runs.push_back({i, 1, s, 0, false});
  }
  return runs;
}

// Appends copies for dimensions d … of the runs chosen so far.
void pad_copies(const std::vector<std::vector<Run>>& runs, size_t d, const Shape& in_strides, StridedCopy chosen, const Shape& out,
                std::vector<StridedCopy>& copies) {
  if (d == runs.size()) {
    copies.push_back(std::move(chosen));
    return;
  }
  for (const Run& run : runs[d]) {
    StridedCopy next = chosen;
    next.out_offset += run.at * chosen.out_strides[d];
    next.shape[d] = run.count;
    if (run.fill) {  // whatever the dimensions below: all constant
      next.in = -1;
      next.in_offset = 0;
      next.in_strides.assign(next.in_strides.size(), 0);
      for (size_t k = d + 1; k < runs.size(); ++k) next.shape[k] = out[k];
      copies.push_back(std::move(next));
      continue;
    }
    next.in_offset += run.from * in_strides[d];
    next.in_strides[d] = run.step * in_strides[d];
    pad_copies(runs, d + 1, in_strides, std::move(next), out, copies);
  }
}

std::optional<Lowering> pad(const Graph& graph, const Node& node) {
  const Value &in = graph.value(node.inputs[0]), &out = graph.value(node.outputs[0]);
  const std::string mode = node.attr_string("mode", "constant");
  const std::vector<int64_t> pads = node.version < 11 ? node.attr_ints("pads") : ints_of(graph, node, 1);
  std::vector<int64_t> axes = node.version >= 18 ? ints_of(graph, node, 3) : std::vector<int64_t>{};
  if (axes.empty()) {
    axes.resize(in.shape.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (pads.size() != 2 * axes.size()) return std::nullopt;
  std::vector<int64_t> before(in.shape.size(), 0), after(in.shape.size(), 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    before[axis_of(axes[i], in.shape.size())] = pads[i];
    after[axis_of(axes[i], in.shape.size())] = pads[axes.size() + i];
  }
  std::vector<std::vector<Run>> runs;
  size_t combinations = 1;
  for (size_t d = 0; d < in.shape.size(); ++d) {
    runs.push_back(runs_of(in.shape[d], before[d], after[d], mode));
    combinations = std::min(kMostCopies + 1, combinations * runs.back().size());
  }
  if (combinations > kMostCopies) return std::nullopt;
  std::vector<StridedCopy> copies;
  StridedCopy start{0, 0, out.shape, Shape(in.shape.size(), 0), row_major_strides(out.shape), 0, 0};
  if (numel(out.shape) > 0) pad_copies(runs, 0, row_major_strides(in.shape), start, out.shape, copies);

  uint64_t fill = 0;
  std::vector<ValueId> inputs{node.inputs[0]};
  if (node.version < 11) {
    const Tensor value = from_doubles(in.dtype, {1}, {node.attr_float("value", 0)});
    std::memcpy(&fill, value.data(), value.bytes());
  } else if (node.inputs.size() > 2 && node.inputs[2] != kNoValue && mode == "constant") {
    if (graph.is_constant(node.inputs[2])) {
      const Tensor& value = *graph.value(node.inputs[2]).constant;
      std::memcpy(&fill, value.data(), value.bytes());
    } else {  // read at run time, standing still
      inputs.push_back(node.inputs[2]);
      for (StridedCopy& c : copies)
        if (c.in < 0) c.in = 1;
    }
  }
  return with_copies(graph, inputs, {node.outputs[0]}, copies, fill);
}

Lowering gather(const Graph& graph, const Node& node) {
  const Shape& data = graph.value(node.inputs[0]).shape;
  const size_t axis = axis_of(node.attr_int("axis", 0), data.size());
  const auto at = data.begin() + static_cast<int64_t>(axis);
  Lowering l;
  l.inputs = {node.inputs[0], node.inputs[1]};
  l.outputs = {node.outputs[0]};
  Problem& p = l.variant.problem;
  p.in = {dense_access(graph, node.inputs[0]), dense_access(graph, node.inputs[1])};
  p.out = {dense_access(graph, node.outputs[0])};
  MovementParams params;
  params.gather = {numel(Shape(data.begin(), at)), data[axis], numel(graph.value(node.inputs[1]).shape), numel(Shape(at + 1, data.end()))};
  params.write(p);
  return l;
}

}  // namespace

std::optional<Lowering> movement_of_node(const Graph& graph, const Node& node) {
  if (!node.domain.empty()) return std::nullopt;
  const std::string& op = node.op;
  if (op == "Transpose") return transpose(graph, node);
  if (op == "DepthToSpace") return depth_to_space(graph, node);
  if (op == "SpaceToDepth") return space_to_depth(graph, node);
  if (op == "Expand") return expand(graph, node);
  if (op == "Tile") return tile(graph, node);
  if (op == "Slice") return slice(graph, node);
  if (op == "Concat") return concat(graph, node);
  if (op == "Split") return split(graph, node);
  if (op == "Pad") return pad(graph, node);
  if (op == "Gather") return gather(graph, node);
  return std::nullopt;
}

}  // namespace amdahl

// Reshape … Concat, Split, Expand, Tile, DepthToSpace: the same elements elsewhere.

#include <fmt/format.h>

#include <numeric>

#include "graph/node_upgrade.h"
#include "graph/ops/copy.h"
#include "graph/ops/families.h"
#include "graph/ops/moved_bytes.h"
#include "graph/ops/sizes.h"

namespace amdahl {
namespace {

// ---- The same elements in the same order under another shape.

void eval_renamed(EvalContext& c) {
  const Shape shape = c.out(0).shape;
  c.out(0) = c.in(0);
  c.out(0).shape = shape;
}

void infer_reshape(InferContext& c) {
  Shape target = c.constant_ints(1, "the target shape");
  const Shape& in = c.shape(0);
  const bool keep_zero = c.node.attr_int("allowzero", 0) != 0;
  int64_t known = 1, free = -1;
  for (size_t i = 0; i < target.size(); ++i) {
    if (target[i] == 0 && !keep_zero) {
      if (i >= in.size()) throw Refusal(fmt::format("shape {} copies a dimension that {} lacks", to_string(target), to_string(in)));
      target[i] = in[i];
    }
    if (target[i] < -1 || (target[i] == -1 && free >= 0)) throw Refusal(fmt::format("target shape {} is not valid", to_string(target)));
    if (target[i] == -1) free = static_cast<int64_t>(i);
    else known = checked_product(known, target[i]);
  }
  if (free >= 0 && keep_zero && known == 0) throw Refusal(fmt::format("target shape {} is ambiguous", to_string(target)));
  if (free >= 0) target[static_cast<size_t>(free)] = known == 0 ? 0 : numel(in) / known;
  if (known * (free >= 0 ? target[static_cast<size_t>(free)] : 1) != numel(in))
    throw Refusal(fmt::format("shape {} does not reshape to {}", to_string(in), to_string(target)));
  c.set_output(0, c.dtype(0), target);
}

void infer_flatten(InferContext& c) {
  const Shape& in = c.shape(0);
  int64_t axis = c.node.attr_int("axis", 1);
  const auto rank = static_cast<int64_t>(in.size());
  if (axis < -rank || axis > rank) throw Refusal(fmt::format("axis {} is out of range for rank {}", axis, rank));
  const size_t a = axis_of(axis, in.size());
  c.set_output(0, c.dtype(0), {product(in, 0, a), product(in, a, in.size())});
}

// Axes are an attribute before opset 13.
std::vector<int64_t> axes_of(InferContext& c) {
  if (c.node.version < 13) return c.node.attr_ints("axes");
  return c.has_input(1) ? c.constant_ints(1, "axes") : std::vector<int64_t>{};
}

void infer_squeeze(InferContext& c) {
  const Shape& in = c.shape(0);
  std::vector<bool> drop(in.size(), false);
  const std::vector<int64_t> axes = axes_of(c);
  for (int64_t axis : axes) {
    const auto a = static_cast<size_t>(c.normalized_axis(axis, in.size()));
    if (in.empty() || in[a] != 1) throw Refusal(fmt::format("axis {} of {} is not 1", axis, to_string(in)));
    drop[a] = true;
  }
  Shape out;
  for (size_t i = 0; i < in.size(); ++i)
    if (axes.empty() ? in[i] != 1 : !drop[i]) out.push_back(in[i]);
  c.set_output(0, c.dtype(0), out);
}

void infer_unsqueeze(InferContext& c) {
  const Shape& in = c.shape(0);
  const std::vector<int64_t> axes = axes_of(c);
  std::vector<bool> added(in.size() + axes.size(), false);
  for (int64_t axis : axes) {
    const auto a = static_cast<size_t>(c.normalized_axis(axis, added.size()));
    if (added[a]) throw Refusal(fmt::format("axis {} is added twice", axis));
    added[a] = true;
  }
  Shape out;
  size_t next = 0;
  for (bool is_new : added) out.push_back(is_new ? 1 : in[next++]);
  c.set_output(0, c.dtype(0), out);
}

// ---- Transposes.

std::vector<int64_t> permutation(const Node& node, size_t rank) {
  std::vector<int64_t> perm = node.attr_ints("perm");
  if (!perm.empty() || rank == 0) return perm;
  perm.resize(rank);
  std::iota(perm.rbegin(), perm.rend(), 0);
  return perm;
}

void infer_transpose(InferContext& c) {
  const Shape& in = c.shape(0);
  const std::vector<int64_t> perm = permutation(c.node, in.size());
  std::vector<int64_t> sorted = perm;
  std::sort(sorted.begin(), sorted.end());
  Shape out;
  for (size_t i = 0; i < sorted.size(); ++i)
    if (sorted[i] != static_cast<int64_t>(i)) throw Refusal(fmt::format("{} is not a permutation", to_string(perm)));
  if (perm.size() != in.size()) throw Refusal(fmt::format("permutation {} does not fit rank {}", to_string(perm), in.size()));
  for (int64_t p : perm) out.push_back(in[static_cast<size_t>(p)]);
  c.set_output(0, c.dtype(0), out);
}

void transpose(const RefTensor& in, const Shape& in_shape, const std::vector<int64_t>& perm, RefTensor& out) {
  const Shape strides = row_major_strides(in_shape);
  Shape dims, moved;
  for (int64_t p : perm) {
    dims.push_back(in_shape[static_cast<size_t>(p)]);
    moved.push_back(strides[static_cast<size_t>(p)]);
  }
  copy_planes(in, out, [&](const auto* from, auto* to) { strided_copy(from, dims, moved, to); });
}

void eval_transpose(EvalContext& c) { transpose(c.in(0), c.in(0).shape, permutation(c.node, c.in(0).shape.size()), c.out(0)); }

const Shape& images(InferContext& c) {
  if (c.shape(0).size() != 4) throw Refusal("input must have four dimensions");
  if (c.node.attr_int("blocksize", 0) < 1) throw Refusal("blocksize must be at least 1");
  const std::string mode = c.node.attr_string("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") throw Refusal("unknown mode '" + mode + "'");
  return c.shape(0);
}

void infer_depth_to_space(InferContext& c) {
  const Shape& s = images(c);
  const int64_t b = c.node.attr_int("blocksize", 0);
  if (s[1] % checked_product(b, b)) throw Refusal("the channels are not a multiple of blocksize squared");
  c.set_output(0, c.dtype(0), {s[0], s[1] / (b * b), checked_product(s[2], b), checked_product(s[3], b)});
}

void eval_depth_to_space(EvalContext& c) {
  const Shape& s = c.in(0).shape;
  const int64_t b = c.node.attr_int("blocksize", 0), channels = s[1] / (b * b);
  if (c.node.attr_string("mode", "DCR") == "DCR") transpose(c.in(0), {s[0], b, b, channels, s[2], s[3]}, {0, 3, 4, 1, 5, 2}, c.out(0));
  else transpose(c.in(0), {s[0], channels, b, b, s[2], s[3]}, {0, 1, 4, 2, 5, 3}, c.out(0));
}

void infer_space_to_depth(InferContext& c) {
  const Shape& s = images(c);
  const int64_t b = c.node.attr_int("blocksize", 0);
  if (s[2] % b || s[3] % b) throw Refusal("height and width are not multiples of blocksize");
  checked_product(checked_product(s[1], b), b);
  c.set_output(0, c.dtype(0), {s[0], s[1] * b * b, s[2] / b, s[3] / b});
}

void eval_space_to_depth(EvalContext& c) {
  const Shape& s = c.in(0).shape;
  const int64_t b = c.node.attr_int("blocksize", 0);
  const bool depth_first = c.node.attr_string("mode", "DCR") == "DCR";
  transpose(c.in(0), {s[0], s[1], s[2] / b, b, s[3] / b, b}, depth_first ? Shape{0, 3, 5, 1, 2, 4} : Shape{0, 1, 3, 5, 2, 4}, c.out(0));
}

// ---- Repetition.

void infer_expand(InferContext& c) { c.set_output(0, c.dtype(0), broadcast(c.shape(0), c.constant_ints(1, "the target shape"))); }

void eval_expand(EvalContext& c) {
  const Shape &in = c.in(0).shape, &out = c.out(0).shape;
  const Shape own = row_major_strides(in);
  Shape strides(out.size(), 0);
  for (size_t i = 0; i < in.size(); ++i)
    if (in[i] != 1) strides[out.size() - in.size() + i] = own[i];
  copy_planes(c.in(0), c.out(0), [&](const auto* from, auto* to) { strided_copy(from, out, strides, to); });
}

void infer_tile(InferContext& c) {
  const std::vector<int64_t> repeats = c.constant_ints(1, "the repeats");
  Shape out = c.shape(0);
  if (repeats.size() != out.size()) throw Refusal(fmt::format("{} repeats for rank {}", repeats.size(), out.size()));
  for (size_t i = 0; i < out.size(); ++i) {
    if (repeats[i] < 0) throw Refusal("a repeat is negative");
    out[i] = checked_product(out[i], repeats[i]);
  }
  c.set_output(0, c.dtype(0), out);
}

void eval_tile(EvalContext& c) {
  const Shape &in = c.in(0).shape, &out = c.out(0).shape;
  const Shape own = row_major_strides(in);
  Shape dims, strides;  // each dimension as [repeats, size], the repeats standing still
  for (size_t i = 0; i < in.size(); ++i) {
    dims.insert(dims.end(), {in[i] ? out[i] / in[i] : 0, in[i]});
    strides.insert(strides.end(), {0, own[i]});
  }
  copy_planes(c.in(0), c.out(0), [&](const auto* from, auto* to) { strided_copy(from, dims, strides, to); });
}

// ---- Concat and Split: [outer, size of the axis * inner] blocks.

void infer_concat(InferContext& c) {
  if (!c.node.has("axis")) throw Refusal("attribute 'axis' is missing");
  Shape out = c.shape(0);
  const auto axis = static_cast<size_t>(c.normalized_axis(c.node.attr_int("axis", 0), out.size()));
  if (out.empty()) throw Refusal("scalars do not concatenate");
  for (size_t i = 1; i < c.input_count(); ++i) {
    Shape rest = c.shape(i), same = out;
    if (rest.size() != out.size() || c.dtype(i) != c.dtype(0)) throw Refusal("inputs differ in rank or type");
    same[axis] = rest[axis];
    if (rest != same) throw Refusal(fmt::format("shapes {} and {} do not concatenate", to_string(out), to_string(rest)));
    out[axis] = checked_sum(out[axis], rest[axis]);
  }
  c.set_output(0, c.dtype(0), out);
}

void eval_concat(EvalContext& c) {
  RefTensor& out = c.out(0);
  const size_t axis = axis_of(c.node.attr_int("axis", 0), out.shape.size());
  const int64_t outer = product(out.shape, 0, axis), row = product(out.shape, axis, out.shape.size());
  const bool bounds = std::any_of(c.inputs.begin(), c.inputs.end(), [](const RefTensor* t) { return !t->bound.empty(); });
  (out.is_float() ? out.value.resize(static_cast<size_t>(out.numel())) : out.ints.resize(static_cast<size_t>(out.numel())));
  if (bounds) out.bound.assign(static_cast<size_t>(out.numel()), 0.0);
  int64_t at = 0;
  for (const RefTensor* in : c.inputs) {
    const int64_t block = product(in->shape, axis, in->shape.size());
    const auto place = [&](const auto& from, auto& to) {
      for (int64_t o = 0; !from.empty() && o < outer; ++o) std::copy_n(from.data() + o * block, block, to.data() + o * row + at);
    };
    place(in->value, out.value);
    place(in->ints, out.ints);
    place(in->bound, out.bound);
    at += block;
  }
}

// Sizes along the axis: attribute before opset 13, then input; equal parts (the last one smaller from opset 18) without.
std::vector<int64_t> split_sizes(InferContext& c, int64_t size) {
  std::vector<int64_t> sizes;
  if (c.node.version < 13) sizes = c.node.attr_ints("split");
  else if (c.has_input(1)) sizes = c.constant_ints(1, "the split sizes");
  if (!sizes.empty()) return sizes;
  const auto parts = static_cast<int64_t>(c.node.outputs.size());
  if (c.node.attr_int("num_outputs", parts) != parts) throw Refusal("num_outputs differs from the number of outputs");
  if (size % parts && c.node.version < 18) throw Refusal(fmt::format("{} does not split into {} equal parts", size, parts));
  const int64_t chunk = (size + parts - 1) / parts;
  for (int64_t left = size, i = 0; i < parts; ++i, left -= sizes.back()) sizes.push_back(std::min(chunk, left));
  return sizes;
}

void infer_split(InferContext& c) {
  Shape out = c.shape(0);
  if (out.empty()) throw Refusal("a scalar does not split");
  const auto axis = static_cast<size_t>(c.normalized_axis(c.node.attr_int("axis", 0), out.size()));
  const std::vector<int64_t> sizes = split_sizes(c, out[axis]);
  if (sizes.size() != c.node.outputs.size() || std::accumulate(sizes.begin(), sizes.end(), int64_t{0}, checked_sum) != out[axis])
    throw Refusal(fmt::format("split sizes {} do not fit dimension {}", to_string(sizes), out[axis]));
  for (size_t i = 0; i < sizes.size(); ++i) {
    out[axis] = sizes[i];
    c.set_output(i, c.dtype(0), out);
  }
}

void eval_split(EvalContext& c) {
  const Shape& in = c.in(0).shape;
  const size_t axis = axis_of(c.node.attr_int("axis", 0), in.size());
  const int64_t outer = product(in, 0, axis), row = product(in, axis, in.size());
  int64_t at = 0;
  for (size_t i = 0; i < c.outputs.size(); ++i) {
    RefTensor& out = c.out(i);
    const int64_t block = product(out.shape, axis, in.size());
    copy_planes(c.in(0), out, [&](const auto* from, auto* to) {
      for (int64_t o = 0; o < outer; ++o) std::copy_n(from + o * row + at, block, to + o * block);
    });
    at += block;
  }
}

void split_to_input(NodeUpgrade& u) { u.ints_to_input("split", 1); }

// From 18 on, equal parts must be counted.
void count_parts(NodeUpgrade& u) {
  if (u.node.inputs.size() < 2) u.node.attributes["num_outputs"] = static_cast<int64_t>(u.node.outputs.size());
}

}  // namespace

std::vector<OpDef> movement_ops() {
  std::vector<OpDef> all{
      {"", "Reshape", "ai", infer_reshape, eval_renamed, 1, {}, expand_moved_bytes},
      {"", "Flatten", "a", infer_flatten, eval_renamed, 1, {}, expand_moved_bytes},
      {"", "Squeeze", "aI", infer_squeeze, eval_renamed, 1, {{13, axes_to_input}}, expand_moved_bytes},
      {"", "Unsqueeze", "aI", infer_unsqueeze, eval_renamed, 1, {{13, axes_to_input}}, expand_moved_bytes},
      {"", "Transpose", "a", infer_transpose, eval_transpose, 1, {}, expand_moved_bytes},
      {"", "DepthToSpace", "a", infer_depth_to_space, eval_depth_to_space},
      {"", "SpaceToDepth", "a", infer_space_to_depth, eval_space_to_depth},
      {"", "Expand", "ai", infer_expand, eval_expand},
      {"", "Tile", "ai", infer_tile, eval_tile},
      {"", "Concat", "a+", infer_concat, eval_concat},
      {"", "Split", "aI", infer_split, eval_split, 0, {{13, split_to_input}, {18, count_parts}}},
  };
  for (auto part : {slicing_ops, gather_ops}) {
    const std::vector<OpDef> rows = part();
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return all;
}

}  // namespace amdahl

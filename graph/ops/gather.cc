// Gather, GatherElements, GatherND. An element picked by an uncertain index can be any: its bound is infinite.

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "base/printable.h"
#include "graph/ops/copy.h"

namespace amdahl {

int64_t checked_index(int64_t index, int64_t size, const Node& node) {
  const int64_t i = index < 0 ? index + size : index;
  if (i < 0 || i >= size)
    throw Error(ExitCode::kBadInput, fmt::format("node '{}' ({}): index {} is out of range for a dimension of {}", shown(node.name), node.op, index, size));
  return i;
}

namespace {

void require_indices(InferContext& c) {
  if (c.dtype(1) != DType::kI64 && c.dtype(1) != DType::kI32) throw Refusal("indices must be i32 or i64");
}

// out block i is the input block at offsets[i], `block` elements each.
void copy_blocks(EvalContext& c, const std::vector<int64_t>& offsets, int64_t block) {
  copy_planes(c.in(0), c.out(0), [&](const auto* from, auto* to) {
    for (int64_t offset : offsets) to = std::copy_n(from + offset, block, to);
  });
}

void mark_unbounded(RefTensor& out, int64_t first, int64_t count) {
  if (out.bound.empty()) out.bound.assign(static_cast<size_t>(out.numel()), 0.0);
  std::fill_n(out.bound.begin() + first, count, HUGE_VAL);
}

// ---- Gather: [outer, axis, inner] -> [outer, indices, inner].

void infer_gather(InferContext& c) {
  require_indices(c);
  const Shape &in = c.shape(0), &indices = c.shape(1);
  const auto axis = static_cast<std::ptrdiff_t>(c.normalized_axis(c.node.attr_int("axis", 0), in.size()));
  if (in.empty()) throw Refusal("a scalar has nothing to gather from");
  Shape out(in.begin(), in.begin() + axis);
  out.insert(out.end(), indices.begin(), indices.end());
  out.insert(out.end(), in.begin() + axis + 1, in.end());
  c.set_output(0, c.dtype(0), out);
}

void eval_gather(EvalContext& c) {
  const RefTensor &in = c.in(0), &indices = c.in(1);
  const size_t axis = axis_of(c.node.attr_int("axis", 0), in.shape.size());
  const int64_t outer = product(in.shape, 0, axis), size = in.shape[axis], inner = product(in.shape, axis + 1, in.shape.size());
  std::vector<int64_t> offsets;
  offsets.reserve(static_cast<size_t>(outer) * indices.ints.size());
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t index : indices.ints) offsets.push_back((o * size + checked_index(index, size, c.node)) * inner);
  copy_blocks(c, offsets, inner);
  const auto count = static_cast<int64_t>(indices.ints.size());
  for (int64_t i = 0; i < count; ++i)
    if (indices.bound_at(i) > 0)
      for (int64_t o = 0; o < outer; ++o) mark_unbounded(c.out(0), (o * count + i) * inner, inner);
}

// ---- GatherElements: out[i][j] = in[indices[i][j]][j] for axis 0.

void infer_gather_elements(InferContext& c) {
  require_indices(c);
  const Shape &in = c.shape(0), &indices = c.shape(1);
  const auto axis = static_cast<size_t>(c.normalized_axis(c.node.attr_int("axis", 0), in.size()));
  if (indices.size() != in.size()) throw Refusal("indices and data differ in rank");
  for (size_t d = 0; d < in.size(); ++d)
    if (d != axis && indices[d] > in[d]) throw Refusal("indices reach beyond the data");
  c.set_output(0, c.dtype(0), indices);
}

void eval_gather_elements(EvalContext& c) {
  const RefTensor &in = c.in(0), &indices = c.in(1);
  const size_t axis = axis_of(c.node.attr_int("axis", 0), in.shape.size());
  const Shape strides = row_major_strides(in.shape);
  Shape at(in.shape.size(), 0);
  std::vector<int64_t> offsets(indices.ints.size());
  for (size_t i = 0; i < offsets.size(); ++i) {
    for (size_t d = 0; d < at.size(); ++d) offsets[i] += strides[d] * (d == axis ? checked_index(indices.ints[i], in.shape[d], c.node) : at[d]);
    for (size_t d = at.size(); d-- > 0 && ++at[d] == indices.shape[d];) at[d] = 0;
  }
  copy_blocks(c, offsets, 1);
  for (size_t i = 0; i < offsets.size(); ++i)
    if (indices.bound_at(static_cast<int64_t>(i)) > 0) mark_unbounded(c.out(0), static_cast<int64_t>(i), 1);
}

// ---- GatherND: the last dimension of the indices is a position in the dimensions after the batch ones.

void infer_gather_nd(InferContext& c) {
  require_indices(c);
  const Shape &in = c.shape(0), &indices = c.shape(1);
  const int64_t batch = c.node.attr_int("batch_dims", 0);
  if (in.empty() || indices.empty()) throw Refusal("scalars have nothing to gather");
  const auto b = static_cast<size_t>(batch);
  if (batch < 0 || b >= std::min(in.size(), indices.size()) || b + static_cast<size_t>(indices.back()) > in.size())
    throw Refusal("indices do not fit the data");
  for (size_t d = 0; d < b; ++d)
    if (in[d] != indices[d]) throw Refusal("batch dimensions differ");
  Shape out(indices.begin(), indices.end() - 1);
  out.insert(out.end(), in.begin() + batch + indices.back(), in.end());
  c.set_output(0, c.dtype(0), out);
}

void eval_gather_nd(EvalContext& c) {
  const RefTensor &in = c.in(0), &indices = c.in(1);
  const auto b = static_cast<size_t>(c.node.attr_int("batch_dims", 0));
  const auto depth = static_cast<size_t>(indices.shape.back());
  const Shape strides = row_major_strides(in.shape);
  const int64_t block = product(in.shape, b + depth, in.shape.size()), batch_stride = product(in.shape, b, in.shape.size());
  const int64_t tuples = product(indices.shape, 0, indices.shape.size() - 1);
  const int64_t per_batch = product(indices.shape, b, indices.shape.size() - 1);
  std::vector<int64_t> offsets(static_cast<size_t>(tuples));
  for (int64_t t = 0; t < tuples; ++t) {
    int64_t offset = t / per_batch * batch_stride;
    for (size_t d = 0; d < depth; ++d) offset += strides[b + d] * checked_index(indices.ints[static_cast<size_t>(t) * depth + d], in.shape[b + d], c.node);
    offsets[static_cast<size_t>(t)] = offset;
  }
  copy_blocks(c, offsets, block);
  for (int64_t i = 0; i < static_cast<int64_t>(indices.bound.size()); ++i)
    if (indices.bound_at(i) > 0) mark_unbounded(c.out(0), i / static_cast<int64_t>(depth) * block, block);
}

}  // namespace

std::vector<OpDef> gather_ops() {
  return {
      {"", "Gather", "ai", infer_gather, eval_gather},
      {"", "GatherElements", "ai", infer_gather_elements, eval_gather_elements},
      {"", "GatherND", "ai", infer_gather_nd, eval_gather_nd},
  };
}

}  // namespace amdahl

#pragma once
// Copies of the movement families: elements move with their bounds, values unchanged.

#include <algorithm>
#include <vector>

#include "graph/op.h"

namespace amdahl {

// Sizes `out` for its shape and runs copy(from, to) for each plane that `in` has: values or integers, and bounds.
template <typename Copy>
void copy_planes(const RefTensor& in, RefTensor& out, Copy copy) {
  const auto n = static_cast<size_t>(out.numel());
  if (in.is_float()) {
    out.value.resize(n);
    copy(in.value.data(), out.value.data());
  } else {
    out.ints.resize(n);
    copy(in.ints.data(), out.ints.data());
  }
  if (in.bound.empty()) return;
  out.bound.resize(n);
  copy(in.bound.data(), out.bound.data());
}

// to[...] = from[sum of index * stride], `to` contiguous of shape `dims`. Strides may be 0 or negative.
template <typename T>
void strided_copy(const T* from, const Shape& dims, const Shape& strides, T* to) {
  // Merge dimensions that run on, so that the innermost run is as long as it can be.
  Shape d, s;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0) return;
    if (dims[i] == 1) continue;
    if (!d.empty() && s.back() == strides[i] * dims[i]) {
      d.back() *= dims[i];
      s.back() = strides[i];
    } else {
      d.push_back(dims[i]);
      s.push_back(strides[i]);
    }
  }
  if (d.empty()) {
    *to = *from;
    return;
  }
  const int64_t n = d.back(), step = s.back();
  const size_t outer = d.size() - 1;
  Shape index(outer, 0);
  for (;;) {
    if (step == 1) std::copy_n(from, n, to);
    else
      for (int64_t j = 0; j < n; ++j) to[j] = from[j * step];
    to += n;
    size_t k = outer;
    while (k-- > 0) {
      from += s[k];
      if (++index[k] < d[k]) break;
      from -= s[k] * d[k];
      index[k] = 0;
    }
    if (k == static_cast<size_t>(-1)) return;
  }
}

// to[i0, i1, …] = from[maps[0][i0], maps[1][i1], …], or `fill` where a map says -1.
template <typename T>
void mapped_copy(const T* from, const Shape& in_shape, const std::vector<std::vector<int64_t>>& maps, T fill, T* to) {
  const Shape strides = row_major_strides(in_shape);
  const size_t rank = maps.size();
  if (rank == 0) {
    *to = *from;
    return;
  }
  for (const auto& m : maps)
    if (m.empty()) return;
  const std::vector<int64_t>& inner = maps[rank - 1];
  Shape index(rank - 1, 0);
  for (;;) {
    int64_t base = 0;
    for (size_t d = 0; d + 1 < rank && base >= 0; ++d) {
      const int64_t at = maps[d][static_cast<size_t>(index[d])];
      base = at < 0 ? -1 : base + at * strides[d];
    }
    if (base < 0) std::fill_n(to, inner.size(), fill);
    else
      for (size_t j = 0; j < inner.size(); ++j) to[j] = inner[j] < 0 ? fill : from[base + inner[j]];
    to += inner.size();
    size_t k = rank - 1;
    while (k-- > 0) {
      if (++index[k] < static_cast<int64_t>(maps[k].size())) break;
      index[k] = 0;
    }
    if (k == static_cast<size_t>(-1)) return;
  }
}

// shape[from] * … * shape[to - 1].
inline int64_t product(const Shape& shape, size_t from, size_t to) {
  int64_t n = 1;
  for (size_t i = from; i < to; ++i) n *= shape[i];
  return n;
}

// Negative axes count from the end. For evaluators: the shape rule has checked the range.
inline size_t axis_of(int64_t axis, size_t rank) { return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis); }

// A negative index counts from the end; out of range throws Error(kBadInput).
int64_t checked_index(int64_t index, int64_t size, const Node& node);

// Rows by file.
std::vector<OpDef> slicing_ops();  // slicing.cc
std::vector<OpDef> gather_ops();   // gather.cc
std::vector<OpDef> scatter_ops();  // scatter.cc
std::vector<OpDef> ranking_ops();  // ranking.cc

}  // namespace amdahl

#include "graph/clean_up/fold_movement.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace amdahl {
namespace {

struct Loop {
  int64_t size;
  int64_t from, to;  // strides, in elements
};

// Copies along the two innermost loops in 32x32 tiles: both the reads and the writes of a tile stay in L1 (8 KiB of f32).
template <typename T>
void copy_tiled(const T* from, T* to, const Loop& outer, const Loop& inner) {
  constexpr int64_t kTile = 32;
  for (int64_t i0 = 0; i0 < outer.size; i0 += kTile)
    for (int64_t j0 = 0; j0 < inner.size; j0 += kTile)
      for (int64_t i = i0; i < std::min(i0 + kTile, outer.size); ++i)
        for (int64_t j = j0; j < std::min(j0 + kTile, inner.size); ++j) to[i * outer.to + j * inner.to] = from[i * outer.from + j * inner.from];
}

template <typename T>
void copy_loops(const T* from, T* to, const std::vector<Loop>& loops, size_t depth) {
  if (loops.size() - depth == 2) return copy_tiled(from, to, loops[depth], loops[depth + 1]);
  for (int64_t i = 0; i < loops[depth].size; ++i) copy_loops(from + i * loops[depth].from, to + i * loops[depth].to, loops, depth + 1);
}

// The loops in the order of the result, neighbours that are contiguous in both joined, padded to two.
std::vector<Loop> loops_of(const Shape& in, const std::vector<int64_t>& perm, const Shape& out) {
  const Shape from = row_major_strides(in), to = row_major_strides(out);
  std::vector<Loop> loops = {{1, 0, 0}};
  for (size_t i = 0; i < out.size(); ++i) {
    const Loop next{out[i], from[static_cast<size_t>(perm[i])], to[i]};
    Loop& last = loops.back();
    if (last.size > 1 && last.from == next.from * next.size) last = {last.size * next.size, next.from, next.to};
    else loops.push_back(next);
  }
  if (loops.size() < 2) loops.push_back({1, 0, 0});
  return loops;
}

Tensor transpose(const Tensor& input, const std::vector<int64_t>& perm, const Shape& shape) {
  std::byte* raw;
  Tensor result = Tensor::allocate(input.dtype(), shape, &raw);
  if (result.numel() == 0) return result;
  const std::vector<Loop> loops = loops_of(input.shape(), perm, shape);
  const auto run = [&](auto unit) {
    using T = decltype(unit);
    copy_loops(reinterpret_cast<const T*>(input.data()), reinterpret_cast<T*>(raw), loops, 0);
  };
  switch (size_of(input.dtype())) {
    case 1: run(uint8_t{}); break;
    case 2: run(uint16_t{}); break;
    case 4: run(uint32_t{}); break;
    default: run(uint64_t{}); break;
  }
  return result;
}

}  // namespace

bool is_view(const Node& node) {
  static const std::set<std::string_view> kViews = {"Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze"};
  return node.domain.empty() && kViews.count(node.op) > 0;
}

bool moves_bytes(const Node& node) { return is_view(node) || (node.domain.empty() && node.op == "Transpose"); }

std::optional<Tensor> fold_movement(const Node& node, const Tensor& input, const Shape& shape) {
  if (is_view(node)) return input.reshaped(shape);
  if (!moves_bytes(node)) return std::nullopt;
  std::vector<int64_t> perm = node.attr_ints("perm");
  if (perm.empty())
    for (size_t i = shape.size(); i-- > 0;) perm.push_back(static_cast<int64_t>(i));
  return transpose(input, perm, shape);
}

}  // namespace amdahl

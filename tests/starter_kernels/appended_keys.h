#pragma once
// Attention to keys and values that lie in two tensors each, which no node lowers to: a rewrite makes it of attention and of what put them together
// (playbook/tier2_memory/read_pieces.cc).

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "starter_kernels/examples/example_graph.h"
#include "starter_kernels/kinds/attention.h"
#include "starter_kernels/kinds/kernel_kind.h"
#include "starter_kernels/kinds/kind_names.h"

namespace amdahl::testing {

// How a piece of [batch, heads, keys, width] lies: row-major, as heads inside rows that begin so many numbers late, or with keys next to each other.
enum class Lies { kDense, kInRows, kInRowsFromOne, kTransposed };

struct AppendedKeys {
  std::string name;
  DType type = DType::kF32;
  int64_t batch = 1, heads = 1, queries = 1, kv_heads = 1, first = 1, more = 1, width = 16, value_width = 16;  // first, more: keys
  Lies first_lies = Lies::kDense, more_lies = Lies::kDense;
  std::optional<Shape> mask;                        // added
  bool is_causal = false;                           // query s sees the keys up to s
  std::optional<int64_t> causal_offset;             // query s sees the keys up to s + that
  std::optional<std::pair<size_t, double>> number;  // of the appended values: where, and which
};

// The graph, and all of its nodes as one problem.
struct AppendedKeysProblem {
  Graph graph;
  Problem problem;  // without knobs
  std::vector<ValueId> inputs;
};

struct Piece {
  ValueId input, whole;  // whole: [batch, heads, keys, width]
  Access access;
};

inline Piece piece_of(ExampleGraph& g, DType type, const Shape& shape, Lies lies) {
  const int64_t heads = shape[1], keys = shape[2], width = shape[3], from = lies == Lies::kInRowsFromOne ? 1 : 0, row = heads * width + from;
  const auto permuted = [&](ValueId x, std::vector<int64_t> perm) { return g.node("Transpose", {x}, {{"perm", std::move(perm)}}); };
  if (lies == Lies::kDense) {
    const ValueId x = g.input(type, shape);
    return {x, x, Access::dense(type, shape)};
  }
  if (lies == Lies::kTransposed) {
    const ValueId x = g.input(type, {shape[0], heads, width, keys});
    return {x, permuted(x, {0, 1, 3, 2}), {type, shape, {heads * width * keys, width * keys, 1, keys}}};
  }
  const ValueId x = g.input(type, {shape[0], keys, row});
  const ValueId columns = from == 0 ? x : g.node("Slice", {x, g.ints({1}, {from}), g.ints({1}, {row}), g.ints({1}, {2}), g.ints({1}, {1})});
  const ValueId split = g.node("Reshape", {columns, g.ints({4}, {shape[0], keys, heads, width})});
  return {x, permuted(split, {0, 2, 1, 3}), {type, shape, {keys * row, width, row, 1}, from}};
}

inline AppendedKeysProblem problem_of(const AppendedKeys& c) {
  ExampleGraph g(c.name, 23);
  const ValueId q = g.input(c.type, {c.batch, c.heads, c.queries, c.width});
  const Piece k = piece_of(g, c.type, {c.batch, c.kv_heads, c.first, c.width}, c.first_lies);
  const Piece v = piece_of(g, c.type, {c.batch, c.kv_heads, c.first, c.value_width}, c.first_lies == Lies::kTransposed ? Lies::kDense : c.first_lies);
  const Piece more_k = piece_of(g, c.type, {c.batch, c.kv_heads, c.more, c.width}, c.more_lies);
  const Shape of_more_v{c.batch, c.kv_heads, c.more, c.value_width};
  Piece more_v;
  if (c.number) {
    std::vector<double> values(static_cast<size_t>(numel(of_more_v)), 0.5);
    values.at(c.number->first) = c.number->second;
    const ValueId x = g.floats(of_more_v, values, c.type);
    more_v = {x, x, Access::dense(c.type, of_more_v, true)};
  } else {
    more_v = piece_of(g, c.type, of_more_v, c.more_lies);
  }
  const auto together = [&](const Piece& first, const Piece& more) { return g.node("Concat", {first.whole, more.whole}, {{"axis", int64_t{2}}}); };
  std::vector<ValueId> in{q, together(k, more_k), together(v, more_v)};
  if (c.mask) in.push_back(g.input(c.type, *c.mask));
  if (c.causal_offset) {
    std::vector<int64_t> visible;
    for (int64_t s = 0; s < c.queries; ++s)
      for (int64_t t = 0; t < c.first + c.more; ++t) visible.push_back(t <= s + *c.causal_offset);
    in.push_back(g.ints({c.queries, c.first + c.more}, visible, DType::kBool));
  }
  const ValueId y = g.node("Attention", in, {{"is_causal", int64_t{c.is_causal}}});

  AppendedKeysProblem made{g.finish({y}), {}, {q, k.input, v.input}};
  made.problem = kernel_kind(kind::kAttention).lower(made.graph, made.graph.nodes.back(), 2).value().variant.problem;
  std::vector<Access>& accesses = made.problem.in;
  accesses[1] = k.access, accesses[2] = v.access;
  AttentionParams params = AttentionParams::of(made.problem);
  if (c.causal_offset) {
    accesses.pop_back();
    params.causal = true;
    params.causal_offset = *c.causal_offset;
  }
  if (c.mask) made.inputs.push_back(in[3]);
  made.inputs.insert(made.inputs.end(), {more_k.input, more_v.input});
  accesses.insert(accesses.end(), {more_k.access, more_v.access});
  params.appended = true;
  params.write(made.problem);
  return made;
}

// Borders within tiles and between them, pieces of one key, pieces that lie otherwise than each other.
inline std::vector<AppendedKeys> appended_keys() {
  const DType f16 = DType::kF16, bf16 = DType::kBF16, f64 = DType::kF64;
  return {
      {.name = "a token more", .type = f16, .heads = 2, .kv_heads = 2, .first = 70, .width = 64, .value_width = 64},
      {.name = "a token more, keys in parts", .type = f16, .heads = 4, .kv_heads = 4, .first = 511, .width = 64, .value_width = 64},
      {.name = "a token more, floats", .heads = 2, .kv_heads = 2, .first = 19},
      {.name = "odd widths", .type = f16, .batch = 2, .heads = 2, .queries = 5, .kv_heads = 2, .first = 37, .more = 5, .width = 33, .value_width = 17},
      {.name = "one earlier key", .type = f16, .heads = 2, .queries = 17, .kv_heads = 2, .more = 40},
      {.name = "causal, several tiles", .type = f16, .queries = 40, .first = 130, .more = 170, .causal_offset = 260},
      {.name = "causal, whole tiles", .heads = 2, .queries = 33, .kv_heads = 2, .first = 64, .more = 33, .causal_offset = 64},
      {.name = "grouped heads", .heads = 6, .queries = 9, .kv_heads = 2, .first = 21, .more = 4, .width = 8, .value_width = 24},
      {.name = "added mask", .batch = 2, .heads = 2, .queries = 18, .kv_heads = 2, .first = 30, .more = 3, .mask = Shape{2, 1, 18, 33}},
      {.name = "added mask of halves", .type = f16, .heads = 2, .queries = 18, .kv_heads = 2, .first = 30, .more = 3, .mask = Shape{18, 33}},
      {.name = "rows of a product", .type = bf16, .heads = 2, .queries = 9, .kv_heads = 2, .first = 37, .more = 3, .width = 128, .more_lies = Lies::kInRows},
      {.name = "aligned, then not", .type = f16, .heads = 2, .queries = 9, .kv_heads = 2, .first = 20, .more = 20, .more_lies = Lies::kInRowsFromOne},
      {.name = "not aligned, then aligned", .type = f16, .heads = 2, .queries = 9, .kv_heads = 2, .first = 20, .more = 20, .first_lies = Lies::kInRowsFromOne},
      {.name = "transposed, then not", .heads = 2, .queries = 20, .kv_heads = 2, .first = 33, .more = 6, .first_lies = Lies::kTransposed},
      {.name = "doubles", .type = f64, .heads = 2, .queries = 9, .kv_heads = 2, .first = 10, .more = 2, .value_width = 20},
      {.name = "what is no number among many", .queries = 300, .first = 280, .more = 20, .is_causal = true, .number = {{15 * 16 + 3, std::nan("")}}},
  };
}

}  // namespace amdahl::testing

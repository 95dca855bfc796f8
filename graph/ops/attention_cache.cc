// Attention of the standard with keys and values of before, sequences of several lengths, or a window: written as the Attention that has a mask alone.

#include <fmt/format.h>

#include <algorithm>

#include "graph/ops/fused_attention.h"
#include "graph/ops/quantized.h"

namespace amdahl {
namespace {

enum Input { kQuery, kKey, kValue, kMask, kPastKey, kPastValue, kLengths };

ValueId both(Expansion& e, ValueId a, ValueId b) { return a == kNoValue ? b : e.add("And", {a, b}); }

// Which keys a query sees, whatever the mask says; kNoValue: all.
ValueId seen(Expansion& e, int64_t queries, int64_t keys, int64_t past) {
  const int64_t left = e.node.attr_int("left_window_size", -1), right = e.node.attr_int("right_window_size", -1);
  const bool causal = e.node.attr_int("is_causal", 0) != 0;
  const ValueId key = e.numbers({1, 1, 1, keys});
  const auto number = [&](int64_t n) { return e.scalar(DType::kI64, static_cast<double>(n)); };
  ValueId position = e.numbers({1, 1, queries, 1}), all = kNoValue;
  if (e.has_input(kLengths)) {
    const ValueId lengths = e.reshape(e.cast(e.in(kLengths), DType::kI64), {e.dim(e.in(kQuery), 0), 1, 1, 1});
    all = e.add("Less", {key, lengths});
    position = e.add("Add", {position, e.add("Sub", {lengths, number(queries)})});
  } else if (past > 0) {
    position = e.add("Add", {position, number(past)});
  }
  if (causal) all = both(e, all, e.add("LessOrEqual", {key, position}));
  if (left >= 0) all = both(e, all, e.add("GreaterOrEqual", {key, e.add("Sub", {position, number(left)})}));
  if (right >= 0) all = both(e, all, e.add("LessOrEqual", {key, e.add("Add", {position, number(right)})}));
  return all;
}

// Keys that a short mask does not reach are not seen.
ValueId masked(Expansion& e, ValueId visible, int64_t keys) {
  if (!e.has_input(kMask)) return visible;
  const ValueId mask = e.in(kMask);
  if (e.shape(mask).empty() || (e.shape(mask).back() != keys && e.shape(mask).back() != 1))
    throw Refusal(fmt::format("a mask of shape {} for {} keys: give it one for each key", to_string(e.shape(mask)), keys));
  if (e.dtype(mask) == DType::kBool) return both(e, visible, mask);
  return seen_and_biased(e, visible, mask);
}

}  // namespace

void write_out_cache(Expansion& e) {
  const bool windowed = e.node.attr_int("left_window_size", -1) >= 0 || e.node.attr_int("right_window_size", -1) >= 0;
  if (!e.has_input(kPastKey) && !e.has_input(kPastValue) && !e.has_input(kLengths) && !windowed && !e.wants_output(1) && !e.wants_output(2)) return;
  if (e.wants_output(3)) throw Refusal("the scores as an output (qk_matmul_output) are not supported");
  if (e.has_input(kPastKey) != e.has_input(kPastValue)) throw Refusal("past_key and past_value come together");
  std::vector<ValueId> qkv{e.in(kQuery), e.in(kKey), e.in(kValue)};
  const bool together = e.rank(qkv[0]) == 3;
  const int64_t heads = e.node.attr_int("q_num_heads", 0), kv_heads = e.node.attr_int("kv_num_heads", 0);
  if (together) qkv = {heads_apart(e, qkv[0], heads), heads_apart(e, qkv[1], kv_heads), heads_apart(e, qkv[2], kv_heads)};
  if (e.rank(qkv[0]) != 4 || e.rank(qkv[1]) != 4 || e.rank(qkv[2]) != 4) throw Refusal("queries, keys and values differ in rank");
  int64_t past = 0;
  if (e.has_input(kPastKey) && numel(e.shape(e.in(kPastKey))) > 0) {
    past = e.dim(e.in(kPastKey), 2);
    for (const size_t i : {kPastKey, kPastValue}) qkv[i - kPastKey + 1] = e.add("Concat", {e.in(i), qkv[i - kPastKey + 1]}, {{"axis", int64_t{2}}});
  }
  const int64_t queries = e.dim(qkv[0], 2), keys = e.dim(qkv[1], 2);
  const ValueId mask = masked(e, seen(e, queries, keys, past), keys);
  const ValueId y = attention_node(e, qkv, mask, e.node.attr_float("scale", 0), e.node.attr_float("softcap", 0), false, heads, kv_heads);
  e.set_output(0, together ? heads_together(e, y) : y);
  e.set_output(1, qkv[1]);
  e.set_output(2, qkv[2]);
}

}  // namespace amdahl

// GroupQueryAttention of ONNX Runtime: queries in groups that share keys and values, a cache, rotary positions, a window.
//
// The cache is as long as it is when the model is loaded; how much of it holds something (seqlens_k) may depend on the data. New keys and values go behind
// that, and every query sees the keys up to its own position. Where all of the cache is known to be held, new ones are put behind it and the mask is a constant.

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "graph/ops/composed.h"
#include "graph/ops/fused_attention.h"
#include "graph/ops/quantized.h"

namespace amdahl {
namespace {

enum Input { kQuery, kKey, kValue, kPastKey, kPastValue, kSeqlens, kTotal, kCos, kSin, kPositions, kBias, kSink, kKeyScale, kValueScale };

struct Sizes {
  int64_t heads, kv_heads, batch, queries, head, past, keys;
  bool is_full = false;  // the cache, before the new ones
};

// What is not done has a name.
void refuse_others(const Expansion& e) {
  if (e.has_input(kKeyScale) || e.has_input(kValueScale) || e.node.attr_string("k_quant_type", "NONE") != "NONE")
    throw Refusal("a quantized cache is not supported");
  if (e.node.attr_int("qk_output", 0) != 0) throw Refusal("qk_output is not supported");
  if (e.node.attr_int("local_window_size", -1) == 0) throw Refusal("a local_window_size of 0 sees nothing");
  if (e.has_input(kKey) != e.has_input(kValue)) throw Refusal("key and value come together");
  if (e.has_input(kPastKey) != e.has_input(kPastValue)) throw Refusal("past_key and past_value come together");
}

Sizes sizes_of(const Expansion& e) {
  const Shape q = e.shape(e.in(kQuery));
  Sizes s{e.node.attr_int("num_heads", 0), e.node.attr_int("kv_num_heads", 0), 0, 0, 0, 0, 0};
  const int64_t heads = e.has_input(kKey) ? s.heads : s.heads + 2 * s.kv_heads;
  if (q.size() != 3 || s.heads < 1 || s.kv_heads < 1 || q[2] % heads != 0)
    throw Refusal(fmt::format("a query of shape {} for {} heads on {}", to_string(q), s.heads, s.kv_heads));
  s.batch = q[0], s.queries = q[1], s.head = q[2] / heads;
  if (e.has_input(kPastKey)) {
    const Shape past = e.shape(e.in(kPastKey));
    if (past.size() != 4 || past[0] != s.batch || past[1] != s.kv_heads || past[3] != s.head)
      throw Refusal(fmt::format("past_key has shape {}", to_string(past)));
    s.past = past[2];
  }
  const bool is_known = e.constant_of(e.in(kTotal)) != nullptr;
  s.keys = std::max(is_known ? e.constant_number(kTotal, "total_sequence_length") : s.queries, s.past == 0 ? s.queries : s.past);
  if (s.keys > s.past + s.queries) throw Refusal(fmt::format("a total length of {} after a cache of {} and {} new positions", s.keys, s.past, s.queries));
  return s;
}

// Where the new positions of each sequence begin: [batch, 1, 1, 1]. A prompt that is shorter than its sequences begins at 0.
ValueId first_positions(Expansion& e, Sizes& s) {
  const ValueId zero = e.scalar(DType::kI64, 0);
  if (s.past == 0) return e.add("Expand", {zero, e.ints({s.batch, 1, 1, 1})});
  const ValueId last = e.reshape(e.cast(e.in(kSeqlens), DType::kI64), {s.batch, 1, 1, 1});
  const ValueId first = e.add("Max", {e.add("Add", {last, e.scalar(DType::kI64, 1.0 - static_cast<double>(s.queries))}), zero});
  if (const Tensor* known = e.constant_of(first)) {
    const std::vector<int64_t> all = to_ints(*known);
    s.is_full = s.keys == s.past + s.queries && std::all_of(all.begin(), all.end(), [&](int64_t f) { return f == s.past; });
  }
  return first;
}

ValueId rotated(Expansion& e, ValueId x, ValueId positions) {
  if (e.node.attr_int("do_rotary", 0) == 0) return x;
  const Shape table = e.shape(e.in(kCos));
  if (table.size() != 2 || table[0] < 1) throw Refusal(fmt::format("cos_cache has shape {}", to_string(table)));
  const ValueId within = e.add("Clip", {positions, e.scalar(DType::kI64, 0), e.scalar(DType::kI64, static_cast<double>(table[0] - 1))});
  return e.add("RotaryEmbedding", {x, e.in(kCos), e.in(kSin), within},
               {{"interleaved", e.node.attr_int("rotary_interleaved", 0)}, {"rotary_embedding_dim", 2 * table[1]}});
}

// The cache with the new keys or values in it. Indices are clipped: whatever seqlens_k holds, nothing beside it is read or written.
ValueId cached(Expansion& e, const Sizes& s, ValueId past, ValueId fresh, ValueId first) {
  if (s.past == 0) return fresh;
  if (s.is_full) return e.add("Concat", {past, fresh}, {{"axis", int64_t{2}}});
  const Shape room{s.batch, s.kv_heads, s.keys - s.past, s.head}, whole{s.batch, s.kv_heads, s.keys, s.head};
  const ValueId zero = e.scalar(DType::kI64, 0);
  if (room[2] > 0) past = e.add("Concat", {past, e.add("Expand", {e.scalar(e.dtype(past), 0), e.ints(room)})}, {{"axis", int64_t{2}}});
  const ValueId offset = e.add("Sub", {e.numbers({1, 1, s.keys, 1}), first});
  if (s.queries == 1) return e.add("Where", {e.add("Equal", {offset, zero}), fresh, past});
  const ValueId within = e.add("Clip", {offset, zero, e.scalar(DType::kI64, static_cast<double>(s.queries - 1))});
  const ValueId spread = e.add("GatherElements", {fresh, e.add("Expand", {within, e.ints(whole)})}, {{"axis", int64_t{2}}});
  return e.add("Where", {e.add("Equal", {offset, within}), spread, past});
}

// [batch, 1, queries, keys], or less where it is the same for several. A window has the query's own position in it.
ValueId seen(Expansion& e, const Sizes& s, ValueId first) {
  const ValueId key = e.numbers({1, 1, 1, s.keys}), query = e.add("Add", {e.numbers({1, 1, s.queries, 1}), first});
  const ValueId before = e.add("LessOrEqual", {key, query});
  const int64_t window = e.node.attr_int("local_window_size", -1);
  if (window < 0) return before;
  return e.add("And", {before, e.add("Greater", {key, e.add("Sub", {query, e.scalar(DType::kI64, static_cast<double>(window))})})});
}

// A key and a value of zeros that every query sees, with a score of its head's: what it draws off is in nobody's output.
void add_sink(Expansion& e, const Sizes& s, std::vector<ValueId>& qkv, ValueId& mask) {
  if (e.node.attr_int("smooth_softmax", 0) != 1 && !e.has_input(kSink)) return;
  const DType type = e.dtype(qkv[0]);
  const auto longer = [&](ValueId x, ValueId more, int64_t axis) { return e.add("Concat", {x, more}, {{"axis", axis}}); };
  const ValueId zero = e.scalar(type, 0), row = e.add("Expand", {zero, e.ints({s.batch, s.kv_heads, 1, s.head})});
  qkv[1] = longer(qkv[1], row, 2), qkv[2] = longer(qkv[2], row, 2);
  const ValueId biased = e.dtype(mask) == DType::kBool ? e.add("Where", {mask, zero, e.scalar(type, -std::numeric_limits<double>::infinity())}) : mask;
  const ValueId scores = e.add("Expand", {biased, e.ints({s.batch, s.heads, s.queries, s.keys})});
  const ValueId sink = e.has_input(kSink) ? e.reshape(e.in(kSink), {1, s.heads, 1, 1}) : zero;
  mask = longer(scores, e.add("Expand", {sink, e.ints({s.batch, s.heads, s.queries, 1})}), 3);
}

// Queries, keys and values with heads apart.
std::vector<ValueId> given(Expansion& e, const Sizes& s) {
  std::vector<ValueId> x{e.in(kQuery), optional_in(e, kKey), optional_in(e, kValue)};
  if (x[1] == kNoValue) {
    const int64_t kv = s.kv_heads * s.head;
    x = e.add_several(3, "Split", {x[0], e.ints({s.heads * s.head, kv, kv})}, {{"axis", int64_t{2}}});
  }
  return {heads_apart(e, x[0], s.heads), heads_apart(e, x[1], s.kv_heads), heads_apart(e, x[2], s.kv_heads)};
}

void expand_grouped(Expansion& e) {
  refuse_others(e);
  Sizes s = sizes_of(e);
  const ValueId first = first_positions(e, s);
  const ValueId positions =
      e.has_input(kPositions) ? e.in(kPositions) : e.reshape(e.add("Add", {e.numbers({1, 1, s.queries, 1}), first}), {s.batch, s.queries});
  std::vector<ValueId> qkv = given(e, s);
  qkv[0] = rotated(e, qkv[0], positions);
  qkv[1] = cached(e, s, optional_in(e, kPastKey), rotated(e, qkv[1], positions), first);
  qkv[2] = cached(e, s, optional_in(e, kPastValue), qkv[2], first);
  e.set_output(1, qkv[1]);
  e.set_output(2, qkv[2]);
  const double scale = e.node.attr_float("scale", 0), cap = e.node.attr_float("softcap", 0);
  // One node, which hides what comes later by itself.
  const bool plain = cap == 0 && s.past == 0 && e.node.attr_int("local_window_size", -1) < 0 && !e.has_input(kBias) && !e.has_input(kSink) &&
                     e.node.attr_int("smooth_softmax", 0) != 1;
  ValueId mask = plain ? kNoValue : seen_and_biased(e, seen(e, s, first), optional_in(e, kBias));
  if (!plain) add_sink(e, s, qkv, mask);
  const ValueId y = cap != 0 ? capped_attention(e, qkv, mask, scale, cap) : attention_node(e, qkv, mask, scale, 0, plain, s.heads, s.kv_heads);
  e.set_output(0, heads_together(e, y));
}

}  // namespace

std::vector<OpDef> grouped_attention_ops() { return {made_of_others("com.microsoft", "GroupQueryAttention", "fFFFFiiFFIFFFF", expand_grouped, 4)}; }

}  // namespace amdahl

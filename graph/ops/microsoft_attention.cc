// Attention, QAttention and MultiHeadAttention of ONNX Runtime: products before and caches around the Attention of the standard.
//
// A causal mask hides what comes later altogether; padding is hidden as ONNX Runtime does it, by mask_filter_value beside the scores.

#include <fmt/format.h>

#include "graph/ops/composed.h"
#include "graph/ops/fused_attention.h"
#include "graph/ops/quantized.h"

namespace amdahl {
namespace {

void refuse_rotation(const Expansion& e) {
  if (e.node.attr_int("do_rotary", 0) != 0) throw Refusal("do_rotary inside of it is not supported: export the RotaryEmbedding as a node of its own");
}

int64_t heads_of(const Expansion& e) {
  const int64_t heads = e.node.attr_int("num_heads", 0);
  if (heads < 1) throw Refusal(fmt::format("num_heads is {}", heads));
  return heads;
}

// Keys (0) or values (1) of a cache [2, batch, heads, positions, size].
ValueId cached(Expansion& e, ValueId past, int64_t which) {
  if (past == kNoValue) return kNoValue;
  if (e.rank(past) != 5) throw Refusal(fmt::format("past has shape {}, not [2, batch, heads, positions, size]", to_string(e.shape(past))));
  return e.add("Gather", {past, e.scalar(DType::kI64, static_cast<double>(which))}, {{"axis", int64_t{0}}});
}

// [batch, positions, q + k + v] -> output and present.
void attend_to_packed(Expansion& e, ValueId packed, ValueId mask, ValueId past, ValueId attention_bias) {
  refuse_rotation(e);
  if (e.node.attr_int("past_present_share_buffer", 0) != 0) throw Refusal("past_present_share_buffer is not supported");
  const Shape s = e.shape(packed);
  if (s.size() != 3) throw Refusal(fmt::format("queries, keys and values of shape {}", to_string(s)));
  std::vector<int64_t> sizes = e.node.attr_ints("qkv_hidden_sizes");
  if (sizes.empty()) sizes.assign(3, s[2] / 3);
  if (sizes.size() != 3 || sizes[0] + sizes[1] + sizes[2] != s[2]) throw Refusal(fmt::format("qkv_hidden_sizes do not add up to {}", s[2]));
  const std::vector<ValueId> qkv = e.add_several(3, "Split", {packed, e.ints(sizes)}, {{"axis", int64_t{2}}});
  FusedAttention a{qkv[0], qkv[1], qkv[2], heads_of(e)};
  a.past_key = cached(e, past, 0), a.past_value = cached(e, past, 1);
  const int64_t keys = s[1] + (a.past_key == kNoValue ? 0 : e.dim(a.past_key, 2));
  a.bias = sum_of(e, padding_bias(e, mask, s[0], keys, e.dtype(packed)), attention_bias);
  a.causal = e.node.attr_int("unidirectional", 0) != 0;
  a.scale = e.node.attr_float("scale", 0);
  a.keeps = e.wants_output(1);
  const Attended done = attended(e, a);
  e.set_output(0, done.y);
  if (!a.keeps) return;
  const ValueId first = e.ints({0});
  e.set_output(1, e.add("Concat", {e.add("Unsqueeze", {done.key, first}), e.add("Unsqueeze", {done.value, first})}, {{"axis", int64_t{0}}}));
}

// input, weights, bias, mask_index, past, attention_bias, past_sequence_length
void expand_attention(Expansion& e) {
  ValueId qkv = e.add("MatMul", {e.in(0), e.in(1)});
  if (e.has_input(2)) qkv = e.add("Add", {qkv, e.in(2)});
  attend_to_packed(e, qkv, optional_in(e, 3), optional_in(e, 4), optional_in(e, 5));
}

// input, weight, bias, input_scale, weight_scale, mask_index, input_zero_point, weight_zero_point, past
void expand_qattention(Expansion& e) {
  const Scaling xs = scaling_in(e, 3, 6), ws = scaling_in(e, 4, 7);
  const ValueId qkv = scaled_product(e, e.in(0), xs, e.in(1), ws, e.in(2));
  attend_to_packed(e, qkv, optional_in(e, 5), optional_in(e, 8), kNoValue);
}

// Queries, keys and values in a tensor for each head: part `i` of [batch, positions, heads, parts, size], heads together.
ValueId part_of_heads(Expansion& e, ValueId packed, int64_t i) {
  const Shape s = e.shape(packed);
  const ValueId part = e.add("Gather", {packed, e.scalar(DType::kI64, static_cast<double>(i))}, {{"axis", int64_t{3}}});
  return e.reshape(part, {s[0], s[1], s[2] * s[4]});
}

struct QueriesKeysValues {
  ValueId q, k, v;
};

QueriesKeysValues given(Expansion& e) {
  const ValueId q = e.in(0), k = optional_in(e, 1), v = optional_in(e, 2);
  if (e.rank(q) == 5) return {part_of_heads(e, q, 0), part_of_heads(e, q, 1), part_of_heads(e, q, 2)};
  if (k == kNoValue) throw Refusal("keys are missing");
  if (e.rank(k) == 5) return {q, part_of_heads(e, k, 0), part_of_heads(e, k, 1)};
  if (v == kNoValue) throw Refusal("values are missing");
  return {q, k, v};
}

void add_bias(Expansion& e, QueriesKeysValues& x, ValueId bias) {
  if (bias == kNoValue) return;
  if (e.rank(x.k) != 3 || e.rank(x.v) != 3) throw Refusal("a bias of keys whose heads lie apart is not supported");
  const std::vector<int64_t> sizes{e.dim(x.q, 2), e.dim(x.k, 2), e.dim(x.v, 2)};
  const std::vector<ValueId> parts = e.add_several(3, "Split", {bias, e.ints(sizes)}, {{"axis", int64_t{0}}});
  x = {e.add("Add", {x.q, parts[0]}), e.add("Add", {x.k, parts[1]}), e.add("Add", {x.v, parts[2]})};
}

// query, key, value, bias, key_padding_mask, attention_bias, past_key, past_value, past_sequence_length, cache_indirection
void expand_multi_head(Expansion& e) {
  if (e.has_input(8) || e.has_input(9))
    throw Refusal("past_sequence_length and cache_indirection are not supported: the cache must be as long as what it holds");
  QueriesKeysValues x = given(e);
  add_bias(e, x, optional_in(e, 3));
  FusedAttention a{x.q, x.k, x.v, heads_of(e)};
  a.past_key = optional_in(e, 6), a.past_value = optional_in(e, 7);
  if ((a.past_key == kNoValue) != (a.past_value == kNoValue)) throw Refusal("past_key and past_value come together");
  const int64_t keys = e.dim(x.k, e.rank(x.k) == 4 ? 2 : 1) + (a.past_key == kNoValue ? 0 : e.dim(a.past_key, 2));
  a.bias = sum_of(e, padding_bias(e, optional_in(e, 4), e.dim(x.q, 0), keys, e.dtype(x.q)), optional_in(e, 5));
  a.causal = e.node.attr_int("unidirectional", 0) != 0;
  a.scale = e.node.attr_float("scale", 0);
  a.keeps = e.wants_output(1) || e.wants_output(2);
  const Attended done = attended(e, a);
  e.set_output(0, done.y);
  e.set_output(1, done.key);
  e.set_output(2, done.value);
}

}  // namespace

std::vector<OpDef> microsoft_attention_ops() {
  return {
      made_of_others("com.microsoft", "Attention", "ffFIFFI", expand_attention, 2),
      made_of_others("com.microsoft", "QAttention", "iifffIIIF", expand_qattention, 2),
      made_of_others("com.microsoft", "MultiHeadAttention", "fFFFIFFFII", expand_multi_head, 4),
  };
}

}  // namespace amdahl

#include "graph/ops/fused_attention.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace amdahl {

ValueId heads_apart(Expansion& e, ValueId x, int64_t heads) {
  const Shape s = e.shape(x);
  if (s.size() != 3 || heads < 1 || s[2] % heads != 0) throw Refusal(fmt::format("{} is not of {} heads", to_string(s), heads));
  return e.transpose(e.reshape(x, {s[0], s[1], heads, s[2] / heads}), {0, 2, 1, 3});
}

ValueId heads_together(Expansion& e, ValueId x) {
  const Shape s = e.shape(x);
  return e.reshape(e.transpose(x, {0, 2, 1, 3}), {s[0], s[2], s[1] * s[3]});
}

ValueId causal_mask(Expansion& e, int64_t queries, int64_t keys, int64_t offset) {
  const ValueId last = e.add("Add", {e.numbers({queries, 1}), e.scalar(DType::kI64, static_cast<double>(offset))});
  return e.add("LessOrEqual", {e.numbers({1, keys}), last});
}

ValueId seen_and_biased(Expansion& e, ValueId seen, ValueId bias) {
  if (seen == kNoValue || bias == kNoValue) return seen == kNoValue ? bias : seen;
  return e.add("Where", {seen, bias, e.scalar(e.dtype(bias), -std::numeric_limits<double>::infinity())});
}

// Ends of sequences, and where twice as many are given, where these begin.
static ValueId seen_by_length(Expansion& e, ValueId mask, int64_t batch, int64_t keys) {
  const ValueId position = e.numbers({keys}), lengths = e.cast(mask, DType::kI64);
  const auto part = [&](int64_t from) { return e.reshape(e.add("Slice", {lengths, e.ints({from}), e.ints({from + batch}), e.ints({0})}), {batch, 1, 1, 1}); };
  const ValueId before = e.add("Less", {position, part(0)});
  return e.dim(mask, 0) == batch ? before : e.add("And", {before, e.add("GreaterOrEqual", {position, part(batch)})});
}

ValueId padding_bias(Expansion& e, ValueId mask, int64_t batch, int64_t keys, DType type) {
  if (mask == kNoValue) return kNoValue;
  const Shape s = e.shape(mask);
  ValueId seen = kNoValue;
  if (s.size() == 1 && (s[0] == batch || s[0] == 2 * batch)) {
    seen = seen_by_length(e, mask, batch, keys);
  } else if (s.size() == 2 || s.size() == 3) {
    const ValueId flags = e.reshape(mask, {s[0], 1, s.size() == 3 ? s[1] : 1, s.back()});
    seen = e.dtype(mask) == DType::kBool ? flags : e.add("Greater", {flags, e.scalar(e.dtype(mask), 0)});
  } else {
    throw Refusal(fmt::format("a mask of shape {} for {} sequences of {} keys is not supported", to_string(s), batch, keys));
  }
  return e.add("Where", {seen, e.scalar(type, 0), e.scalar(type, e.node.attr_float("mask_filter_value", -10000))});
}

ValueId sum_of(Expansion& e, ValueId a, ValueId b) {
  if (a == kNoValue || b == kNoValue) return a == kNoValue ? b : a;
  return e.add("Add", {a, b});
}

ValueId capped_attention(Expansion& e, const std::vector<ValueId>& qkv, ValueId mask, double scale, double softcap) {
  const Shape q = e.shape(qkv[0]), k = e.shape(qkv[1]), v = e.shape(qkv[2]);
  const int64_t group = q[1] / k[1];
  const DType type = e.dtype(qkv[0]);
  const auto number = [&](double x) { return e.scalar(type, x); };
  const ValueId queries = e.reshape(qkv[0], {q[0], k[1], group, q[2], q[3]}), keys = e.reshape(qkv[1], {k[0], k[1], 1, k[2], k[3]});
  const double by = scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(q[3]));
  const ValueId products = e.add("MatMul", {queries, e.transpose(keys, {0, 1, 2, 4, 3})});
  ValueId scores = e.add("Mul", {e.add("Tanh", {e.add("Mul", {products, number(by / softcap)})}), number(softcap)});
  if (mask != kNoValue) {
    Shape own = e.shape(mask);
    own.insert(own.begin(), 4 - own.size(), 1);
    const bool by_head = own[1] != 1;
    const ValueId spread = e.reshape(mask, {own[0], by_head ? k[1] : 1, by_head ? group : 1, own[2], own[3]});
    scores =
        e.dtype(mask) == DType::kBool ? e.add("Where", {spread, scores, number(-std::numeric_limits<double>::infinity())}) : e.add("Add", {scores, spread});
  }
  const ValueId weights = e.add("Softmax", {scores}, {{"axis", int64_t{-1}}});
  return e.reshape(e.add("MatMul", {weights, e.reshape(qkv[2], {v[0], v[1], 1, v[2], v[3]})}), {q[0], q[1], q[2], v[3]});
}

ValueId attention_node(Expansion& e, const std::vector<ValueId>& qkv, ValueId mask, double scale, double softcap, bool causal, int64_t heads,
                       int64_t kv_heads) {
  std::map<std::string, Attribute> attributes;
  if (causal) attributes["is_causal"] = int64_t{1};
  if (scale != 0) attributes["scale"] = scale;
  if (softcap != 0) attributes["softcap"] = softcap;
  if (e.rank(qkv[0]) == 3) attributes["q_num_heads"] = heads, attributes["kv_num_heads"] = kv_heads;
  std::vector<ValueId> inputs = qkv;
  if (mask != kNoValue) inputs.push_back(mask);
  return e.add("Attention", inputs, attributes);
}

// What is kept of keys or values: those of before, then the new ones.
static ValueId behind(Expansion& e, ValueId past, ValueId x, int64_t heads) {
  if (e.rank(x) == 3) x = heads_apart(e, x, heads);
  return past == kNoValue || e.dim(past, 2) == 0 ? x : e.add("Concat", {past, x}, {{"axis", int64_t{2}}});
}

Attended attended(Expansion& e, const FusedAttention& a) {
  const bool apart = a.keeps || a.past_key != kNoValue || e.rank(a.k) == 4 || e.rank(a.v) == 4;
  if (!apart) return {attention_node(e, {a.q, a.k, a.v}, a.bias, a.scale, 0, a.causal, a.heads, a.heads)};
  const ValueId k = behind(e, a.past_key, a.k, a.heads), v = behind(e, a.past_value, a.v, a.heads);
  const int64_t queries = e.dim(a.q, 1), keys = e.dim(k, 2), past = a.past_key == kNoValue ? 0 : e.dim(a.past_key, 2);
  const bool shifted = a.causal && past > 0;
  const ValueId mask = seen_and_biased(e, shifted ? causal_mask(e, queries, keys, past) : kNoValue, a.bias);
  const ValueId y = attention_node(e, {heads_apart(e, a.q, a.heads), k, v}, mask, a.scale, 0, a.causal && !shifted, a.heads, a.heads);
  return {heads_together(e, y), k, v};
}

}  // namespace amdahl

#pragma once
// What the attentions of ONNX Runtime's own are made of: heads that lie apart, a key/value cache before the new keys and values, one mask of all that
// masks, and the Attention of the standard.

#include "graph/expansion.h"

namespace amdahl {

ValueId heads_apart(Expansion& e, ValueId x, int64_t heads);  // [batch, positions, heads * size] -> [batch, heads, positions, size]
ValueId heads_together(Expansion& e, ValueId x);              // and back

// Which keys a query sees, by position: [queries, keys], true where key <= query + offset.
ValueId causal_mask(Expansion& e, int64_t queries, int64_t keys, int64_t offset);
// `bias` where `seen`, else minus infinity; either may be absent.
ValueId seen_and_biased(Expansion& e, ValueId seen, ValueId bias);
// mask_index of com.microsoft in its forms of one number a sequence (or two: end and begin), of one a key, of one a key for each query: what is added to scores,
// in a shape that broadcasts over [batch, heads, queries, keys]. kNoValue where absent.
ValueId padding_bias(Expansion& e, ValueId mask, int64_t batch, int64_t keys, DType type);
ValueId sum_of(Expansion& e, ValueId a, ValueId b);  // either may be absent

struct FusedAttention {
  ValueId q;     // [batch, queries, heads * size]
  ValueId k, v;  // the same, or with heads apart
  int64_t heads;
  ValueId past_key = kNoValue, past_value = kNoValue;  // heads apart
  ValueId bias = kNoValue;
  bool causal = false;
  double scale = 0;    // 0: one by the root of the size of a head
  bool keeps = false;  // its keys and values are outputs
};
struct Attended {
  ValueId y, key = kNoValue, value = kNoValue;
};
Attended attended(Expansion& e, const FusedAttention& a);

// The node itself: q, k, v with heads apart or together, and what is said of them.
ValueId attention_node(Expansion& e, const std::vector<ValueId>& qkv, ValueId mask, double scale, double softcap, bool causal, int64_t heads, int64_t kv_heads);
// The same of heads that lie apart, product by product, where scores are capped: no kernel of Attention does that. Every query must see something.
ValueId capped_attention(Expansion& e, const std::vector<ValueId>& qkv, ValueId mask, double scale, double softcap);

// Attention of the standard, where it has a cache, lengths or a window (attention_cache.cc); nothing where it has none.
void write_out_cache(Expansion& e);

}  // namespace amdahl

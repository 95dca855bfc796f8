#pragma once
// The parameters and sizes of an attention problem (attention.cc says what its operands are).

#include <algorithm>
#include <cmath>

#include "starter_kernels/kinds/problem.h"

namespace amdahl {

struct AttentionParams {
  double scale = 1;                 // of the products of queries and keys
  bool causal = false;              // key t is hidden from query s when t > s + causal_offset
  int64_t causal_offset = 0;        // in keys
  bool zero_hidden_rows = false;    // a query that sees no key gets zeros, not NaN
  bool zero_nan_weights = false;    // weights that are no numbers become zeros, which values that are no numbers still show through
  double masked_value = -HUGE_VAL;  // score of what a mask of bools, or causality, hides
  bool hidden_added = false;        // causality adds it to the score rather than put it in its place (an infinite score then is no number)

  static AttentionParams of(const Problem& problem);
  void write(Problem& problem) const;
};

struct AttentionSizes {
  int64_t batch, heads, queries, keys, width, value_width;
  bool causal;
  explicit AttentionSizes(const Problem& p)
      : batch(p.out[0].shape[0]),
        heads(p.out[0].shape[1]),
        queries(p.out[0].shape[2]),
        keys(p.in[1].shape[2]),
        width(p.in[0].shape[3]),
        value_width(p.out[0].shape[3]),
        causal(AttentionParams::of(p).causal) {}

  // What kernels give the key of the highest score, a power of two: a sum over all keys, not divided by its weights yet, then exceeds no value. (64 equal
  // weights of 1 and values of 6e36 overflow a float.)
  double largest_weight() const { return std::exp2(-std::ceil(std::log2(static_cast<double>(std::max<int64_t>(keys, 1))))); }
};

}  // namespace amdahl

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
  bool appended = false;            // the last two inputs are keys and values behind those of in[1] and in[2]

  static AttentionParams of(const Problem& problem);
  void write(Problem& problem) const;
};

// Numbers of the inputs that not every problem has.
struct AttentionInputs {
  size_t mask = 0;                        // 0: none
  size_t more_keys = 1, more_values = 2;  // of the appended ones; where there are none, those of all
  explicit AttentionInputs(const Problem& p) {
    const size_t own = p.in.size() - (AttentionParams::of(p).appended ? 2 : 0);
    if (own > 3) mask = 3;
    if (own < p.in.size()) more_keys = own, more_values = own + 1;
  }
};

struct AttentionSizes {
  int64_t batch, heads, queries, first_keys, keys, width, value_width;  // first_keys: of in[1]; keys: the appended ones too
  bool causal;
  explicit AttentionSizes(const Problem& p)
      : batch(p.out[0].shape[0]),
        heads(p.out[0].shape[1]),
        queries(p.out[0].shape[2]),
        first_keys(p.in[1].shape[2]),
        keys(first_keys + (AttentionParams::of(p).appended ? p.in[AttentionInputs(p).more_keys].shape[2] : 0)),
        width(p.in[0].shape[3]),
        value_width(p.out[0].shape[3]),
        causal(AttentionParams::of(p).causal) {}

  // What kernels give the key of the highest score, a power of two: a sum over all keys, not divided by its weights yet, then exceeds no value. (64 equal
  // weights of 1 and values of 6e36 overflow a float.)
  double largest_weight() const { return std::exp2(-std::ceil(std::log2(static_cast<double>(std::max<int64_t>(keys, 1))))); }
};

}  // namespace amdahl

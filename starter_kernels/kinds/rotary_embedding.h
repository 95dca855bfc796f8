#pragma once
// The parameters of a rotary_embedding problem (rotary_embedding.cc says what its operands are).

#include "starter_kernels/kinds/problem.h"

namespace amdahl {

struct RotaryEmbeddingParams {
  // What in[3] says of positions: kInOrder: there is none, row p is position p; kRow: one number a row; kOffset: the first row's, of all.
  enum class Ids { kInOrder, kRow, kOffset };

  int64_t rotated = 0;       // elements of a head that are turned, in pairs; the others are copied
  bool interleaved = false;  // pairs lie side by side; else half of the rotated part apart
  bool full_cache = false;   // a row of the caches is as wide as the rotated part, its two halves given separately; else half as wide
  Ids ids = Ids::kInOrder;
  int64_t cache_rows = 0;  // rows that may be looked up, where there are ids

  static RotaryEmbeddingParams of(const Problem& problem);
  void write(Problem& problem) const;
};

}  // namespace amdahl

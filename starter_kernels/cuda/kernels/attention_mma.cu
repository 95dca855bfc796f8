// out = softmax(scale q k' + mask) v of half floats on tensor cores (mma.sync), head by head, with a running maximum over tiles of keys (Dao et al., 2022).
//
// A warp has 16 queries: of their scores those with every KEY_WARPS-th part of a tile's keys, of their results every KEY_WARPS-th part of the columns. The
// warps of a query agree on its maximum, tile by tile, and hand each other their weights through shared memory: half floats, 2^15 times as large, so that small
// ones are not lost, and in TERMS parts that together are as exact as the floats they come from. A block has QUERIES of a head. Tiles of KEYS keys and their
// values are in shared memory, the next ones on their way where there are several. Where queries and heads are too few for the card, PARTS blocks share the keys.

enum : int {
  THREADS = 32 * (QUERIES / 16) * KEY_WARPS,
  WARP_KEYS = KEYS / KEY_WARPS,
  MMA_DEPTH = (D + 15) / 16 * 16,
  MMA_WIDTH = (DV + 15) / 16 * 16,
  QK_STEP = MMA_DEPTH + 8,  // of rows in shared memory: longer by 16 bytes, so that eight of them begin in different banks
  V_STEP = MMA_WIDTH + 8,
  AT_KEYS = QUERIES * QK_STEP,
  TILE = KEYS * (QK_STEP + V_STEP),
  BUFFERS = T > KEYS ? 2 : 1,
  W_STEP = KEYS + 8,
  AT_WEIGHTS = AT_KEYS + BUFFERS * TILE,
  AT_TOPS = (AT_WEIGHTS + TERMS * QUERIES * W_STEP) * 2,  // bytes; of each query the warps' maxima, two tiles by turns, and their sums
  SHARED = AT_TOPS + 3 * KEY_WARPS * QUERIES * 4,
  COLUMNS = MMA_WIDTH / KEY_WARPS,  // of a warp's results
  WIDE = COLUMNS % 16 == 0          // values of 16 keys and 16 columns at a time; else of 32 keys and 8
};
enum : int64_t {
  QUERY_TILES = (S + QUERIES - 1) / QUERIES,
  KEY_TILES = (T + KEYS - 1) / KEYS,
  PART = (KEY_TILES + PARTS - 1) / PARTS * KEYS,  // keys of a part
  // The workspace: a flag a tile of values (attention_finite.cu); then of each part and query maximum and sum, and its row (attention_parts.cu).
  AT_STATISTICS = SKIP_CAUSAL ? (HEADS * KEY_TILES + 255) / 256 * 256 : 0,
  AT_ROWS = AT_STATISTICS + (PARTS > 1 ? PARTS * HEADS * S * 2 * sizeof(sum_t) : 0),
  WORKSPACE = AT_ROWS + (PARTS > 1 ? PARTS * HEADS * S * DV * sizeof(sum_t) : 0)
};

static inline sum_t larger(sum_t a, sum_t b) { return a > b ? a : b; }

// What an exponential's argument has subtracted: a maximum of -inf (all hidden so far) subtracts nothing, and its weights are zero.
static inline sum_t subtracted(sum_t maximum) { return maximum == -sum_t(__builtin_inff()) ? sum_t(0) : maximum; }

static inline int smaller(int64_t a, int b) { return a < b ? int(a) : b; }

static inline bool in_sixteens(const uint16_t* from, int64_t stride) { return stride % 8 == 0 && uint64_t(from) % 16 == 0; }

// Eight numbers to shared memory, zeros from `real` on. (Loops of their own for either way take 168 registers instead of 128: 197 queries and keys then took
// 10.0 us instead of 7.3, H200.)
static inline void copy_eight(uint16_t* place, const uint16_t* source, int real, bool aligned) {
  if (aligned) copy_async<16>(place, source, real * 2);
  else
    for (int j = 0; j < 8; ++j) place[j] = j < real ? source[j] : uint16_t(0);
}

// ROWS x COLUMNS numbers to shared memory, zeros from `rows` and `columns` on.
template <int ROWS, int COLUMNS, int TO_STEP>
static inline void copy_rows(uint16_t* to, const uint16_t* from, int64_t stride, int64_t rows, int64_t columns) {
  const bool aligned = in_sixteens(from, stride);
  for_own<ROWS * (COLUMNS / 8), THREADS>([&](int i) {
    const int row = i / (COLUMNS / 8), column = i % (COLUMNS / 8) * 8;
    const int real = row < rows && column < columns ? smaller(columns - column, 8) : 0;
    const uint16_t* source = real > 0 ? from + row * stride + column : from;
    copy_eight(to + row * TO_STEP + column, source, real, aligned);
  });
}

// Rows of a tile of keys, or of their values: t0 … end - 1, those from FIRST_KEYS on of `more`.
template <int COLUMNS, int TO_STEP>
static inline void copy_tile(uint16_t* to, const uint16_t* first, int64_t stride, const uint16_t* more, int64_t more_stride, int64_t t0, int64_t end,
                             int64_t columns) {
  if constexpr (!APPENDED) {
    copy_rows<KEYS, COLUMNS, TO_STEP>(to, first + t0 * stride, stride, end - t0, columns);
  } else {
    const bool aligned = in_sixteens(first, stride) && in_sixteens(more, more_stride);  // of all, so that a loop has one way to copy
    for_own<KEYS * (COLUMNS / 8), THREADS>([&](int i) {
      const int row = i / (COLUMNS / 8), column = i % (COLUMNS / 8) * 8;
      const int64_t t = t0 + row;
      const int real = t < end && column < columns ? smaller(columns - column, 8) : 0;
      const bool appended = t >= FIRST_KEYS;
      const uint16_t* rows = appended ? more : first;
      const int64_t at = appended ? (t - FIRST_KEYS) * more_stride : t * stride;
      copy_eight(to + row * TO_STEP + column, real > 0 ? rows + at + column : rows, real, aligned);
    });
  }
}

static inline uint32_t bits_of(v_t x) { return *(const uint16_t*)&x; }

// Two adjacent weights as a word of the next term: what they still lack, which is taken off them.
static inline uint32_t take_term(float& first, float& second) {
  const v_t low = to_half(first), high = to_half(second);
  first -= load_v(low), second -= load_v(high);
  return bits_of(low) | bits_of(high) << 16;
}

// Whether some of a tile's values are infinite or no numbers, for all threads.
static inline bool has_odd_values(const uint16_t* values) {
  int odd = 0;
  for_own<KEYS * MMA_WIDTH / 2, THREADS>([&](int i) {
    const uint32_t two = *(const uint32_t*)(values + i / (MMA_WIDTH / 2) * V_STEP + i % (MMA_WIDTH / 2) * 2);
    odd |= (two & ODD_BITS) == ODD_BITS | (two >> 16 & ODD_BITS) == ODD_BITS;
  });
  return __syncthreads_or(odd);
}

// What a thread has to do with: a warp's queries and part of the keys, and the rows that its lane reads of matrices.
struct Lane {
  int lane = threadIdx.x % 32, warp_row = threadIdx.x / 32 / int(KEY_WARPS) * 16, key_warp = threadIdx.x / 32 % int(KEY_WARPS);
  int low = lane % 8, second = lane / 8 % 2 * 8, fourth = lane / 16 * 8;
  // Of scores and results: rows `query` and 8 below; of eight keys or columns the one from `column` on and the next.
  int query = warp_row + lane / 4, column = lane % 4 * 2;
  int first_key = key_warp * int(WARP_KEYS), first_column = key_warp * int(COLUMNS);
};
struct Scores {
  float at[WARP_KEYS / 8][4];
};
struct Seen {  // of the mask, where scores are
  mask_t at[HAS_MASK ? WARP_KEYS / 8 : 1][4];
};
// Of two queries: the largest score so far, the sum of this thread's weights, and of the warp's columns the weighed values.
struct Running {
  float maximum[2] = {-__builtin_inff(), -__builtin_inff()}, sum[2] = {}, result[COLUMNS / 8][4] = {};
};

static inline Seen read_mask(const Lane& l, const mask_t* mask, int64_t q0, int64_t t0, int64_t end) {
  Seen seen;
  if constexpr (HAS_MASK) {
#pragma unroll
    for (int j = 0; j < WARP_KEYS / 8; ++j)
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        const int64_t s = q0 + l.query + c / 2 * 8, t = t0 + l.first_key + j * 8 + l.column + c % 2;
        if (t < end && s < S) seen.at[j][c] = mask[index_t(s) * index_t(MASK_ROW) + index_t(t) * index_t(MASK_COLUMN)];
      }
  }
  return seen;
}

static inline Scores multiply_keys(const Lane& l, const uint16_t* queries, const uint16_t* keys) {
  Scores score = {};
#pragma unroll
  for (int d = 0; d < MMA_DEPTH; d += 16) {
    uint32_t a[4], b[4];
    load_matrices<false>(a, queries + (l.warp_row + l.low + l.second) * QK_STEP + d + l.fourth);
#pragma unroll
    for (int j = 0; j < WARP_KEYS; j += 16) {
      load_matrices<false>(b, keys + (l.first_key + j + l.low + l.fourth) * QK_STEP + d + l.second);
      multiply_add(score.at[j / 8], a, b[0], b[1]);
      multiply_add(score.at[j / 8 + 1], a, b[2], b[3]);
    }
  }
  return score;
}

// Scales and masks the scores; `top` grows to the largest of a query's that the warp has.
static inline void mask_scores(const Lane& l, Scores& score, const Seen& seen, int64_t q0, int64_t t0, int64_t end, float (&top)[2]) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int64_t s = q0 + l.query + half * 8;
#pragma unroll
    for (int j = 0; j < WARP_KEYS / 8; ++j)
#pragma unroll
      for (int c = 0; c < 2; ++c) {
        float& x = score.at[j][half * 2 + c];
        const int64_t t = t0 + l.first_key + j * 8 + l.column + c;
        x *= float(SCALE);
        if (t >= end) {
          x = -__builtin_inff();
        } else {
          if (HAS_MASK && s < S) x = masked(x, seen.at[HAS_MASK ? j : 0][half * 2 + c]);
          if (CAUSAL && t > s + CAUSAL_OFFSET) x = hidden(x);
        }
        top[half] = larger(x, top[half]);
      }
    top[half] = larger(__shfl_xor_sync(0xffffffffu, top[half], 1), top[half]);
    top[half] = larger(__shfl_xor_sync(0xffffffffu, top[half], 2), top[half]);
  }
}

// Of all warps of a query. `tops` is not written again before the next meeting but one.
static inline void agree_on_top(const Lane& l, float* tops, float (&top)[2]) {
  if constexpr (KEY_WARPS > 1) {
    if (l.lane % 4 == 0) tops[l.query * KEY_WARPS + l.key_warp] = top[0], tops[(l.query + 8) * KEY_WARPS + l.key_warp] = top[1];
    __syncthreads();
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int w = 0; w < KEY_WARPS; ++w) top[half] = larger(tops[(l.query + half * 8) * KEY_WARPS + w], top[half]);
  }
}

// Weights of a tile's keys, in terms, to `weights`; the warps' sums of them so far to `sums`.
static inline void weigh(const Lane& l, Scores& score, const float (&top)[2], Running& run, uint16_t* weights, float* sums) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const float subtract = subtracted(top[half]), factor = BUFFERS > 1 ? scalar::exp(run.maximum[half] - subtract) : 1.f;
    run.maximum[half] = top[half];
    run.sum[half] *= factor;
#pragma unroll
    for (int j = 0; j < WARP_KEYS / 8; ++j)
#pragma unroll
      for (int c = 0; c < 2; ++c) {
        const float weight = scalar::exp(score.at[j][half * 2 + c] - subtract);
        run.sum[half] += weight;
        score.at[j][half * 2 + c] = weight * LARGER_BY;
      }
    if (BUFFERS > 1)
#pragma unroll
      for (int j = 0; j < COLUMNS / 8; ++j) run.result[j][half * 2] *= factor, run.result[j][half * 2 + 1] *= factor;
#pragma unroll
    for (int term = 0; term < TERMS; ++term)
#pragma unroll
      for (int j = 0; j < WARP_KEYS / 8; ++j)
        *(uint32_t*)(weights + (term * int(QUERIES) + l.query + half * 8) * W_STEP + l.first_key + j * 8 + l.column) =
            take_term(score.at[j][half * 2], score.at[j][half * 2 + 1]);
    float all = run.sum[half] + __shfl_xor_sync(0xffffffffu, run.sum[half], 1);
    all += __shfl_xor_sync(0xffffffffu, all, 2);
    if (l.lane % 4 == 0) sums[(l.query + half * 8) * KEY_WARPS + l.key_warp] = all;
  }
}

// `careful`: what is left of weights behind the first term meets numbers only; infinities and what is no number are zeros for it.
static inline void multiply_values(const Lane& l, const uint16_t* weights, uint16_t* values, bool careful, Running& run) {
  const bool odd = careful && has_odd_values(values);
#pragma unroll
  for (int term = 0; term < TERMS; ++term) {
    if (term == 1 && odd) {
      __syncthreads();
      for_own<KEYS * MMA_WIDTH, THREADS>([&](int i) {
        uint16_t& x = values[i / MMA_WIDTH * V_STEP + i % MMA_WIDTH];
        if ((x & ODD_BITS) == ODD_BITS) x = 0;
      });
      __syncthreads();
    }
    const uint16_t* rows = weights + (term * int(QUERIES) + l.warp_row + l.low + l.second) * W_STEP + l.fourth;
#pragma unroll
    for (int t = 0; t < KEYS; t += WIDE ? 16 : 32) {
      uint32_t a[4], b[4];
      load_matrices<false>(a, rows + t);
      if constexpr (WIDE) {
#pragma unroll
        for (int c = 0; c < COLUMNS; c += 16) {
          load_matrices<true>(b, values + (t + l.low + l.second) * V_STEP + l.first_column + c + l.fourth);
          multiply_add(run.result[c / 8], a, b[0], b[1]);
          multiply_add(run.result[c / 8 + 1], a, b[2], b[3]);
        }
      } else {
        uint32_t later[4];
        load_matrices<false>(later, rows + t + 16);
#pragma unroll
        for (int c = 0; c < COLUMNS; c += 8) {
          load_matrices<true>(b, values + (t + l.lane) * V_STEP + l.first_column + c);
          multiply_add(run.result[c / 8], a, b[0], b[1]);
          multiply_add(run.result[c / 8], later, b[2], b[3]);
        }
      }
    }
  }
}

static inline bool has_odd_results(const Running& run) {
  int odd = 0;
#pragma unroll
  for (int j = 0; j < COLUMNS / 8; ++j)
#pragma unroll
    for (int c = 0; c < 4; ++c) odd |= !(scalar::abs(run.result[j][c]) <= 3.4e38f);
  return __syncthreads_or(odd);
}

static inline void store_results(const Lane& l, const Operands& o, int64_t head, int64_t q0, const Running& run, const float* sums) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float total = 0;
#pragma unroll
    for (int w = 0; w < KEY_WARPS; ++w) total += sums[(l.query + half * 8) * KEY_WARPS + w];
    total *= LARGER_BY;  // of the weights that the results were made with
    const int64_t s = q0 + l.query + half * 8, row = (blockIdx.y * HEADS + head) * S + s;
    if (s >= S) continue;
    if (PARTS > 1 && l.key_warp == 0 && l.lane % 4 == 0) {
      sum_t* statistics = (sum_t*)((char*)o.workspace + AT_STATISTICS) + 2 * row;
      statistics[0] = run.maximum[half], statistics[1] = total;
    }
#pragma unroll
    for (int j = 0; j < COLUMNS / 8; ++j)
#pragma unroll
      for (int c = 0; c < 2; ++c) {
        const int column = l.first_column + j * 8 + l.column + c;
        if (column >= DV) continue;
        const float x = run.result[j][half * 2 + c];
        if constexpr (PARTS > 1) ((sum_t*)((char*)o.workspace + AT_ROWS))[row * DV + column] = x;
        else ((out_t*)o.out[0])[out_head(head) + s * OUT_ROW + column * OUT_COLUMN] = store_out(result_of(o, head, column, x, total));
      }
  }
}

extern "C" __global__ void __launch_bounds__(THREADS) amdahl_kernel_0(const __grid_constant__ Operands o) {
  wait_for_producers();
  alignas(16) extern __shared__ uint16_t shared[];
  const Lane l;
  // Later queries see more keys where attention is causal: they begin first.
  const int64_t head = blockIdx.x % HEADS, q0 = (QUERY_TILES - 1 - blockIdx.x / HEADS) * QUERIES;
  const int64_t begin = blockIdx.y * PART, end = begin + PART < T ? begin + PART : T;
  const uint16_t* q = (const uint16_t*)o.in[0] + q_head(head) + q0 * Q_ROW;
  const uint16_t* k = (const uint16_t*)o.in[1] + k_head(head);
  const uint16_t* v = (const uint16_t*)o.in[2] + v_head(head);
  const uint16_t* more_k = APPENDED ? (const uint16_t*)o.in[MORE_K_INPUT] + more_k_head(head) : nullptr;
  const uint16_t* more_v = APPENDED ? (const uint16_t*)o.in[MORE_V_INPUT] + more_v_head(head) : nullptr;
  const mask_t* mask = HAS_MASK ? (const mask_t*)o.in[HAS_MASK ? 3 : 0] + mask_head(head) : nullptr;
  const uint8_t* finite = (const uint8_t*)o.workspace + head * KEY_TILES;
  uint16_t* const weights = shared + AT_WEIGHTS;
  float *const tops = (float*)((char*)shared + AT_TOPS), *const sums = tops + 2 * int(KEY_WARPS * QUERIES);
  // Weights of zero add nothing to the result, unless they meet an infinity or what is no number.
  const auto first_from = [&](int64_t t0) {
    if constexpr (SKIP_CAUSAL)
      while (t0 < end && t0 > q0 + QUERIES - 1 + CAUSAL_OFFSET && finite[t0 / KEYS]) t0 += KEYS;
    return t0;
  };
  // Two groups of copies, of which there may be nothing: keys are waited for first.
  const auto copy_keys = [&](int64_t t0, int place) {
    uint16_t* tile = shared + AT_KEYS + place * TILE;
    if (t0 < end) copy_tile<MMA_DEPTH, QK_STEP>(tile, k, K_ROW, more_k, MORE_K_ROW, t0, end, D);
    end_group();
    if (t0 < end) copy_tile<MMA_WIDTH, V_STEP>(tile + KEYS * QK_STEP, v, V_ROW, more_v, MORE_V_ROW, t0, end, DV);
    end_group();
  };

  Running run;
  int turn = 0;
  // The first term of the weights meets the values as they are. What is left of a weight may be zero where the weight is not, and must meet numbers only: if
  // a result is none, all is done again, with care.
#pragma unroll 1
  for (int careful = 0; careful < 2; ++careful) {
    run = Running();
    if (l.lane % 4 == 0) sums[l.query * KEY_WARPS + l.key_warp] = 0, sums[(l.query + 8) * KEY_WARPS + l.key_warp] = 0;
    int64_t t0 = first_from(begin);
    copy_rows<QUERIES, MMA_DEPTH, QK_STEP>(shared, q, Q_ROW, S - q0, D);
    copy_keys(t0, 0);
#pragma unroll 1
    for (int place = 0; t0 < end; place ^= 1) {
      const int64_t following = BUFFERS > 1 ? first_from(t0 + KEYS) : end;
      if (BUFFERS > 1) copy_keys(following, place ^ 1);
      const Seen seen = read_mask(l, mask, q0, t0, end);
      wait_for_groups<(BUFFERS > 1 ? 3 : 1)>();
      __syncthreads();
      uint16_t *const keys = shared + AT_KEYS + place * (BUFFERS > 1 ? TILE : 0), *const values = keys + KEYS * QK_STEP;
      Scores score = multiply_keys(l, shared, keys);
      float top[2] = {run.maximum[0], run.maximum[1]};
      mask_scores(l, score, seen, q0, t0, end, top);
      agree_on_top(l, tops + turn * int(KEY_WARPS * QUERIES), top);
      turn ^= 1;
      weigh(l, score, top, run, weights, sums);
      wait_for_groups<(BUFFERS > 1 ? 2 : 0)>();
      __syncthreads();  // all weights are there, and all values
      multiply_values(l, weights, values, careful, run);
      if (BUFFERS > 1) __syncthreads();  // none needs this tile any more
      t0 = following;
    }
    wait_for_groups<0>();
    if (!has_odd_results(run)) break;
  }
  store_results(l, o, head, q0, run, sums);
}

#define ATTENTION_LAUNCH {0, QUERY_TILES * HEADS, PARTS, 1, THREADS, 1, 1, SHARED}
TABLE uint64_t amdahl_workspace_bytes = WORKSPACE;

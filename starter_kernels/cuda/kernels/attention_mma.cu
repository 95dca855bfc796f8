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

// ROWS x COLUMNS numbers to shared memory, zeros from `rows` and `columns` on.
template <int ROWS, int COLUMNS, int TO_STEP>
static inline void copy_rows(uint16_t* to, const uint16_t* from, int64_t stride, int64_t rows, int64_t columns) {
  const bool aligned = stride % 8 == 0 && uint64_t(from) % 16 == 0;
  for_own<ROWS * (COLUMNS / 8), THREADS>([&](int i) {
    const int row = i / (COLUMNS / 8), column = i % (COLUMNS / 8) * 8;
    const int real = row < rows && column < columns ? smaller(columns - column, 8) : 0;
    const uint16_t* source = real > 0 ? from + row * stride + column : from;
    uint16_t* place = to + row * TO_STEP + column;
    if (aligned) copy_async<16>(place, source, real * 2);
    else
      for (int j = 0; j < 8; ++j) place[j] = j < real ? source[j] : uint16_t(0);
  });
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

extern "C" __global__ void __launch_bounds__(THREADS) amdahl_kernel_0(const __grid_constant__ Operands o) {
  wait_for_producers();
  alignas(16) extern __shared__ uint16_t shared[];
  const int lane = threadIdx.x % 32, warp_row = threadIdx.x / 32 / int(KEY_WARPS) * 16, key_warp = threadIdx.x / 32 % int(KEY_WARPS), low = lane % 8, second = lane / 8 % 2 * 8, fourth = lane / 16 * 8;
  // Later queries see more keys where attention is causal: they begin first.
  const int64_t head = blockIdx.x % HEADS, q0 = (QUERY_TILES - 1 - blockIdx.x / HEADS) * QUERIES;
  const int64_t begin = blockIdx.y * PART, end = begin + PART < T ? begin + PART : T;
  const uint16_t* q = (const uint16_t*)o.in[0] + q_head(head) + q0 * Q_ROW;
  const uint16_t* k = (const uint16_t*)o.in[1] + k_head(head);
  const uint16_t* v = (const uint16_t*)o.in[2] + v_head(head);
  const mask_t* mask = HAS_MASK ? (const mask_t*)o.in[HAS_MASK ? 3 : 0] + mask_head(head) : nullptr;
  const uint8_t* finite = (const uint8_t*)o.workspace + head * KEY_TILES;
  uint16_t* const weights = shared + AT_WEIGHTS;
  float *const warp_tops = (float*)((char*)shared + AT_TOPS), *const warp_sums = warp_tops + 2 * int(KEY_WARPS * QUERIES);
  const int query = warp_row + lane / 4, first_column = key_warp * COLUMNS;
  // Weights of zero add nothing to the result, unless they meet an infinity or what is no number.
  const auto first_from = [&](int64_t t0) {
    if constexpr (SKIP_CAUSAL)
      while (t0 < end && t0 > q0 + QUERIES - 1 + CAUSAL_OFFSET && finite[t0 / KEYS]) t0 += KEYS;
    return t0;
  };
  const auto copy_keys = [&](int64_t t0, int place) {
    uint16_t* tile = shared + AT_KEYS + place * TILE;
    copy_rows<KEYS, MMA_DEPTH, QK_STEP>(tile, k + t0 * K_ROW, K_ROW, end - t0, D);
    end_group();
    copy_rows<KEYS, MMA_WIDTH, V_STEP>(tile + KEYS * QK_STEP, v + t0 * V_ROW, V_ROW, end - t0, DV);
  };

  float maximum[2], sum[2], result[COLUMNS / 8][4];
  int turn = 0;
  // The first term of the weights meets the values as they are. What is left of a weight may be zero where the weight is not, and must meet numbers only: if
  // a result is none, all is done again, with care.
#pragma unroll 1
  for (int careful = 0; careful < 2; ++careful) {
#pragma unroll
    for (int half = 0; half < 2; ++half) maximum[half] = -__builtin_inff(), sum[half] = 0;
#pragma unroll
    for (int j = 0; j < COLUMNS / 8; ++j)
#pragma unroll
      for (int c = 0; c < 4; ++c) result[j][c] = 0;
    if (lane % 4 == 0) warp_sums[query * KEY_WARPS + key_warp] = 0, warp_sums[(query + 8) * KEY_WARPS + key_warp] = 0;
    int64_t t0 = first_from(begin);
    copy_rows<QUERIES, MMA_DEPTH, QK_STEP>(shared, q, Q_ROW, S - q0, D);
    if (t0 < end) copy_keys(t0, 0);
    end_group();
#pragma unroll 1
    for (int place = 0; t0 < end; place ^= 1) {
      const int64_t following = BUFFERS > 1 ? first_from(t0 + KEYS) : end;
      if (BUFFERS > 1) {
        if (following < end) copy_keys(following, place ^ 1);
        else end_group();
        end_group();
      }
      const int first_key = key_warp * WARP_KEYS;
      mask_t seen[HAS_MASK ? WARP_KEYS / 8 : 1][4];
      if constexpr (HAS_MASK) {
#pragma unroll
        for (int half = 0; half < 2; ++half)
#pragma unroll
          for (int j = 0; j < WARP_KEYS / 8; ++j)
#pragma unroll
            for (int c = 0; c < 2; ++c) {
              const int64_t s = q0 + warp_row + lane / 4 + half * 8, t = t0 + first_key + j * 8 + lane % 4 * 2 + c;
              if (t < end && s < S) seen[j][half * 2 + c] = mask[index_t(s) * index_t(MASK_ROW) + index_t(t) * index_t(MASK_COLUMN)];
            }
      }
      wait_for_groups<(BUFFERS > 1 ? 3 : 1)>();
      __syncthreads();
      uint16_t *const keys = shared + AT_KEYS + place * (BUFFERS > 1 ? TILE : 0), *const values = keys + KEYS * QK_STEP;

      float score[WARP_KEYS / 8][4] = {};
#pragma unroll
      for (int d = 0; d < MMA_DEPTH; d += 16) {
        uint32_t a[4], b[4];
        load_matrices<false>(a, shared + (warp_row + low + second) * QK_STEP + d + fourth);
#pragma unroll
        for (int j = 0; j < WARP_KEYS; j += 16) {
          load_matrices<false>(b, keys + (first_key + j + low + fourth) * QK_STEP + d + second);
          multiply_add(score[j / 8], a, b[0], b[1]);
          multiply_add(score[j / 8 + 1], a, b[2], b[3]);
        }
      }

      float top[2];
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int64_t s = q0 + warp_row + lane / 4 + half * 8;
        top[half] = maximum[half];
#pragma unroll
        for (int j = 0; j < WARP_KEYS / 8; ++j)
#pragma unroll
          for (int c = 0; c < 2; ++c) {
            float& x = score[j][half * 2 + c];
            const int64_t t = t0 + first_key + j * 8 + lane % 4 * 2 + c;
            x *= float(SCALE);
            if (t >= end) {
              x = -__builtin_inff();
            } else {
              if (HAS_MASK && s < S) x = masked(x, seen[HAS_MASK ? j : 0][half * 2 + c]);
              if (CAUSAL && t > s + CAUSAL_OFFSET) x = hidden(x);
            }
            top[half] = larger(x, top[half]);
          }
        top[half] = larger(__shfl_xor_sync(0xffffffffu, top[half], 1), top[half]);
        top[half] = larger(__shfl_xor_sync(0xffffffffu, top[half], 2), top[half]);
      }
      if constexpr (KEY_WARPS > 1) {
        float* const tops = warp_tops + turn * int(KEY_WARPS * QUERIES);
        turn ^= 1;
        if (lane % 4 == 0) tops[query * KEY_WARPS + key_warp] = top[0], tops[(query + 8) * KEY_WARPS + key_warp] = top[1];
        __syncthreads();
#pragma unroll
        for (int half = 0; half < 2; ++half)
#pragma unroll
          for (int w = 0; w < KEY_WARPS; ++w) top[half] = larger(tops[(query + half * 8) * KEY_WARPS + w], top[half]);
      }
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float subtract = subtracted(top[half]), factor = BUFFERS > 1 ? scalar::exp(maximum[half] - subtract) : 1.f;
        maximum[half] = top[half];
        sum[half] *= factor;  // of this thread's keys
#pragma unroll
        for (int j = 0; j < WARP_KEYS / 8; ++j)
#pragma unroll
          for (int c = 0; c < 2; ++c) {
            const float weight = scalar::exp(score[j][half * 2 + c] - subtract);
            sum[half] += weight;
            score[j][half * 2 + c] = weight * LARGER_BY;
          }
        if (BUFFERS > 1)
#pragma unroll
          for (int j = 0; j < COLUMNS / 8; ++j) result[j][half * 2] *= factor, result[j][half * 2 + 1] *= factor;
#pragma unroll
        for (int term = 0; term < TERMS; ++term)
#pragma unroll
          for (int j = 0; j < WARP_KEYS / 8; ++j)
            *(uint32_t*)(weights + (term * int(QUERIES) + query + half * 8) * W_STEP + first_key + j * 8 + lane % 4 * 2) =
                take_term(score[j][half * 2], score[j][half * 2 + 1]);
        float all = sum[half] + __shfl_xor_sync(0xffffffffu, sum[half], 1);
        all += __shfl_xor_sync(0xffffffffu, all, 2);
        if (lane % 4 == 0) warp_sums[(query + half * 8) * KEY_WARPS + key_warp] = all;
      }
      wait_for_groups<(BUFFERS > 1 ? 2 : 0)>();
      __syncthreads();  // all weights are there, and all values

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
        const uint16_t* rows = weights + (term * int(QUERIES) + warp_row + low + second) * W_STEP + fourth;
#pragma unroll
        for (int t = 0; t < KEYS; t += WIDE ? 16 : 32) {
          uint32_t a[4], b[4];
          if constexpr (WIDE) {
            load_matrices<false>(a, rows + t);
#pragma unroll
            for (int c = 0; c < COLUMNS; c += 16) {
              load_matrices<true>(b, values + (t + low + second) * V_STEP + first_column + c + fourth);
              multiply_add(result[c / 8], a, b[0], b[1]);
              multiply_add(result[c / 8 + 1], a, b[2], b[3]);
            }
          } else {
            uint32_t later[4];
            load_matrices<false>(a, rows + t);
            load_matrices<false>(later, rows + t + 16);
#pragma unroll
            for (int c = 0; c < COLUMNS; c += 8) {
              load_matrices<true>(b, values + (t + lane) * V_STEP + first_column + c);
              multiply_add(result[c / 8], a, b[0], b[1]);
              multiply_add(result[c / 8], later, b[2], b[3]);
            }
          }
        }
      }
      if (BUFFERS > 1) __syncthreads();  // none needs this tile any more
      t0 = following;
    }
    wait_for_groups<0>();
    int odd = 0;
#pragma unroll
    for (int j = 0; j < COLUMNS / 8; ++j)
#pragma unroll
      for (int c = 0; c < 4; ++c) odd |= !(scalar::abs(result[j][c]) <= 3.4e38f);
    if (!__syncthreads_or(odd)) break;
  }

#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float total = 0;
#pragma unroll
    for (int w = 0; w < KEY_WARPS; ++w) total += warp_sums[(query + half * 8) * KEY_WARPS + w];
    total *= LARGER_BY;  // of the weights that the results were made with
    const int64_t s = q0 + query + half * 8, row = (blockIdx.y * HEADS + head) * S + s;
    if (s >= S) continue;
    if (PARTS > 1 && key_warp == 0 && lane % 4 == 0) {
      sum_t* statistics = (sum_t*)((char*)o.workspace + AT_STATISTICS) + 2 * row;
      statistics[0] = maximum[half], statistics[1] = total;
    }
#pragma unroll
    for (int j = 0; j < COLUMNS / 8; ++j) {
      const int column = first_column + j * 8 + lane % 4 * 2;
#pragma unroll
      for (int c = 0; c < 2; ++c) {
        if (column + c >= DV) continue;
        const float x = result[j][half * 2 + c];
        if constexpr (PARTS > 1) ((sum_t*)((char*)o.workspace + AT_ROWS))[row * DV + column + c] = x;
        else ((out_t*)o.out[0])[out_head(head) + s * OUT_ROW + (column + c) * OUT_COLUMN] = store_out(result_of(o, head, column + c, x, total));
      }
    }
  }
}

#define ATTENTION_LAUNCH {0, QUERY_TILES * HEADS, PARTS, 1, THREADS, 1, 1, SHARED}
TABLE uint64_t amdahl_workspace_bytes = WORKSPACE;

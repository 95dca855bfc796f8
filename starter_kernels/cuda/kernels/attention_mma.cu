// out = softmax(scale q k' + mask) v of half floats on tensor cores (mma.sync), head by head, with a running maximum over tiles of keys (Dao et al., 2022).
//
// A warp has 16 queries and every KEY_WARPS-th part of a tile's keys: one warp alone would wait for each of its instructions. Its scores and results stay in
// registers until the block's last step, which puts the warps' parts together. A block has QUERIES of a head. Tiles of KEYS keys and their values are in shared
// memory, the next ones on their way. Weights are half floats for the second product: 2^15 times as large, so that small ones are not lost, and in TERMS
// parts that together are as exact as the floats they come from. Where queries and heads are too few for the card, PARTS blocks share the keys.

enum : int {
  THREADS = 32 * (QUERIES / 16) * KEY_WARPS,
  WARP_KEYS = KEYS / KEY_WARPS,
  MMA_DEPTH = (D + 15) / 16 * 16,
  MMA_WIDTH = (DV + 15) / 16 * 16,
  QK_STEP = MMA_DEPTH + 8,  // of rows in shared memory: longer by 16 bytes, so that eight of them begin in different banks
  V_STEP = MMA_WIDTH + 8,
  AT_KEYS = QUERIES * QK_STEP,
  TILE = KEYS * (QK_STEP + V_STEP),
  // At the end: of each part and query its row, and maximum and sum.
  RESULT_STEP = MMA_WIDTH + 4,
  AT_TOPS = KEY_WARPS * QUERIES * RESULT_STEP,
  RESULTS = (AT_TOPS + 2 * KEY_WARPS * QUERIES) * 4,
  SHARED = (AT_KEYS + 2 * TILE) * 2 > RESULTS ? (AT_KEYS + 2 * TILE) * 2 : RESULTS
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

// Four numbers of a weight matrix's 16 x 16 as an operand: what `weights` still lack, which is taken off them.
static inline void take_term(float (&weights)[8], uint32_t (&operand)[4]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const v_t low = to_half(weights[2 * i]), high = to_half(weights[2 * i + 1]);
    operand[i] = bits_of(low) | bits_of(high) << 16;
    weights[2 * i] -= load_v(low), weights[2 * i + 1] -= load_v(high);
  }
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
  // Weights of zero add nothing to the result, unless they meet an infinity or what is no number.
  const auto first_from = [&](int64_t t0) {
    if constexpr (SKIP_CAUSAL)
      while (t0 < end && t0 > q0 + QUERIES - 1 + CAUSAL_OFFSET && finite[t0 / KEYS]) t0 += KEYS;
    return t0;
  };
  const auto copy_keys = [&](int64_t t0, int place) {
    uint16_t* tile = shared + AT_KEYS + place * TILE;
    copy_rows<KEYS, MMA_DEPTH, QK_STEP>(tile, k + t0 * K_ROW, K_ROW, end - t0, D);
    copy_rows<KEYS, MMA_WIDTH, V_STEP>(tile + KEYS * QK_STEP, v + t0 * V_ROW, V_ROW, end - t0, DV);
  };

  float maximum[2] = {-__builtin_inff(), -__builtin_inff()}, sum[2] = {}, result[MMA_WIDTH / 8][4] = {};
  int64_t t0 = first_from(begin);
  copy_rows<QUERIES, MMA_DEPTH, QK_STEP>(shared, q, Q_ROW, S - q0, D);
  if (t0 < end) copy_keys(t0, 0);
  end_group();
  for (int place = 0; t0 < end; place ^= 1) {
    const int64_t following = first_from(t0 + KEYS);
    if (following < end) copy_keys(following, place ^ 1);
    end_group();
    wait_for_groups<1>();
    __syncthreads();
    uint16_t *const keys = shared + AT_KEYS + place * TILE, *const values = keys + KEYS * QK_STEP;
    const int first_key = key_warp * WARP_KEYS;

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

#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int64_t s = q0 + warp_row + lane / 4 + half * 8;
      float top = maximum[half];
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
            if (HAS_MASK && s < S) x = masked(x, mask[index_t(s) * index_t(MASK_ROW) + index_t(t) * index_t(MASK_COLUMN)]);
            if (CAUSAL && t > s + CAUSAL_OFFSET) x = hidden(x);
          }
          top = larger(x, top);
        }
      top = larger(__shfl_xor_sync(0xffffffffu, top, 1), top);
      top = larger(__shfl_xor_sync(0xffffffffu, top, 2), top);
      const float subtract = subtracted(top), factor = scalar::exp(maximum[half] - subtract);
      maximum[half] = top;
      sum[half] *= factor;  // of this thread's keys
#pragma unroll
      for (int j = 0; j < WARP_KEYS / 8; ++j)
#pragma unroll
        for (int c = 0; c < 2; ++c) {
          const float weight = scalar::exp(score[j][half * 2 + c] - subtract);
          sum[half] += weight;
          score[j][half * 2 + c] = weight * LARGER_BY;
        }
#pragma unroll
      for (int j = 0; j < MMA_WIDTH / 8; ++j) result[j][half * 2] *= factor, result[j][half * 2 + 1] *= factor;
    }

    // The first term meets the values as they are. What is left of a weight may be zero, where the weight is not: it meets numbers only.
    const bool odd = has_odd_values(values);
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
#pragma unroll
      for (int t = 0; t < WARP_KEYS; t += 16) {
        // As an operand: rows lane / 4 and 8 below, then the same 8 columns on.
        float(&left)[4] = score[t / 8], (&right)[4] = score[t / 8 + 1];
        float weights[8] = {left[0], left[1], left[2], left[3], right[0], right[1], right[2], right[3]};
        uint32_t a[4], b[4];
        take_term(weights, a);
#pragma unroll
        for (int i = 0; i < 4; ++i) left[i] = weights[i], right[i] = weights[4 + i];
#pragma unroll
        for (int c = 0; c < MMA_WIDTH; c += 16) {
          load_matrices<true>(b, values + (first_key + t + low + second) * V_STEP + c + fourth);
          multiply_add(result[c / 8], a, b[0], b[1]);
          multiply_add(result[c / 8 + 1], a, b[2], b[3]);
        }
      }
    }
    __syncthreads();  // none needs this tile any more
    t0 = following;
  }

  wait_for_groups<0>();
  __syncthreads();
  float *const results = (float*)shared, *const tops = results + AT_TOPS, *const sums = tops + KEY_WARPS * QUERIES;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    sum[half] += __shfl_xor_sync(0xffffffffu, sum[half], 1);
    sum[half] += __shfl_xor_sync(0xffffffffu, sum[half], 2);
    const int row = key_warp * int(QUERIES) + warp_row + lane / 4 + half * 8;
    if (lane % 4 == 0) tops[row] = maximum[half], sums[row] = sum[half];
#pragma unroll
    for (int j = 0; j < MMA_WIDTH / 8; ++j)
#pragma unroll
      for (int c = 0; c < 2; ++c) results[row * RESULT_STEP + j * 8 + lane % 4 * 2 + c] = result[j][half * 2 + c];
  }
  __syncthreads();
  for_own<QUERIES * MMA_WIDTH, THREADS>([&](int i) {
    const int query = i / MMA_WIDTH, column = i % MMA_WIDTH;
    const int64_t s = q0 + query, row = (blockIdx.y * HEADS + head) * S + s;
    if (s >= S || column >= DV) return;
    float top = -__builtin_inff(), total = 0, x = 0;
#pragma unroll
    for (int w = 0; w < KEY_WARPS; ++w) top = larger(tops[w * QUERIES + query], top);
#pragma unroll
    for (int w = 0; w < KEY_WARPS; ++w) {
      const float factor = KEY_WARPS > 1 ? scalar::exp(tops[w * QUERIES + query] - subtracted(top)) : 1.f;
      total += sums[w * QUERIES + query] * factor;
      x += results[(w * QUERIES + query) * RESULT_STEP + column] * factor;
    }
    total *= LARGER_BY;  // of the weights that x was made with
    if constexpr (PARTS > 1) {
      if (column == 0) {
        sum_t* statistics = (sum_t*)((char*)o.workspace + AT_STATISTICS) + 2 * row;
        statistics[0] = top, statistics[1] = total;
      }
      ((sum_t*)((char*)o.workspace + AT_ROWS))[row * DV + column] = x;
    } else {
      ((out_t*)o.out[0])[out_head(head) + s * OUT_ROW + column * OUT_COLUMN] = store_out(result_of(o, head, column, x, total));
    }
  });
}

#define ATTENTION_LAUNCH {0, QUERY_TILES * HEADS, PARTS, 1, THREADS, 1, 1, SHARED}
TABLE uint64_t amdahl_workspace_bytes = WORKSPACE;

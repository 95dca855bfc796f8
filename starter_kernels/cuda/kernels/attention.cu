// out = softmax(scale q k' + mask) v, head by head, with a running maximum over tiles of keys (Dao et al., 2022): no score leaves the multiprocessor.
//
// A block has QUERIES queries of a head and TILE_V columns of its values. 16 threads share TQ adjacent queries: of a tile's scores each has KEYS / 16,
// 16 keys apart, and of the result VALUE_GROUPS times VALUE_LANES adjacent columns. Operands are converted once, on their way to shared memory, where k
// and v follow each other in the same place. Where queries and heads are too few for the card, PARTS blocks share the keys.

enum : int {
  ACROSS = 16,  // threads that share their queries
  THREADS = QUERIES / TQ * ACROSS,
  TK = KEYS / ACROSS,
  LANES = 16 / sizeof(sum_t),  // of a wide load
  STEP = DEPTH + LANES,        // of rows of q and k, and of weights: longer by one load, so that they begin in different banks
  WEIGHT_STEP = KEYS + LANES,
  TILE_V = ACROSS * VALUE_LANES * VALUE_GROUPS,
  AT_KV = QUERIES * STEP,
  AT_WEIGHTS = AT_KV + KEYS * (STEP > TILE_V ? STEP : TILE_V),
  SHARED = (AT_WEIGHTS + QUERIES * WEIGHT_STEP) * sizeof(sum_t)
};
enum : int64_t {
  QUERY_TILES = (S + QUERIES - 1) / QUERIES,
  KEY_TILES = (T + KEYS - 1) / KEYS,
  PART = (KEY_TILES + PARTS - 1) / PARTS * KEYS,  // keys of a part
  VALUE_TILES = (DV + TILE_V - 1) / TILE_V,
  // The workspace: a flag a tile of values (attention_finite.cu); then of each part and query maximum and sum, and its row (attention_parts.cu).
  AT_STATISTICS = SKIP_CAUSAL ? (HEADS * KEY_TILES + 255) / 256 * 256 : 0,
  AT_ROWS = AT_STATISTICS + (PARTS > 1 ? PARTS * HEADS * S * 2 * sizeof(sum_t) : 0),
  WORKSPACE = AT_ROWS + (PARTS > 1 ? PARTS * HEADS * S * DV * sizeof(sum_t) : 0)
};

template <int COUNT>
struct Wide {
  alignas(COUNT * sizeof(sum_t)) sum_t at[COUNT];
};
template <int COUNT>
static inline Wide<COUNT> load_wide(const sum_t* from) {
  return *(const Wide<COUNT>*)from;
}

static inline sum_t larger(sum_t a, sum_t b) { return a > b ? a : b; }

// What an exponential's argument has subtracted: a maximum of -inf (all hidden so far) subtracts nothing, and its weights are zero.
static inline sum_t subtracted(sum_t maximum) { return maximum == -sum_t(__builtin_inff()) ? sum_t(0) : maximum; }

// Rows of a matrix to shared memory, zeros where it ends. Neighbouring threads read along whichever dimension lies in memory order.
template <int ROWS, int COLUMNS, int TO_STEP, bool ALONG_ROW, class Load>
static inline void copy_tile(sum_t* to, Load load) {
  for_own<ROWS * COLUMNS, THREADS>([&](int i) {
    const int row = ALONG_ROW ? i / COLUMNS : i % ROWS, column = ALONG_ROW ? i % COLUMNS : i / ROWS;
    to[row * TO_STEP + column] = load(row, column);
  });
}

extern "C" __global__ void __launch_bounds__(THREADS) amdahl_kernel_0(const __grid_constant__ Operands o) {
  wait_for_producers();
  alignas(16) extern __shared__ sum_t shared[];
  sum_t *const queries = shared, *const kv = shared + AT_KV, *const weights = shared + AT_WEIGHTS;
  const int across = threadIdx.x % ACROSS, first = threadIdx.x / ACROSS * int(TQ);
  // Later queries see more keys where attention is causal: they begin first.
  const int64_t head = blockIdx.x / VALUE_TILES % HEADS, q0 = (QUERY_TILES - 1 - blockIdx.x / VALUE_TILES / HEADS) * QUERIES;
  const int64_t v0 = blockIdx.x % VALUE_TILES * TILE_V;
  const int64_t begin = blockIdx.y * PART, end = begin + PART < T ? begin + PART : T;
  const q_t* q = (const q_t*)o.in[0] + q_head(head);
  const Keys k = keys_of(o, head);
  const Values v = values_of(o, head);
  const mask_t* mask = HAS_MASK ? (const mask_t*)o.in[HAS_MASK ? 3 : 0] + mask_head(head) : nullptr;
  const uint8_t* finite = (const uint8_t*)o.workspace + head * KEY_TILES;

  const auto copy_queries = [&](int d0) {
    copy_tile<QUERIES, DEPTH, STEP, Q_COLUMN == 1>(queries, [&](int row, int column) {
      const int64_t s = q0 + row;
      const int d = d0 + column;
      return s < S && d < D ? load_q(q[index_t(s) * index_t(Q_ROW) + d * index_t(Q_COLUMN)]) * sum_t(SCALE) : sum_t(0);
    });
  };
  if (DEPTH >= D) copy_queries(0);

  sum_t maximum[TQ], sum[TQ] = {}, result[TQ][VALUE_GROUPS][VALUE_LANES] = {};
#pragma unroll
  for (int i = 0; i < TQ; ++i) maximum[i] = -sum_t(__builtin_inff());
  for (int64_t t0 = begin; t0 < end; t0 += KEYS) {
    // Weights of zero add nothing to the result, unless they meet an infinity or what is no number.
    if (SKIP_CAUSAL && t0 > q0 + QUERIES - 1 + CAUSAL_OFFSET && finite[t0 / KEYS]) continue;

    sum_t score[TQ][TK] = {};
    for (int d0 = 0; d0 < D; d0 += DEPTH) {
      if (DEPTH < D) copy_queries(d0);
      copy_tile<KEYS, DEPTH, STEP, K_COLUMN == 1>(kv, [&](int row, int column) {
        const int64_t t = t0 + row;
        const int d = d0 + column;
        return t < end && d < D ? load_key<index_t>(k, t, d) : sum_t(0);
      });
      __syncthreads();
#pragma unroll 4
      for (int d = 0; d < DEPTH; d += LANES) {
        Wide<LANES> a[TQ], b[TK];
#pragma unroll
        for (int i = 0; i < TQ; ++i) a[i] = load_wide<LANES>(queries + (first + i) * STEP + d);
#pragma unroll
        for (int j = 0; j < TK; ++j) b[j] = load_wide<LANES>(kv + (across + j * ACROSS) * STEP + d);
#pragma unroll
        for (int i = 0; i < TQ; ++i)
#pragma unroll
          for (int j = 0; j < TK; ++j)
#pragma unroll
            for (int l = 0; l < LANES; ++l) score[i][j] += a[i].at[l] * b[j].at[l];
      }
      __syncthreads();
    }

#pragma unroll
    for (int i = 0; i < TQ; ++i) {
      const int64_t s = q0 + first + i;
      sum_t top = maximum[i];
#pragma unroll
      for (int j = 0; j < TK; ++j) {
        const int64_t t = t0 + across + j * ACROSS;
        if (t >= end) {
          score[i][j] = -sum_t(__builtin_inff());
        } else {
          if (HAS_MASK && s < S) score[i][j] = masked(score[i][j], mask[index_t(s) * index_t(MASK_ROW) + index_t(t) * index_t(MASK_COLUMN)]);
          if (CAUSAL && t > s + CAUSAL_OFFSET) score[i][j] = hidden(score[i][j]);
        }
        top = larger(score[i][j], top);
      }
#pragma unroll
      for (int distance = ACROSS / 2; distance > 0; distance /= 2) top = larger(__shfl_xor_sync(0xffffffffu, top, distance), top);
      const sum_t subtract = subtracted(top), factor = scalar::exp(maximum[i] - subtract);
      maximum[i] = top;
      sum[i] *= factor;  // of this thread's keys
#pragma unroll
      for (int j = 0; j < TK; ++j) {
        const sum_t weight = scalar::exp(score[i][j] - subtract) * sum_t(LARGEST_WEIGHT);
        sum[i] += weight;
        weights[(first + i) * WEIGHT_STEP + across + j * ACROSS] = weight;
      }
#pragma unroll
      for (int g = 0; g < VALUE_GROUPS; ++g)
#pragma unroll
        for (int c = 0; c < VALUE_LANES; ++c) result[i][g][c] *= factor;
    }

    copy_tile<KEYS, TILE_V, TILE_V, V_COLUMN == 1>(kv, [&](int row, int column) {
      const int64_t t = t0 + row, c = v0 + column;
      return t < end && c < DV ? load_value<index_t>(v, t, c) : sum_t(0);
    });
    __syncthreads();
#pragma unroll 4
    for (int t = 0; t < KEYS; t += LANES) {
      Wide<LANES> a[TQ];
#pragma unroll
      for (int i = 0; i < TQ; ++i) a[i] = load_wide<LANES>(weights + (first + i) * WEIGHT_STEP + t);
#pragma unroll
      for (int l = 0; l < LANES; ++l)
#pragma unroll
        for (int g = 0; g < VALUE_GROUPS; ++g) {
          const auto b = load_wide<VALUE_LANES>(kv + (t + l) * TILE_V + (g * ACROSS + across) * int(VALUE_LANES));
#pragma unroll
          for (int i = 0; i < TQ; ++i)
#pragma unroll
            for (int c = 0; c < VALUE_LANES; ++c) result[i][g][c] += a[i].at[l] * b.at[c];
        }
    }
    __syncthreads();
  }

#pragma unroll
  for (int i = 0; i < TQ; ++i) {
#pragma unroll
    for (int distance = ACROSS / 2; distance > 0; distance /= 2) sum[i] += __shfl_xor_sync(0xffffffffu, sum[i], distance);
    const int64_t s = q0 + first + i;
    if (s >= S) continue;
    const int64_t row = (blockIdx.y * HEADS + head) * S + s;
    if (PARTS > 1 && v0 == 0 && across == 0) {
      sum_t* statistics = (sum_t*)((char*)o.workspace + AT_STATISTICS) + 2 * row;
      statistics[0] = maximum[i], statistics[1] = sum[i];
    }
#pragma unroll
    for (int g = 0; g < VALUE_GROUPS; ++g)
#pragma unroll
      for (int c = 0; c < VALUE_LANES; ++c) {
        const int64_t column = v0 + (g * ACROSS + across) * int(VALUE_LANES) + c;
        if (column >= DV) continue;
        if constexpr (PARTS > 1) ((sum_t*)((char*)o.workspace + AT_ROWS))[row * DV + column] = result[i][g][c];
        else ((out_t*)o.out[0])[out_head(head) + s * OUT_ROW + column * OUT_COLUMN] = store_out(result_of(o, head, column, result[i][g][c], sum[i]));
      }
  }
}

#define ATTENTION_LAUNCH {0, QUERY_TILES * HEADS * VALUE_TILES, PARTS, 1, THREADS, 1, 1, SHARED}
TABLE uint64_t amdahl_workspace_bytes = WORKSPACE;

// out = softmax(scale * q k' + mask) v, head by head. A block of queries lies across vector lanes: scores are kept transposed,
// [key][query], so that k and v are read where they are, the maximum and the sum of a softmax are vertical vector
// operations, and the probabilities are at once the packed left operand of the product with v.
// The prelude states shapes, strides (in elements), SCALE, the mask's form, THREADS and the knobs.

constexpr int64_t NR = NRV * LANES;
constexpr int64_t Q_BLOCK = ceil_div(min_of(BLOCK_Q, S), NR) * NR;  // queries of a block, missing ones are zero
constexpr int64_t T_PADDED = ceil_div(T, MR) * MR;
constexpr int64_t K_BLOCK = ONLINE ? min_of(ceil_div(BLOCK_K, MR) * MR, T_PADDED) : T_PADDED;  // keys whose scores are held
constexpr int64_t DV_VECS = ceil_div(DV, LANES), DV_PADDED = DV_VECS * LANES;
constexpr int T_LEFT = T % MR, Q_LEFT = Q_BLOCK % MR, DV_LEFT = DV_VECS % NRV;
// Vectors of the last panel of queries that hold any.
constexpr int LAST_VECS = static_cast<int>(ceil_div((S + NR - 1) % NR + 1, LANES));
// Vectors of v are loaded where they are only if they cannot pass the end of a row; otherwise from a padded copy. Keys and values in two tensors, those from
// FIRST_KEYS on in the other, are copied.
constexpr bool COPY_K = PACK_KV, COPY_V = PACK_KV || V_COL != 1 || DV % LANES != 0;
constexpr int64_t K_STEP = COPY_K ? D : K_ROW, K_ELEMENT = COPY_K ? 1 : K_COL, V_STEP = COPY_V ? DV_PADDED : V_ROW;

// A sum over many keys is cut in runs, each summed apart: where weights and values are alike, every addition to a long sum rounds the
// same way (197 equal terms in one chain: 4.5e-6, three times the error of a product that sums blocks). All products of one run come
// before those of the next: its weights and values, 8 and 16 KiB for 32 queries of 64 floats, stay in L1.
constexpr int64_t RUN = 64;

// ---- scratch of a thread ---------------------------------------------------------------------------------------------

constexpr int64_t lines(int64_t elements) { return ceil_div(elements, 16) * 16; }
constexpr int64_t AT_SCORES = lines(D * Q_BLOCK);                           // [D][NR] panels of scaled queries before it
constexpr int64_t AT_OUT = AT_SCORES + lines(K_BLOCK * Q_BLOCK);
constexpr int64_t AT_MAX = AT_OUT + (K_BLOCK > RUN || ONLINE ? lines(Q_BLOCK * DV_PADDED) : 0);
constexpr int64_t AT_SUM = AT_MAX + lines(Q_BLOCK);
constexpr int64_t AT_FACTOR = AT_SUM + lines(Q_BLOCK);
constexpr int64_t AT_K = AT_FACTOR + lines(Q_BLOCK);
constexpr int64_t AT_V = AT_K + (COPY_K ? lines(T * D) : 0);
constexpr int64_t SCRATCH = AT_V + (COPY_V ? lines(T * DV_PADDED) : 0);

struct Head {
  const Q_T* q;
  const ACC* k;   // K_STEP, K_ELEMENT
  const ACC* v;   // V_STEP
  const MASK_T* mask;
  OUT_T* out;
};

// ---- scores ----------------------------------------------------------------------------------------------------------

// Queries q0 … to panels [D][NR], scaled.
static void pack_queries(const Q_T* q, int64_t q0, ACC* panels) {
  const int64_t count = min_of(Q_BLOCK, S - q0);
  for (int64_t n = 0; n < count; n += NR) {
    const Q_T* from = q + (q0 + n) * Q_ROW;
    ACC* to = panels + n * D;
    if (count - n >= NR) {  // along the panel: 16 gathered numbers for a store, not 16 stores
      for (int64_t d = 0; d < D; ++d) {
#pragma omp simd
        for (int64_t i = 0; i < NR; ++i) to[d * NR + i] = to_acc(from[i * Q_ROW + d * Q_COL]) * ACC(SCALE);
      }
    } else {
      for (int64_t i = 0; i < NR; ++i)
        for (int64_t d = 0; d < D; ++d) to[d * NR + i] = n + i < count ? to_acc(from[i * Q_ROW + d * Q_COL]) * ACC(SCALE) : ACC(0);
    }
  }
}

template <int ROWS, int VECS>
INLINE void score_tile(const ACC* k, const ACC* queries, ACC* scores) {
  Vec c[ROWS][VECS];
  multiply_tile<ROWS, VECS, K_STEP, K_ELEMENT, NR, 0>(k, queries, D, nullptr, c);
  UNROLLED for (int i = 0; i < ROWS; ++i) {
    UNROLLED for (int j = 0; j < VECS; ++j) store(scores + i * Q_BLOCK + j * LANES, c[i][j]);
  }
}

// VECS vectors of the panel of queries n …
template <int VECS>
static void score_panel(const ACC* k, int64_t t0, int64_t t1, int64_t n, const ACC* queries, ACC* scores) {
  for (int64_t t = t0; t < t1; t += MR) {
    ACC* to = scores + (t - t0) * Q_BLOCK + n;
    if (t + MR <= t1) score_tile<MR, VECS>(k + t * K_STEP, queries + n * D, to);
    if constexpr (T_LEFT > 0)
      if (t + MR > t1) score_tile<T_LEFT, VECS>(k + t * K_STEP, queries + n * D, to);
  }
}

static void score_block(const ACC* k, int64_t t0, int64_t t1, const ACC* queries, int64_t count, ACC* scores) {
  for (int64_t n = 0; n < count; n += NR) {
    if (count - n <= LAST_VECS * LANES) score_panel<LAST_VECS>(k, t0, t1, n, queries, scores);
    else score_panel<NRV>(k, t0, t1, n, queries, scores);
  }
}

static void mask_block(const MASK_T* mask, int64_t q0, int64_t t0, int64_t t1, ACC* scores) {
  for (int64_t t = t0; t < t1; ++t) {
    ACC* row = scores + (t - t0) * Q_BLOCK;
    if constexpr (MASK_ADDED || MASK_SELECTS) {
      if constexpr (MASK_ROW == 0) {
        const MASK_T m = mask[t * MASK_COL];
        for (int64_t i = 0; i < Q_BLOCK; ++i) row[i] = masked(row[i], m);
      } else {
        const int64_t count = min_of(Q_BLOCK, S - q0);
        for (int64_t i = 0; i < count; ++i) row[i] = masked(row[i], mask[(q0 + i) * MASK_ROW + t * MASK_COL]);
      }
    }
    if constexpr (CAUSAL) {
      const int64_t hidden = min_of(Q_BLOCK, t - q0 - CAUSAL_OFFSET);  // queries before the key
      for (int64_t i = 0; i < hidden; ++i) row[i] = hidden_score(row[i]);
    }
  }
}

// ---- softmax ---------------------------------------------------------------------------------------------------------

// x <= 0. Cut off here, at the price of one maximum: exp_within needs nothing more, and is 0 there.
INLINE Vec exp_lanes(Vec x) {
  if constexpr (sizeof(ACC) == sizeof(float)) {
    typedef uint32_t Bits __attribute__((vector_size(VLEN * 4)));
    return scalar::exp_within_of<Vec, Bits>(larger(splat(ACC(-88)), x));
  } else {
    Vec y;
    for (int64_t l = 0; l < LANES; ++l) y[l] = scalar::exp(x[l]);
    return y;
  }
}

// Scores to LARGEST_WEIGHT * exp(score - maximum), so that no sum of values exceeds them. `maximum` and `sum` run over the blocks of keys;
// `factor` is what earlier sums and outputs must be multiplied by. A maximum of -inf (all hidden so far) subtracts nothing: its weights become
// zero, and a query that sees no key at all ends as 0 / 0 (or as zeros, where ZERO_HIDDEN_ROWS asks for them).
static void softmax_block(int64_t keys, int64_t count, ACC* scores, ACC* maximum, ACC* sum, ACC* factor) {
  constexpr int CHAINS = 4;  // a maximum takes four cycles, two can begin in each
  for (int64_t i = 0; i < count; i += LANES) {
    ACC* column = scores + i;
    const Vec before = load(maximum + i);
    Vec top[CHAINS];
    UNROLLED for (int c = 0; c < CHAINS; ++c) top[c] = before;
    int64_t t = 0;
    for (; t + CHAINS <= keys; t += CHAINS) {
      UNROLLED for (int c = 0; c < CHAINS; ++c) top[c] = larger(load(column + (t + c) * Q_BLOCK), top[c]);
    }
    for (; t < keys; ++t) top[0] = larger(load(column + t * Q_BLOCK), top[0]);
    UNROLLED for (int c = 1; c < CHAINS; ++c) top[0] = larger(top[c], top[0]);
    const Vec subtract = top[0] == splat(-ACC(__builtin_inff())) ? Vec{} : top[0];
    const Vec scaled = exp_lanes(before - subtract);
    Vec total = load(sum + i) * scaled;
    for (t = 0; t < keys;) {
      Vec run{};
      for (const int64_t end = min_of(t + RUN, keys); t < end; ++t) {
        const Vec weight = exp_lanes(load(column + t * Q_BLOCK) - subtract) * splat(ACC(LARGEST_WEIGHT));
        run += weight;
        store(column + t * Q_BLOCK, weight);
      }
      total += run;
    }
    store(maximum + i, top[0]);
    store(factor + i, scaled);
    store(sum + i, total);
  }
}

// ---- product with the values -----------------------------------------------------------------------------------------

struct Values {
  const ACC* weights;  // [keys][Q_BLOCK]
  const ACC* v;        // first key of the block
  int64_t keys;
  bool first, last;    // of the blocks of keys
  const ACC *factor, *sum;
  const ACC* all_v;    // first key of all
  ACC* held;           // [Q_BLOCK][DV_PADDED], between runs and blocks
  OUT_T* out;          // first query of the block
  int64_t queries;     // that exist
};

// The result of a query whose weights are no numbers and become zeros: values that are no numbers show.
static Vec zero_times_values(const ACC* v) {
  Vec sum{};
  for (int64_t t = 0; t < T; ++t) sum += load(v + t * V_STEP) * splat(ACC(0));
  return sum;
}

// Keys t … of the block, at most a run.
template <int ROWS, int VECS>
INLINE void value_tile(const Values& x, int64_t t, int64_t i0, int64_t n0) {
  Vec c[ROWS][VECS];
  multiply_tile<ROWS, VECS, 1, Q_BLOCK, V_STEP, 0>(x.weights + t * Q_BLOCK + i0, x.v + t * V_STEP + n0, min_of(RUN, x.keys - t), nullptr, c);
  const bool first = x.first && t == 0, last = x.last && t + RUN >= x.keys, rescaled = ONLINE && t == 0;
  UNROLLED for (int i = 0; i < ROWS; ++i) {
    ACC* held = x.held + (i0 + i) * DV_PADDED + n0;
    if (!first) {
      const Vec factor = splat(rescaled ? x.factor[i0 + i] : ACC(1));
      UNROLLED for (int j = 0; j < VECS; ++j) c[i][j] += load(held + j * LANES) * factor;
    }
    if (!last) {
      UNROLLED for (int j = 0; j < VECS; ++j) store(held + j * LANES, c[i][j]);
    } else if (i0 + i < x.queries) {
      const bool sees_nothing = ZERO_HIDDEN_ROWS && x.sum[i0 + i] == 0;
      const bool is_nan = ZERO_NAN_WEIGHTS && x.sum[i0 + i] != x.sum[i0 + i];
      const Vec inverse = splat(sees_nothing ? ACC(0) : ACC(1) / x.sum[i0 + i]);
      OUT_T* row = x.out + (i0 + i) * OUT_ROW + n0 * OUT_COL;
      UNROLLED for (int j = 0; j < VECS; ++j) {
        const Vec y = is_nan ? zero_times_values(x.all_v + n0 + j * LANES) : c[i][j] * inverse;
        if (SAME_OUT && OUT_COL == 1 && DV % LANES == 0) {
          store(reinterpret_cast<ACC*>(row) + j * LANES, y);
        } else {
          const int64_t width = min_of(LANES, DV - n0 - j * LANES);
          for (int64_t l = 0; l < width; ++l) row[(j * LANES + l) * OUT_COL] = from_acc(y[l]);
        }
      }
    }
  }
}

template <int ROWS>
static void value_rows(const Values& x, int64_t t, int64_t i0) {
  for (int64_t n = 0; n + NR <= DV_PADDED; n += NR) value_tile<ROWS, NRV>(x, t, i0, n);
  if constexpr (DV_LEFT > 0) value_tile<ROWS, DV_LEFT>(x, t, i0, DV_PADDED - DV_LEFT * LANES);
}

static void value_block(const Values& x) {
  for (int64_t t = 0; t < x.keys; t += RUN) {
    int64_t i = 0;
    for (; i + MR <= Q_BLOCK && i < x.queries; i += MR) value_rows<MR>(x, t, i);
    if constexpr (Q_LEFT > 0)
      if (i < x.queries) value_rows<Q_LEFT>(x, t, i);
  }
}

// ---- one block of queries --------------------------------------------------------------------------------------------

// What is hidden has weight zero, and zero times a number is nothing; but zero times an infinity is not a number, nor is an
// infinite score from which infinity is subtracted. One pass over q, k and v, beside S passes over k and v.
static bool all_finite(const Head& head, int64_t q0, int64_t q1) {
  int odd = 0;
  for (int64_t s = q0; s < q1; ++s)
    for (int64_t d = 0; d < D; ++d) {
      const ACC x = to_acc(head.q[s * Q_ROW + d * Q_COL]);
      odd |= !(x - x == ACC(0));
    }
  for (int64_t t = 0; t < T; ++t) {
    for (int64_t d = 0; d < D; ++d) odd |= !(head.k[t * K_STEP + d * K_ELEMENT] - head.k[t * K_STEP + d * K_ELEMENT] == ACC(0));
    for (int64_t d = 0; d < DV; ++d) odd |= !(head.v[t * V_STEP + d] - head.v[t * V_STEP + d] == ACC(0));
  }
  return !odd;
}

static void attend(const Head& head, int64_t q0, bool skip, ACC* scratch) {
  ACC *scores = scratch + AT_SCORES, *maximum = scratch + AT_MAX, *sum = scratch + AT_SUM, *factor = scratch + AT_FACTOR;
  pack_queries(head.q, q0, scratch);
  for (int64_t i = 0; i < Q_BLOCK; ++i) maximum[i] = -ACC(__builtin_inff()), sum[i] = 0;
  // Keys behind the last query of the block have weight 0: they need not be looked at.
  const int64_t visible = skip ? max_of(1, min_of(T, q0 + min_of(Q_BLOCK, S - q0) + CAUSAL_OFFSET)) : T;
  const int64_t end = min_of(T, ceil_div(visible, MR) * MR);
  const int64_t count = min_of(Q_BLOCK, S - q0);
  for (int64_t t0 = 0; t0 < end; t0 += K_BLOCK) {
    const int64_t t1 = min_of(t0 + K_BLOCK, end);
    score_block(head.k, t0, t1, scratch, count, scores);
    if (MASK_ADDED || MASK_SELECTS || (CAUSAL && t1 - 1 > q0 + CAUSAL_OFFSET)) mask_block(head.mask, q0, t0, t1, scores);
    softmax_block(t1 - t0, count, scores, maximum, sum, factor);
    value_block({scores, head.v + t0 * V_STEP, t1 - t0, t0 == 0, t1 == end, factor, sum, head.v, scratch + AT_OUT,
                 head.out + q0 * OUT_ROW, count});
  }
}

// `rows` rows of `columns` numbers, with zeros up to `padded`.
template <int64_t ROW, int64_t COLUMN, class Number>
static void copy_rows(const Number* from, int64_t rows, int64_t columns, int64_t padded, ACC* to) {
  for (int64_t t = 0; t < rows; ++t)
    for (int64_t d = 0; d < padded; ++d) to[t * padded + d] = d < columns ? to_acc(from[t * ROW + d * COLUMN]) : ACC(0);
}

// ---- the interface ---------------------------------------------------------------------------------------------------

// Parts of the queries of a head, so that the tasks divide evenly among the threads.
constexpr int64_t gcd_of(int64_t a, int64_t b) { return b == 0 ? a : gcd_of(b, a % b); }
constexpr int64_t Q_BLOCKS = ceil_div(S, Q_BLOCK);
constexpr int64_t PARTS = min_of(Q_BLOCKS, THREADS * TASKS / gcd_of(HEADS, THREADS * TASKS));
constexpr int WORKERS = static_cast<int>(min_of(THREADS, HEADS * PARTS));

extern "C" size_t amdahl_workspace_bytes(void) { return sizeof(ACC) * SCRATCH * WORKERS; }
extern "C" size_t amdahl_packed_bytes(int) { return 0; }
extern "C" void amdahl_pack(int, const void*, void*) {}

extern "C" void amdahl_run(const void* const* in, void* const* out, void* workspace) {
#pragma omp parallel for num_threads(WORKERS) schedule(SCHEDULE)
  for (int64_t task = 0; task < HEADS * PARTS; ++task) {
    const int64_t head_number = task / PARTS, part = task % PARTS;
    ACC* scratch = static_cast<ACC*>(workspace) + omp_get_thread_num() * SCRATCH;
    const K_T* k = static_cast<const K_T*>(in[1]) + k_head(head_number);
    const V_T* v = static_cast<const V_T*>(in[2]) + v_head(head_number);
    Head head{static_cast<const Q_T*>(in[0]) + q_head(head_number), reinterpret_cast<const ACC*>(k),
              reinterpret_cast<const ACC*>(v), nullptr, static_cast<OUT_T*>(out[0]) + out_head(head_number)};
    if constexpr (MASK_ADDED || MASK_SELECTS) head.mask = static_cast<const MASK_T*>(in[3]) + mask_head(head_number);
    if constexpr (COPY_K) {
      ACC* copy = scratch + AT_K;
      copy_rows<K_ROW, K_COL>(k, FIRST_KEYS, D, D, copy);
      if constexpr (FIRST_KEYS < T) {
        const K_T* more = static_cast<const K_T*>(in[MORE_K_INPUT]) + more_k_head(head_number);
        copy_rows<MORE_K_ROW, MORE_K_COL>(more, T - FIRST_KEYS, D, D, copy + FIRST_KEYS * D);
      }
      head.k = copy;
    }
    if constexpr (COPY_V) {
      ACC* copy = scratch + AT_V;
      copy_rows<V_ROW, V_COL>(v, FIRST_KEYS, DV, DV_PADDED, copy);
      if constexpr (FIRST_KEYS < T) {
        const V_T* more = static_cast<const V_T*>(in[MORE_V_INPUT]) + more_v_head(head_number);
        copy_rows<MORE_V_ROW, MORE_V_COL>(more, T - FIRST_KEYS, DV, DV_PADDED, copy + FIRST_KEYS * DV_PADDED);
      }
      head.v = copy;
    }
    const int64_t first = part * Q_BLOCKS / PARTS;
    const bool skip = SKIP_CAUSAL && all_finite(head, first * Q_BLOCK, min_of(S, (part + 1) * Q_BLOCKS / PARTS * Q_BLOCK));
    for (int64_t b = first; b < (part + 1) * Q_BLOCKS / PARTS; ++b) attend(head, b * Q_BLOCK, skip, scratch);
  }
}

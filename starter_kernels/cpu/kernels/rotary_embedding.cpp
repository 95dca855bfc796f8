// Rotary embedding: pairs of elements of a head are turned by an angle that depends on the position,
//   a' = a cos - b sin,   b' = b cos + a sin,
// where the pairs are (i, i + half), or neighbours when INTERLEAVED. What lies beyond ROTATED passes through.
//
// A row (a head at a position) of 64 floats is 8 vectors: the time is that of the memory. So rows are taken in the order in which they
// lie: where heads lie inside a position (HEADS_INSIDE), all heads of it, which its angles serve while they are hot; else a run of
// positions of one head. From 32 heads in turn they would be 64 streams whose lines all fall in one set of L1 (32 x 512 x 64 on Zen 3:
// 1.7 times the time). The angles of a run stay in L2 until the last head has used them.
constexpr int64_t ANGLES_BYTES = 2 * HALF * (FULL_CACHE ? 2 : 1) * (int64_t)sizeof(cache_t);  // of a position
constexpr int64_t RUN = HEADS_INSIDE ? 1 : max_of(1, min_of(POSITIONS, 128 * 1024 / max_of(1, ANGLES_BYTES)));  // positions

extern "C" size_t amdahl_workspace_bytes(void) { return 0; }

// Constant tables that hold more than each position's own angles, such as both halves of them, are packed: lines that are never read
// would leave half of the sets of L1 and L2 unused (a fifth of the time, the same place).
extern "C" size_t amdahl_packed_bytes(int input) { return PACKED && (input == 1 || input == 2) ? TABLE_ROWS * HALF * sizeof(cache_t) : 0; }
extern "C" void amdahl_pack(int input, const void* raw, void* packed) {
  const cache_t* from = (const cache_t*)raw;
  for (int64_t p = 0; p < TABLE_ROWS; ++p)
    for (int64_t i = 0; i < HALF; ++i)
      ((cache_t*)packed)[p * HALF + i] = input == 1 ? from[cos_place(0, 0, p) + i * COS_STEP] : from[sin_place(0, 0, p) + i * SIN_STEP];
}

static inline void turn(const value_t* __restrict from, value_t* __restrict to, const cache_t* __restrict cos, const cache_t* __restrict sin) {
  constexpr int64_t FIRST = INTERLEAVED ? 2 : 1, SECOND = INTERLEAVED ? 1 : HALF;
  constexpr int64_t C = PACKED ? 1 : COS_STEP, S = PACKED ? 1 : SIN_STEP;
#pragma omp simd
  for (int64_t i = 0; i < HALF; ++i) {
    const float u = load(from[(FIRST * i) * X_STEP]), v = load(from[(FIRST * i + SECOND) * X_STEP]);
    const float c = load_cache(cos[i * C]), s = load_cache(sin[i * S]);
    const float c2 = FULL_CACHE ? load_cache(cos[(i + HALF) * C]) : c;
    const float s2 = FULL_CACHE ? load_cache(sin[(i + HALF) * S]) : s;
    to[(FIRST * i) * Y_STEP] = store(u * c - v * s);
    to[(FIRST * i + SECOND) * Y_STEP] = store(v * c2 + u * s2);
  }
  for (int64_t i = ROTATED; i < HEAD_SIZE; ++i) to[i * Y_STEP] = from[i * X_STEP];
}

static inline void turn_row(const void* const* in, void* const* out, int64_t b, int64_t h, int64_t p) {
  const int64_t position = position_of(in, b, p);
  const int64_t cos = PACKED ? position * HALF : cos_place(b, h, position), sin = PACKED ? position * HALF : sin_place(b, h, position);
  turn((const value_t*)in[0] + x_place(b, h, p), (value_t*)out[0] + y_place(b, h, p), (const cache_t*)in[1] + cos, (const cache_t*)in[2] + sin);
}

extern "C" void amdahl_run(const void* const* in, void* const* out, void*) {
#pragma omp parallel for schedule(static) num_threads(THREADS) if (TASKS > 1)
  for (int64_t task = 0; task < TASKS; ++task) {
    const int64_t last = min_of((task + 1) * ROWS_PER_TASK, ROWS);
    for (int64_t row = task * ROWS_PER_TASK; row < last;) {
      // Rows are numbered by batch, run of positions, head, position of the run; or by batch, position, head.
      const int64_t b = row / (HEADS * POSITIONS), of_batch = row % (HEADS * POSITIONS);
      const int64_t run = of_batch / (HEADS * RUN), positions = min_of(RUN, POSITIONS - run * RUN), of_run = of_batch % (HEADS * RUN);
      const int64_t width = HEADS_INSIDE ? HEADS : positions, first = of_run % width, end = min_of(width, first + last - row);
      for (int64_t i = first; i < end; ++i) turn_row(in, out, b, HEADS_INSIDE ? i : of_run / width, HEADS_INSIDE ? run : run * RUN + i);
      row += end - first;
    }
  }
}

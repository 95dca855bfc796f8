// Rotary embedding: pairs of elements of a head are turned by an angle that depends on the position,
//   a' = a cos - b sin,   b' = b cos + a sin,
// where the pairs are (i, i + half), or neighbours when INTERLEAVED. What lies beyond ROTATED passes through.
//
// A thread turns EACH pairs, or copies an element that passes through, THREADS apart. Pairs are numbered in the order in which heads and positions lie in
// memory, so that a warp reads and writes neighbours.
enum : long long {
  HALF = ROTATED / 2,
  WIDTH = HALF + HEAD_SIZE - ROTATED,  // what threads have to do in a head at a position
  POINTS = BATCH * HEADS * POSITIONS * WIDTH,
  FIRST = INTERLEAVED ? 2 : 1,  // from one pair to the next
  SECOND = INTERLEAVED ? 1 : HALF
};

static inline void turn(const void* const* in, const value_t* from, value_t* to, int64_t b, int64_t h, int64_t p, int64_t i) {
  const int64_t position = position_of(in, b, p);
  const cache_t* cos = (const cache_t*)in[1] + cos_place(b, h, position);
  const cache_t* sin = (const cache_t*)in[2] + sin_place(b, h, position);
  const float u = load(from[FIRST * i * X_STEP]), v = load(from[(FIRST * i + SECOND) * X_STEP]);
  const float c = load_cache(cos[i * COS_STEP]), s = load_cache(sin[i * SIN_STEP]);
  const float c2 = FULL_CACHE ? load_cache(cos[(i + HALF) * COS_STEP]) : c;
  const float s2 = FULL_CACHE ? load_cache(sin[(i + HALF) * SIN_STEP]) : s;
  to[FIRST * i * Y_STEP] = store(u * c - v * s);
  to[(FIRST * i + SECOND) * Y_STEP] = store(v * c2 + u * s2);
}

static inline void run_point(const void* const* in, void* const* out, int64_t n) {
  const int64_t i = n % WIDTH, row = n / WIDTH, b = row / (HEADS * POSITIONS);
  const int64_t h = HEADS_INSIDE ? row % HEADS : row / POSITIONS % HEADS, p = HEADS_INSIDE ? row / HEADS % POSITIONS : row % POSITIONS;
  const value_t* from = (const value_t*)in[0] + x_place(b, h, p);
  value_t* to = (value_t*)out[0] + y_place(b, h, p);
  if (i < HALF) turn(in, from, to, b, h, p, i);
  else to[(ROTATED - HALF + i) * Y_STEP] = from[(ROTATED - HALF + i) * X_STEP];
}

extern "C" __global__ void __launch_bounds__(THREADS) amdahl_kernel_0(const __grid_constant__ Operands operands) {
  wait_for_producers();
  const int64_t first = blockIdx.x * (THREADS * EACH) + threadIdx.x;
#pragma unroll
  for (int e = 0; e < EACH; ++e) {
    const int64_t n = first + e * THREADS;
    if (n < POINTS) run_point(operands.in, operands.out, n);
  }
}

TABLE Launch amdahl_launches[] = {{0, POINTS > 0 ? (POINTS + THREADS * EACH - 1) / (THREADS * EACH) : 1, 1, 1, THREADS, 1, 1, 0}};
TABLE uint64_t amdahl_workspace_bytes = 0;

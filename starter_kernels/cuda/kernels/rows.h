// What kernels that fold rows share. A line is a row, or in column mode (K > 1) one column of a row: elements (o, r, j, k) for r < R, j < J. LANES threads
// fold a line together; a block has LINES of them at a time. A warp's threads are neighbours along memory: the lanes of a line, in column mode lines.
enum : long long { ELEMENTS = R * J, STEPS = (ELEMENTS + LANES - 1) / LANES };
enum : bool { COLUMNS = K > 1 };

struct Line {
  int64_t o, k;
  int lane;
  bool there;  // else its threads only take part in what the whole block does
};

static inline Line line_of(int64_t number) {
  const int thread = threadIdx.x, lanes = LANES, lines = LINES;
  const int of_block = COLUMNS ? thread % lines : thread / lanes;
  const int64_t line = O * K < 0x7fffff00 ? int(number) + of_block : number + of_block;  // in 64 bits NVRTC would not make vectors of a piece's stores
  return {line / K, line % K, COLUMNS ? thread / lines : thread % lanes, O * K % LINES == 0 || line < O * K};
}

enum : long long { BLOCKS = O * K == 0 ? 1 : (O * K + LINES - 1) / LINES < 0x7fffffff ? (O * K + LINES - 1) / LINES : 0x7fffffff };

// run(line) for every line, the same number of times by all threads of a block.
template <class Run> static inline void for_lines(Run run) {
  for (int64_t first = blockIdx.x * LINES; first < O * K; first += gridDim.x * LINES) {
    run(line_of(first));
    if (BLOCKS * LINES >= O * K) break;  // so the compiler knows, and keeps nothing for a second turn
  }
}

// run(i, r, j) for the elements of a line that are this thread's, LANES apart; i numbers them.
template <class Run> static inline void for_elements(const Line& line, Run run) {
#pragma unroll(UNROLL)
  for (int64_t i = 0; i < STEPS; ++i) {
    const int64_t at = i * LANES + line.lane;
    if (line.there && at < ELEMENTS) run(i, R == 1 ? 0 : at / J, R == 1 ? at : at % J);
  }
}

template <class T> static inline T of_lane(T value, int distance) { return __shfl_xor_sync(0xffffffffu, value, distance); }

// merge(a, b) of the values of a line's threads that are in one warp, all of them where it has at most 32. Each gets it.
template <class T, class Merge> static inline T over_warp(T value, Merge merge) {
#pragma unroll
  for (int distance = (LANES < 32 ? LANES : 32) / 2; distance > 0; distance /= 2) value = merge(value, of_lane(value, distance));
  return value;
}

// The values of a row's warps, of which each thread of a warp has the same. All threads of the block must call it, and come to a barrier before the next call.
enum : int { WARPS = LANES > 32 ? LANES / 32 : 1 };
template <class T> static inline const T* of_warps(T value) {
  __shared__ T values[LINES][WARPS];
  const int thread = threadIdx.x, line = thread / LANES;
  if (thread % 32 == 0) values[line][thread % LANES / 32] = value;
  __syncthreads();
  return values[line];
}

// merge(a, b) of the values of all LANES threads of a line, which each of them gets. All threads of the block must call it.
template <class T, class Merge> static inline T over_line(T value, Merge merge) {
  if constexpr (LANES == 1) {
    return value;
  } else if constexpr (COLUMNS) {
    __shared__ T values[LANES][LINES];
    const int thread = threadIdx.x, line = thread % LINES;
    values[thread / LINES][line] = value;
    __syncthreads();
    T all = values[0][line];
    for (int lane = 1; lane < LANES; ++lane) all = merge(all, values[lane][line]);
    __syncthreads();  // before they are written again
    return all;
  } else {
    value = over_warp(value, merge);
    if constexpr (LANES > 32) {
      const T* values = of_warps(value);
      value = values[0];
      for (int warp = 1; warp < WARPS; ++warp) value = merge(value, values[warp]);
      __syncthreads();  // before they are written again
    }
    return value;
  }
}

// Movement: the same elements elsewhere. Elements are moved as unsigned integers of their size.
//
// The work is a list of strided copies, generated below (copy0, copy1, …); run_task finds the copy that a task belongs to.
// A copy whose innermost dimension runs along memory on both sides moves rows; one that runs along memory on one side in
// one dimension and on the other side in another is a transpose and is done in square blocks, so that a cache line that
// was fetched for one element serves its neighbours before it is evicted.

static void run_task(const void* const* in, void* const* out, int64_t task);

extern "C" void amdahl_run(const void* const* in, void* const* out, void*) {
#pragma omp parallel for schedule(static) num_threads(THREADS) if (PARALLEL)
  for (int64_t task = 0; task < TASKS; ++task) {
    run_task(in, out, task);
    stream_fence();
  }
}

// Elements [task * SIZE, (task + 1) * SIZE) of TOTAL in rows of COLS: piece(row, begin, end) for each row they touch.
template <int64_t COLS, int64_t TOTAL, int64_t SIZE, class Piece>
static inline void for_rows(int64_t task, Piece piece) {
  const int64_t last = (task + 1) * SIZE < TOTAL ? (task + 1) * SIZE : TOTAL;
  for (int64_t at = task * SIZE; at < last;) {
    const int64_t row = at / COLS, begin = at % COLS;
    const int64_t end = last - at < COLS - begin ? begin + (last - at) : COLS;
    piece(row, begin, end);
    at += end - begin;
  }
}

// to[r * to_stride + c] = from[c * from_stride + r] for r < rows, c < cols.
template <class T>
static inline void transpose_any(const T* __restrict from, int64_t from_stride, T* __restrict to, int64_t to_stride, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < cols; ++c) to[r * to_stride + c] = from[c * from_stride + r];
}

// 8 x 8 elements of four bytes in registers: interleave neighbours, then pairs, then halves.
typedef uint32_t u32x8 __attribute__((vector_size(32)));
static inline void transpose_8x8(const uint32_t* __restrict from, int64_t from_stride, uint32_t* __restrict to, int64_t to_stride) {
  u32x8 a[8], b[8];
  for (int i = 0; i < 8; ++i) memcpy(&a[i], from + i * from_stride, 32);
  for (int i = 0; i < 4; ++i) {
    b[2 * i] = __builtin_shufflevector(a[2 * i], a[2 * i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    b[2 * i + 1] = __builtin_shufflevector(a[2 * i], a[2 * i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
  }
  for (int i = 0; i < 2; ++i)
    for (int h = 0; h < 2; ++h) {
      a[4 * i + 2 * h] = __builtin_shufflevector(b[4 * i + h], b[4 * i + 2 + h], 0, 1, 8, 9, 4, 5, 12, 13);
      a[4 * i + 2 * h + 1] = __builtin_shufflevector(b[4 * i + h], b[4 * i + 2 + h], 2, 3, 10, 11, 6, 7, 14, 15);
    }
  for (int i = 0; i < 4; ++i) {
    b[i] = __builtin_shufflevector(a[i], a[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    b[i + 4] = __builtin_shufflevector(a[i], a[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
  for (int i = 0; i < 8; ++i) memcpy(to + i * to_stride, &b[i], 32);
}

template <class T>
static inline void transpose_block(const T* __restrict from, int64_t from_stride, T* __restrict to, int64_t to_stride, int64_t rows, int64_t cols) {
  if constexpr (sizeof(T) == 4) {
    const int64_t whole_rows = rows & ~int64_t(7), whole_cols = cols & ~int64_t(7);
    for (int64_t r = 0; r < whole_rows; r += 8)
      for (int64_t c = 0; c < whole_cols; c += 8)
        transpose_8x8((const uint32_t*)from + c * from_stride + r, from_stride, (uint32_t*)to + r * to_stride + c, to_stride);
    transpose_any(from + whole_cols * from_stride, from_stride, to + whole_cols, to_stride, whole_rows, cols - whole_cols);
    transpose_any(from + whole_rows, from_stride, to + whole_rows * to_stride, to_stride, rows - whole_rows, cols);
  } else {
    transpose_any(from, from_stride, to, to_stride, rows, cols);
  }
}

// Rows [begin, end) of a transpose with COLS columns; BLOCK 0 is the plain loop.
template <int64_t BLOCK, int64_t COLS, class T>
static inline void transpose_rows(const T* from, int64_t from_stride, T* to, int64_t to_stride, int64_t begin, int64_t end) {
  if constexpr (BLOCK == 0) {
    transpose_any(from + begin, from_stride, to + begin * to_stride, to_stride, end - begin, COLS);
  } else {
    for (int64_t r = begin; r < end; r += BLOCK)
      for (int64_t c = 0; c < COLS; c += BLOCK)
        transpose_block(from + c * from_stride + r, from_stride, to + r * to_stride + c, to_stride,
                        end - r < BLOCK ? end - r : BLOCK, COLS - c < BLOCK ? COLS - c : BLOCK);
  }
}

// Negative indices count from the end; what is still outside is kept inside: nothing beyond the data is ever read.
template <class I>
static inline int64_t index_within(I index, int64_t size) {
  const int64_t i = int64_t(index) < 0 ? int64_t(index) + size : int64_t(index);
  return i < 0 ? 0 : i >= size ? size - 1 : i;
}

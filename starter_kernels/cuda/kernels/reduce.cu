// Reduce: one value out of each line of R x J elements.
//
// Few long lines are cut into PIECES, a block each (multiprocessors would idle otherwise), whose partial results another launch merges in an order that
// does not depend on timing.

enum : long long { PIECE = (ELEMENTS + PIECES - 1) / PIECES };

// The maximum of a line: 0 when it is -inf, so that exp(x - shift) is 0 and not NaN; an infinite one is kept out too.
static inline acc_t shift_of(const void* const* in, const Line& line) {
  acc_t largest = LOWEST;
  for_elements(line, [&](int64_t, int64_t r, int64_t j) {
    const acc_t x = input(in, line.o, r, j, line.k);
    largest = x > largest ? x : largest;
  });
  largest = over_line(largest, [](acc_t a, acc_t b) { return b > a ? b : a; });
  return largest == LOWEST || largest == HIGHEST ? 0 : largest;
}

// This thread's share of a piece of a line.
static inline acc_t fold(const void* const* in, const Line& line, int64_t piece, acc_t offset) {
  const int64_t end = (piece + 1) * PIECE < ELEMENTS ? (piece + 1) * PIECE : ELEMENTS, last = line.there ? end : 0;
  acc_t a = START;
#pragma unroll(UNROLL)
  for (int64_t at = piece * PIECE + line.lane; at < last; at += LANES)
    a = step(a, input(in, line.o, R == 1 ? 0 : at / J, R == 1 ? at : at % J, line.k), offset);
  return a;
}

extern "C" __global__ void __launch_bounds__(THREADS) amdahl_kernel_0(const __grid_constant__ Operands operands) {
  wait_for_producers();
  const void* const* in = operands.in;
  for_lines([&](const Line& line) {
    acc_t offset = START;
    if constexpr (SHIFTED) offset = shift_of(in, line);
    const acc_t a = over_line(fold(in, line, blockIdx.y, offset), [](acc_t a, acc_t b) { return merge(a, b); });
    if (!line.there || line.lane != 0) return;
    if (PIECES > 1) ((acc_t*)operands.workspace)[(line.o * K + line.k) * PIECES + blockIdx.y] = a;
    else ((out_t*)operands.out[0])[place(line.o, 0, 0, line.k)] = finish(result(a, offset), in, line.o, 0, 0, line.k);
  });
}

#if CUT
// A warp merges the pieces of a line.
enum : long long { MERGERS = 128 };  // threads of a block
extern "C" __global__ void __launch_bounds__(MERGERS) amdahl_kernel_1(const __grid_constant__ Operands operands) {
  wait_for_producers();
  const acc_t* partial = (const acc_t*)operands.workspace;
  const int lane = threadIdx.x % 32;
  for (int64_t line = (blockIdx.x * MERGERS + threadIdx.x) / 32; line < O * K; line += gridDim.x * MERGERS / 32) {
    acc_t a = START;
    for (int64_t piece = lane; piece < PIECES; piece += 32) a = merge(a, partial[line * PIECES + piece]);
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) a = merge(a, of_lane(a, distance));
    const int64_t o = line / K, k = line % K;
    if (lane == 0) ((out_t*)operands.out[0])[place(o, 0, 0, k)] = finish(result(a, START), operands.in, o, 0, 0, k);
  }
}

TABLE Launch amdahl_launches[] = {{0, BLOCKS, PIECES, 1, THREADS, 1, 1, 0}, {1, BLOCKS, 1, 1, MERGERS, 1, 1, 0}};
TABLE uint64_t amdahl_workspace_bytes = O * K * PIECES * sizeof(acc_t);
#else
TABLE Launch amdahl_launches[] = {{0, BLOCKS, 1, 1, THREADS, 1, 1, 0}};
TABLE uint64_t amdahl_workspace_bytes = 0;
#endif

// A walk along an axis as lines of rows.h: OUTER times INNER of LENGTH elements. Long lines that lie along memory are shared by more threads.
enum : long long {
  O = INNER > 0 ? OUTER : 0,
  R = 1,
  J = LENGTH,
  K = INNER > 0 ? INNER : 1,
  LANES = INNER > 1 ? (LENGTH <= 64 ? 1 : 8) : LENGTH <= 64 ? 8 : LENGTH <= 2048 ? 32 : THREADS,
  LINES = THREADS / LANES,
  UNROLL = 4
};

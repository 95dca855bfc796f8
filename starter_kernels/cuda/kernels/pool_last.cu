// Pooling over windows of channels last. A thread has VECTOR adjacent channels of EACH output pixels, THREADS apart: a warp's channels are neighbours, and what
// its windows share comes from L1. The loads of a window have no test between them, so that many are on their way together.

enum : int64_t { VECTORS = C / VECTOR, POINTS = N * OD * OH * OW * VECTORS };
enum : int { TOGETHER = KW < 8 ? KW : 8, ROWS_TOGETHER = KH * KW <= 32 ? KH : 1 };

// A row of the window's taps, of which there are none beside the input.
static inline void join_taps(const x_t* row, bool there, int w0, sum_t (&sum)[VECTOR]) {
#pragma unroll 1
  for (int first = 0; first < KW; first += TOGETHER) {
    Vector<x_t, VECTOR> taps[TOGETHER];
    bool inside[TOGETHER];
#pragma unroll
    for (int t = 0; t < TOGETHER; ++t) {
      const int w = w0 + (first + t) * int(DW);
      inside[t] = there && first + t < KW && unsigned(w) < unsigned(IW);
      if (inside[t]) taps[t] = load_vector<VECTOR>(row + index_t(w) * index_t(C));
    }
#pragma unroll
    for (int t = 0; t < TOGETHER; ++t)
#pragma unroll
      for (int v = 0; v < VECTOR; ++v)
        if (inside[t]) sum[v] = join(sum[v], load_x(taps[t].at[v]));
  }
}

static inline Vector<out_t, VECTOR> pool(const x_t* x, index_t point) {
  const index_t pixel = point / index_t(VECTORS), image = pixel / index_t(OD * OH * OW);
  const int channel = int(point % index_t(VECTORS)) * int(VECTOR), p = int(pixel % index_t(OD * OH * OW));
  const int d0 = p / int(OH * OW) * int(SD) - int(PAD_D), h0 = p / int(OW) % int(OH) * int(SH) - int(PAD_H), w0 = p % int(OW) * int(SW) - int(PAD_W);
  sum_t sum[VECTOR];
#pragma unroll
  for (int v = 0; v < VECTOR; ++v) sum[v] = EMPTY;
#pragma unroll 1
  for (int kd = 0; kd < KD; ++kd)
#pragma unroll ROWS_TOGETHER
    for (int kh = 0; kh < KH; ++kh) {
      const int d = d0 + kd * int(DD), h = h0 + kh * int(DH);
      const bool there = unsigned(d) < unsigned(ID) && unsigned(h) < unsigned(IH);
      join_taps(x + ((image * index_t(ID) + d) * index_t(IH) + h) * index_t(IW * C) + channel, there, w0, sum);
    }
  const int64_t count = counted(d0, KD, DD, ID, PAD_END_D) * counted(h0, KH, DH, IH, PAD_END_H) * counted(w0, KW, DW, IW, PAD_END_W);
  Vector<out_t, VECTOR> results;
#pragma unroll
  for (int v = 0; v < VECTOR; ++v) results.at[v] = finish_window(sum[v], count);
  return results;
}

extern "C" __global__ void __launch_bounds__(THREADS) amdahl_kernel_0(const __grid_constant__ Operands o) {
  wait_for_producers();
  const index_t first = index_t(blockIdx.x) * index_t(THREADS * EACH) + threadIdx.x;
#pragma unroll
  for (int e = 0; e < EACH; ++e) {
    const index_t point = first + e * int(THREADS);
    if (point < POINTS) ((Vector<out_t, VECTOR>*)o.out[0])[point] = pool((const x_t*)o.in[0], point);
  }
}

TABLE Launch amdahl_launches[] = {{0, POINTS > 0 ? (POINTS + THREADS * EACH - 1) / (THREADS * EACH) : 1, 1, 1, THREADS, 1, 1, 0}};
TABLE uint64_t amdahl_workspace_bytes = 0;

// Pooling over windows of channels last. A thread has VECTOR adjacent channels of EACH output pixels, THREADS apart: a warp's channels are neighbours, and what
// its windows share comes from L1. Taps beside the input are what joins without a trace, so that no branch stands between the loads of a window.

enum : int64_t { VECTORS = C / VECTOR, POINTS = N * OD * OH * OW * VECTORS };
enum : int { COLUMNS = KW < 8 ? KW : 8, MOST_ROWS = 16 / COLUMNS, ROWS = KH < MOST_ROWS ? KH : MOST_ROWS };  // of taps that are loaded together

// ROWS x COLUMNS of a window's taps, the first of which lies at row h0 + first_h * DH. `plane`: of the input; `there`: so it is.
static inline void join_taps(const x_t* plane, bool there, int h0, int w0, int first_h, int first_w, sum_t (&sum)[VECTOR]) {
  const x_t nothing = store_out(EMPTY);
  Vector<x_t, VECTOR> taps[ROWS][COLUMNS];
#pragma unroll
  for (int r = 0; r < ROWS; ++r)
#pragma unroll
    for (int c = 0; c < COLUMNS; ++c) {
      const int h = h0 + (first_h + r) * int(DH), w = w0 + (first_w + c) * int(DW);
      const bool of_window = there && first_h + r < KH && first_w + c < KW;
#pragma unroll
      for (int v = 0; v < VECTOR; ++v) taps[r][c].at[v] = nothing;
      if (of_window && unsigned(h) < unsigned(IH) && unsigned(w) < unsigned(IW)) taps[r][c] = load_vector<VECTOR>(plane + (h * index_t(IW) + w) * index_t(C));
    }
#pragma unroll
  for (int r = 0; r < ROWS; ++r)
#pragma unroll
    for (int c = 0; c < COLUMNS; ++c)
#pragma unroll
      for (int v = 0; v < VECTOR; ++v) sum[v] = join(sum[v], load_x(taps[r][c].at[v]));
}

static inline Vector<out_t, VECTOR> pool(const x_t* x, index_t point) {
  const index_t pixel = point / index_t(VECTORS), image = pixel / index_t(OD * OH * OW);
  const int channel = int(point % index_t(VECTORS)) * int(VECTOR), p = int(pixel % index_t(OD * OH * OW));
  const int d0 = p / int(OH * OW) * int(SD) - int(PAD_D), h0 = p / int(OW) % int(OH) * int(SH) - int(PAD_H), w0 = p % int(OW) * int(SW) - int(PAD_W);
  sum_t sum[VECTOR];
#pragma unroll
  for (int v = 0; v < VECTOR; ++v) sum[v] = EMPTY;
#pragma unroll 1
  for (int kd = 0; kd < KD; ++kd) {
    const int d = d0 + kd * int(DD);
    const x_t* plane = x + (image * index_t(ID) + d) * index_t(IH * IW * C) + channel;
#pragma unroll 1
    for (int kh = 0; kh < KH; kh += ROWS)
#pragma unroll 1
      for (int kw = 0; kw < KW; kw += COLUMNS) join_taps(plane, unsigned(d) < unsigned(ID), h0, w0, kh, kw, sum);
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
